#include "diff/levels.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace wago::diff {

namespace {

double weight_of(const MeasuredRatio& ratio) {
  return 1 / (ratio.error * ratio.error);
}

}  // namespace

Levels::Levels(size_t count, std::span<const MeasuredRatio> ratios, size_t anchor)
    : ratios_(ratios.begin(), ratios.end()), anchor_(anchor) {
  WAGO_CHECK(anchor < count);
  for (const MeasuredRatio& ratio : ratios) {
    WAGO_CHECK(ratio.from < count && ratio.to < count && ratio.from != ratio.to);
    WAGO_CHECK(ratio.error > 0 && ratio.degrees >= 1);
  }
  number_reachable(count);
  factor();
  solve();
}

void Levels::number_reachable(size_t count) {
  std::vector<std::vector<size_t>> neighbours(count);
  for (const MeasuredRatio& ratio : ratios_) {
    neighbours[ratio.from].push_back(ratio.to);
    neighbours[ratio.to].push_back(ratio.from);
  }
  std::vector<bool> reached(count);
  std::vector<size_t> open = {anchor_};
  reached[anchor_] = true;
  while (!open.empty()) {
    const size_t version = open.back();
    open.pop_back();
    for (size_t neighbour : neighbours[version]) {
      if (reached[neighbour]) continue;
      reached[neighbour] = true;
      open.push_back(neighbour);
    }
  }
  row_.assign(count, kNone);
  size_t rows = 0;
  for (size_t version = 0; version < count; ++version) {
    if (reached[version] && version != anchor_) row_[version] = rows++;
  }
  levels_.assign(rows, 0);
}

void Levels::factor() {
  const size_t n = levels_.size();
  first_.resize(n);
  for (size_t i = 0; i < n; ++i) first_[i] = i;
  for (const MeasuredRatio& ratio : ratios_) {
    const size_t from = row_[ratio.from], to = row_[ratio.to];
    if (from == kNone || to == kNone) continue;
    first_[std::max(from, to)] = std::min(first_[std::max(from, to)], std::min(from, to));
  }
  rows_.resize(n);
  for (size_t i = 0; i < n; ++i) rows_[i].assign(i - first_[i] + 1, 0);
  for (const MeasuredRatio& ratio : ratios_) {
    const size_t from = row_[ratio.from], to = row_[ratio.to];
    if (from != kNone) at(from, from) += weight_of(ratio);
    if (to != kNone) at(to, to) += weight_of(ratio);
    if (from != kNone && to != kNone) at(std::max(from, to), std::min(from, to)) -= weight_of(ratio);
  }
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = first_[i]; j <= i; ++j) {
      double sum = at(i, j);
      for (size_t k = std::max(first_[i], first_[j]); k < j; ++k) sum -= at(i, k) * at(j, k);
      at(i, j) = i == j ? std::sqrt(sum) : sum / at(j, j);
    }
  }
}

void Levels::substitute(std::vector<double>& b) const {
  for (size_t i = 0; i < b.size(); ++i) {
    for (size_t k = first_[i]; k < i; ++k) b[i] -= at(i, k) * b[k];
    b[i] /= at(i, i);
  }
  for (size_t i = b.size(); i-- > 0;) {
    b[i] /= at(i, i);
    for (size_t k = first_[i]; k < i; ++k) b[k] -= at(i, k) * b[i];
  }
}

double Levels::of_version(const std::vector<double>& rows, size_t version) const {
  return version == anchor_ ? 0 : rows[row_[version]];
}

void Levels::solve() {
  for (const MeasuredRatio& ratio : ratios_) {
    const size_t from = row_[ratio.from], to = row_[ratio.to];
    if (from != kNone) levels_[from] -= weight_of(ratio) * ratio.log_ratio;
    if (to != kNone) levels_[to] += weight_of(ratio) * ratio.log_ratio;
  }
  substitute(levels_);
  size_t used = 0;
  double squares = 0;
  for (const MeasuredRatio& ratio : ratios_) {
    if (!is_known(ratio.from)) continue;
    const double residual = ratio.log_ratio - (level(ratio.to) - level(ratio.from));
    squares += weight_of(ratio) * residual * residual;
    ++used;
  }
  if (used > levels_.size()) {
    scale_ = std::max(1.0, std::sqrt(squares / static_cast<double>(used - levels_.size())));
  }
}

double Levels::level(size_t version) const {
  WAGO_CHECK(is_known(version));
  return of_version(levels_, version);
}

// The difference is a sum of all ratios, each times its weight and what the normal equations make of the
// difference; so is its variance, whose degrees of freedom are Welch's.
LevelError Levels::error_between(size_t a, size_t b) const {
  WAGO_CHECK(is_known(a) && is_known(b));
  if (a == b) return {};
  std::vector<double> difference(levels_.size());
  if (a != anchor_) difference[row_[a]] += 1;
  if (b != anchor_) difference[row_[b]] -= 1;
  substitute(difference);
  double variance = 0, of_variance = 0;
  for (const MeasuredRatio& ratio : ratios_) {
    if (!is_known(ratio.from)) continue;
    const double share = of_version(difference, ratio.to) - of_version(difference, ratio.from);
    const double part = weight_of(ratio) * share * share;
    variance += part;
    of_variance += part * part / ratio.degrees;
  }
  return {scale_ * std::sqrt(variance), std::clamp(variance * variance / of_variance, 1.0, kKnownError)};
}

}  // namespace wago::diff
