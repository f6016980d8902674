// Many tests at once: p-values adjusted so that comparing each with a level holds the level for all.
#pragma once

#include <span>
#include <vector>

namespace wago::diff {

// By S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics
// 6, 1979: those at or below alpha may be called findings, and the chance that any of them is false is at
// most alpha. In the order given; none above 1.
std::vector<double> holm(std::span<const double> p_values);

// By Y. Benjamini and Y. Hochberg, "Controlling the false discovery rate", Journal of the Royal Statistical
// Society B 57, 1995: of those at or below alpha a share of at most alpha is expected to be false.
std::vector<double> benjamini_hochberg(std::span<const double> p_values);

}  // namespace wago::diff
