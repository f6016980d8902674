// Modules of any size whose size lies in one dimension: many locals, deep nesting, wide tables. What nobody
// writes by hand, generators print, and strangers send. Each has a function "run", (i32) -> (i32), whose
// result is known, so that a module that compiles can also be shown to be right.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace wago::scale {

struct Shape {
  const char* name;    // one word
  const char* what_n;  // what there are n of
  uint32_t bench_n;    // the smallest of the three sizes measured: n, 2n and 4n
  uint32_t test_n;     // where a test can afford every check of the compiler's own
  std::vector<uint8_t> (*build)(uint32_t n);
  uint32_t (*result)(uint32_t n, uint32_t argument);
};

std::span<const Shape> shapes();

// Of no use but to be large: `functions` functions with bodies of about `body_bytes` each.
std::vector<uint8_t> large_module(uint32_t functions, uint32_t body_bytes);

}  // namespace wago::scale
