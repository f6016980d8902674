// Where a series of measurements changes its level: hierarchical division by energy distance (D. S. Matteson
// and N. A. James, "A nonparametric approach for multiple change point analysis of multivariate data",
// Journal of the American Statistical Association 109, 2014), with the significance of a division by Welch's
// t test instead of random permutations, so that the same series always gives the same answer.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace wago::diff {

struct ChangePoint {
  size_t index = 0;   // the first value of the new level
  double before = 0;  // mean of the values from the change point before to this one
  double after = 0;   // from this one to the next
  double p_value = 1;
};

struct ChangePointOptions {
  size_t min_side = 3;  // values on each side of a change
  double max_p = 0.001;
};

// Ascending by index. O(n^2) for each change point found.
std::vector<ChangePoint> change_points(std::span<const double> series,
                                       const ChangePointOptions& options = {});

// Two-sided p-value of equal means, variances not assumed equal (B. L. Welch, "The generalization of
// 'Student's' problem when several different population variances are involved", Biometrika 34, 1947).
// Precondition: two values a side.
double welch_p(std::span<const double> a, std::span<const double> b);

}  // namespace wago::diff
