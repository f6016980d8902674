// Two things measured beside each other: the only honest way on a shared machine. Sides alternate, in random
// order within each pair; what is reported is the median of the pairs' ratios with its quartiles and their
// number.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace wago::harness::bench {

struct Spread {
  double median = 0;
  double low = 0;   // first quartile
  double high = 0;  // third quartile
  size_t n = 0;
};
Spread spread_of(std::vector<double> values);

struct Paired {
  Spread a, b;
  Spread ratio;  // a over b, by pair
};

// Each side answers what one turn of it cost. The first `warm_up` pairs are not counted.
Paired measure_pairs(size_t pairs, size_t warm_up, const std::function<double()>& a,
                     const std::function<double()>& b);

// One figure of the project: what was measured, what was asked for, whether it was reached.
struct Figure {
  std::string name;
  std::string measured;  // with unit, spread and n
  std::string wanted;    // empty: for information
  bool reached = true;
};

// "1.08 [1.07, 1.10] n=40"
std::string to_string(const Spread& spread, const char* format = "%.3g");

}  // namespace wago::harness::bench
