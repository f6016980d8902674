// What each vector operation of WebAssembly 2.0 gives, written lane by lane after the specification (section
// 4.3) with ordinary arithmetic and nothing of the compiler's own, so that a test may compare the two.
//
// Covers the operations without immediates on vectors alone, and the shifts. Where the specification leaves a
// NaN's bits open, `nan` says in which lanes, and same() knows which NaNs are right.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "runtime/opcodes.h"

namespace wago::engine_test {

struct Vector {
  std::array<uint8_t, 16> bytes{};

  template <class T>
  T lane(size_t i) const {
    T value;
    std::memcpy(&value, &bytes[i * sizeof(T)], sizeof(T));
    return value;
  }
  template <class T>
  void set_lane(size_t i, T value) {
    std::memcpy(&bytes[i * sizeof(T)], &value, sizeof(T));
  }
  bool operator==(const Vector&) const = default;
};
std::string to_string(const Vector& vector);

enum class Lane : uint8_t { I8, I16, I32, I64, F32, F64 };
constexpr size_t lane_bytes(Lane lane) {
  constexpr size_t kBytes[] = {1, 2, 4, 8, 4, 8};
  return kBytes[static_cast<size_t>(lane)];
}

struct VectorReference {
  runtime::Opcode opcode;
  Lane operands;  // what the operands' lanes are, for the choice of operands
  // The second operand of a shift is its count, in the first four bytes; so is an i32 result.
  std::function<Vector(const Vector&, const Vector&)> compute;
  bool open_nan = false;   // float lanes of the result that are NaN have an open sign and payload
  Lane result = Lane::I8;  // open_nan: F32 or F64
};

// Every operation that is covered, in no order.
const std::vector<VectorReference>& vector_references();

// `got` is a right result where `expected` is what the reference computed of `a` and `b`.
bool same(const VectorReference& reference, const Vector& got, const Vector& expected, const Vector& a,
          const Vector& b);

// Values that an implementation might treat as special.
const std::vector<uint64_t>& interesting_lanes(Lane lane);
// Pairs of vectors: first those whose second has the same interesting value in every lane, one of each; then
// such as bring every interesting value together with every other, and vectors all but one of whose bytes are
// alike.
std::vector<std::pair<Vector, Vector>> interesting_pairs(Lane lane);

}  // namespace wago::engine_test
