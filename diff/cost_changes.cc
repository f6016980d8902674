#include "diff/cost_changes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "base/json.h"
#include "base/text.h"
#include "diff/elapsed.h"
#include "diff/quantity.h"

namespace wago::diff {

namespace {

using Captures = std::span<const Evidence* const>;
using Key = std::tuple<capture::Side, std::string, std::string>;

struct Weights {
  uint64_t self = 0;
  uint64_t total = 0;
  uint64_t samples = 0;
};

// A side's captures added up.
struct Sum {
  std::map<Key, Weights> functions;
  std::array<Weights, kSides> by_side{};
  uint64_t weight = 0;
  uint64_t samples = 0;
  uint64_t truncated_stacks = 0;
  std::optional<uint64_t> work = 0;  // nothing: one of them cannot say
};

Sum sum_of(Captures captures) {
  Sum sum;
  for (const Evidence* evidence : captures) {
    const HotSpots spots = hot_spots(*evidence, Grouping::Function);
    for (const HotSpot& spot : spots.rows) {
      Weights& weights = sum.functions[{spot.label.side, spot.label.name, spot.label.detail}];
      weights.self += spot.self;
      weights.total += spot.total;
      weights.samples += spot.samples;
    }
    for (size_t side = 0; side < kSides; ++side) {
      sum.by_side[side].self += spots.by_side[side];
      sum.by_side[side].samples += spots.samples_by_side[side];
    }
    sum.weight += spots.weight;
    sum.samples += spots.samples;
    sum.truncated_stacks += spots.truncated_stacks;
    const auto work = work_behind_samples(evidence->manifest);
    sum.work = sum.work && work ? std::optional(*sum.work + *work) : std::nullopt;
  }
  return sum;
}

// What one unit of weight becomes.
double factor_of(const Sum& sum, bool per_work) {
  const uint64_t whole = per_work ? *sum.work : sum.weight;
  return whole == 0 ? 0 : 1 / static_cast<double>(whole);
}

SideCost cost_of(const Weights& weights, double factor) {
  return {factor * static_cast<double>(weights.self), factor * static_cast<double>(weights.total),
          weights.samples, true};
}

// The standard error of a sum of n samples of about one weight; of none that of one.
double error_of(const SampledCost& cost) {
  if (cost.samples == 0) return cost.one_sample;
  return cost.cost / std::sqrt(static_cast<double>(cost.samples));
}

double mean_sample(const Sum& sum, double factor) {
  return sum.samples == 0 ? 0 : factor * static_cast<double>(sum.weight) / static_cast<double>(sum.samples);
}

bool comparable(Captures baseline, Captures candidate) {
  const auto& first = baseline.front()->samples;
  for (const Captures& side : {baseline, candidate}) {
    for (const Evidence* evidence : side) {
      if (!evidence->samples || !first || evidence->samples->unit != first->unit) return false;
    }
  }
  return true;
}

uint64_t weight_of(Captures captures) {
  uint64_t weight = 0;
  for (const Evidence* evidence : captures) weight += capture::total_weight(*evidence->samples);
  return weight;
}

}  // namespace

bool beyond_sampling(const SampledCost& before, const SampledCost& after) {
  return std::fabs(after.cost - before.cost) > 3 * std::hypot(error_of(before), error_of(after));
}

std::string why_no_costs(Captures baseline, Captures candidate) {
  if (!comparable(baseline, candidate)) return {};
  for (const Captures& side : {baseline, candidate}) {
    if (weight_of(side) == 0) return base::display(side.front()->path) + ": " + kNotOneSample;
  }
  return {};
}

std::optional<CostComparison> compare_costs(Captures baseline, Captures candidate) {
  if (!comparable(baseline, candidate) || weight_of(baseline) == 0 || weight_of(candidate) == 0) {
    return std::nullopt;
  }
  Sum before = sum_of(baseline);
  Sum after = sum_of(candidate);
  CostComparison result;
  result.unit = baseline.front()->samples->unit;
  result.work_unit = elapsed_of(*baseline.front()).unit;
  result.per_work = before.work && after.work;
  result.baseline_samples = before.samples;
  result.candidate_samples = after.samples;
  result.baseline_truncated_stacks = before.truncated_stacks;
  result.candidate_truncated_stacks = after.truncated_stacks;
  const double factor_before = factor_of(before, result.per_work);
  const double factor_after = factor_of(after, result.per_work);
  const double sample_before = mean_sample(before, factor_before),
               sample_after = mean_sample(after, factor_after);
  const auto beyond = [&](const SideCost& a, const SideCost& b) {
    return beyond_sampling({a.self, a.samples, sample_before}, {b.self, b.samples, sample_after});
  };
  for (size_t side = 0; side < kSides; ++side) {
    result.baseline_by_side[side] = cost_of(before.by_side[side], factor_before);
    result.candidate_by_side[side] = cost_of(after.by_side[side], factor_after);
    result.side_beyond_sampling[side] = beyond(result.baseline_by_side[side], result.candidate_by_side[side]);
  }
  for (const auto& [key, weights] : after.functions)
    before.functions[key];  // so that one walk sees every name
  for (const auto& [key, weights] : before.functions) {
    FunctionCost row;
    std::tie(row.side, row.name, row.detail) = key;
    if (weights.total > 0 || weights.samples > 0) row.baseline = cost_of(weights, factor_before);
    if (auto at = after.functions.find(key); at != after.functions.end()) {
      row.candidate = cost_of(at->second, factor_after);
    }
    row.beyond_sampling = beyond(row.baseline, row.candidate);
    result.functions.push_back(std::move(row));
  }
  std::stable_sort(result.functions.begin(), result.functions.end(), [](const auto& a, const auto& b) {
    const bool a_ran = a.baseline.samples + a.candidate.samples > 0;
    const bool b_ran = b.baseline.samples + b.candidate.samples > 0;
    return std::tuple(a_ran, std::fabs(a.change())) > std::tuple(b_ran, std::fabs(b.change()));
  });
  return result;
}

namespace {

constexpr size_t kListed = 20;

std::string amount(const CostComparison& costs, const SideCost& cost, double value) {
  if (!cost.present) return "-";
  return costs.per_work ? format_weight(value, costs.unit) : format_share(value);
}

std::string change_of(const SideCost& before, const SideCost& after) {
  // It may have run all the same, between samples.
  if (!before.present || !after.present) return "not sampled";
  if (before.self <= 0) return after.self <= 0 ? "" : "from none";
  return format_change(after.self / before.self - 1);
}

const char* mark(bool beyond_sampling) {
  return beyond_sampling ? "" : "~";
}

}  // namespace

std::string to_text(const CostComparison& costs, bool colour) {
  using enum base::Align;
  std::string text =
      "samples    " + format_count(costs.baseline_samples) + " and " + format_count(costs.candidate_samples) +
      "; self " +
      (costs.per_work ? "per " + costs.work_unit : "as a part of all, since the whole process was seen") +
      "\n";
  std::vector<std::vector<std::string>> rows = {
      {"baseline", "candidate", "change", "", "samples", "kind", "function"}};
  for (size_t side = 0; side < kSides; ++side) {
    const SideCost& before = costs.baseline_by_side[side];
    const SideCost& after = costs.candidate_by_side[side];
    rows.push_back({amount(costs, before, before.self), amount(costs, after, after.self),
                    change_of(before, after),
                    before.samples + after.samples > 0 ? mark(costs.side_beyond_sampling[side]) : "",
                    format_count(before.samples) + "/" + format_count(after.samples),
                    std::string(capture::spelling(static_cast<capture::Side>(side))), "all"});
  }
  // Those that no sample found running themselves are last.
  size_t listed = 0;
  while (listed < std::min(costs.functions.size(), kListed) &&
         costs.functions[listed].baseline.samples + costs.functions[listed].candidate.samples > 0) {
    ++listed;
  }
  for (size_t i = 0; i < listed; ++i) {
    const FunctionCost& row = costs.functions[i];
    std::string label = base::function_label(row.name);
    if (!row.detail.empty()) {
      label += row.side == capture::Side::Guest ? " " + base::printable(row.detail)
                                                : " [" + base::printable(row.detail) + "]";
    }
    rows.push_back({amount(costs, row.baseline, row.baseline.self),
                    amount(costs, row.candidate, row.candidate.self), change_of(row.baseline, row.candidate),
                    mark(row.beyond_sampling),
                    format_count(row.baseline.samples) + "/" + format_count(row.candidate.samples),
                    std::string(capture::spelling(row.side)), std::move(label)});
  }
  const std::string plain = base::columns(rows, {Right, Right, Right, Left, Right, Left, Left});
  size_t begin = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const size_t end = plain.find('\n', begin);
    const std::string_view line = std::string_view(plain).substr(begin, end - begin);
    const FunctionCost* row = i > kSides ? &costs.functions[i - kSides - 1] : nullptr;
    text += row && row->beyond_sampling
                ? base::painted(line, row->change() > 0 ? base::Paint::Bad : base::Paint::Good, colour)
                : std::string(line);
    text += "\n";
    begin = end + 1;
  }
  if (costs.functions.size() > listed) {
    text += "and " + format_count(costs.functions.size() - listed) + " more; --json lists all\n";
  }
  const auto add_truncated = [&text](const char* side, uint64_t samples) {
    if (samples > 0) text += std::string("of the ") + side + " " + truncated_stacks_sentence(samples) + "\n";
  };
  add_truncated("baseline", costs.baseline_truncated_stacks);
  add_truncated("candidate", costs.candidate_truncated_stacks);
  return text +
         "~ within three standard errors of the samples behind it; what is beyond may still be the "
         "machine's\n";
}

