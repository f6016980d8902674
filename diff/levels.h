// Where versions lie, from ratios that were measured between some of them: least squares over all ratios at
// once, each weighted by how sure it is, with one version, the anchor, held at zero. A ratio that was
// measured directly counts as much as its error allows, and so does every way around it: errors of a chain
// add up, and a skip link cuts them.
//
// Where ratios contradict one another by more than their errors, all errors are enlarged by the same factor
// (R. T. Birge, "The calculation of errors by the method of least squares", Physical Review 40, 1932).
//
// Errors that were themselves estimated from few values make a level's error one of few degrees of freedom
// (B. L. Welch, "The generalization of Student's problem when several different population variances are
// involved", Biometrika 34, 1947).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace wago::diff {

// Degrees of freedom of an error that is known and not estimated: as good as infinitely many.
inline constexpr double kKnownError = 1e6;

// How much higher `to` lies than `from`, as a logarithm.
struct MeasuredRatio {
  size_t from = 0;
  size_t to = 0;
  double log_ratio = 0;
  double error = 0;              // standard error, above zero
  double degrees = kKnownError;  // of freedom of the error, at least 1
};

struct LevelError {
  double standard = 0;
  double degrees = kKnownError;  // for Student's t
};

class Levels {
 public:
  // Of `count` versions. The cost is linear where ratios reach back a bounded number of versions, or to the
  // anchor; at worst cubic.
  Levels(size_t count, std::span<const MeasuredRatio> ratios, size_t anchor);

  // Whether ratios lead from the anchor to it. The rest is of these only.
  bool is_known(size_t version) const { return row_[version] != kNone || version == anchor_; }
  // Logarithm of the ratio to the anchor.
  double level(size_t version) const;
  // Of level(a) - level(b); with the anchor for b, that of level(a).
  LevelError error_between(size_t a, size_t b) const;

 private:
  static constexpr size_t kNone = static_cast<size_t>(-1);
  void number_reachable(size_t count);
  void factor();
  void solve();
  double& at(size_t row, size_t column) { return rows_[row][column - first_[row]]; }
  double at(size_t row, size_t column) const { return rows_[row][column - first_[row]]; }
  // In place: N x = b, of the normal equations' matrix N.
  void substitute(std::vector<double>& b) const;
  // Of a vector by row; the anchor's is zero.
  double of_version(const std::vector<double>& rows, size_t version) const;

  const std::vector<MeasuredRatio> ratios_;
  const size_t anchor_;
  std::vector<size_t> row_;  // by version, of the matrix; kNone: the anchor, or not known
  // The lower triangle L of the normal equations' Cholesky factors, from the first column of each row that
  // is not zero: what lies before stays zero.
  std::vector<size_t> first_;
  std::vector<std::vector<double>> rows_;
  std::vector<double> levels_;  // by row
  double scale_ = 1;            // of errors
};

}  // namespace wago::diff