base::Json to_json(const CostComparison& costs) {
  using base::Json;
  auto side_json = [](const SideCost& cost) {
    if (!cost.present) return Json();
    return Json::object({{"self", cost.self}, {"total", cost.total}, {"samples", cost.samples}});
  };
  Json kinds = Json::object();
  for (size_t side = 0; side < kSides; ++side) {
    auto self = [](const SideCost& cost) {
      return Json::object({{"self", cost.self}, {"samples", cost.samples}});
    };
    kinds.set(std::string(capture::spelling(static_cast<capture::Side>(side))),
              Json::object({{"baseline", self(costs.baseline_by_side[side])},
                            {"candidate", self(costs.candidate_by_side[side])},
                            {"beyond_sampling", costs.side_beyond_sampling[side]}}));
  }
  Json functions = Json::array();
  for (const FunctionCost& row : costs.functions) {
    functions.push(Json::object({{"kind", capture::spelling(row.side)},
                                 {"name", row.name},
                                 {"detail", row.detail},
                                 {"baseline", side_json(row.baseline)},
                                 {"candidate", side_json(row.candidate)},
                                 {"change", row.change()},
                                 {"beyond_sampling", row.beyond_sampling}}));
  }
  return Json::object({{"unit", costs.unit},
                       {"per_work", costs.per_work},
                       {"work_unit", costs.work_unit},
                       {"baseline_samples", costs.baseline_samples},
                       {"candidate_samples", costs.candidate_samples},
                       {"baseline_truncated_stacks", costs.baseline_truncated_stacks},
                       {"candidate_truncated_stacks", costs.candidate_truncated_stacks},
                       {"kinds", std::move(kinds)},
                       {"functions", std::move(functions)}});
}

}  // namespace wago::diff
