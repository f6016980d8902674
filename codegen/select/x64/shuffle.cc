// i8x16.shuffle: one instruction where the indices follow a pattern that has one, else a lookup in each
// operand.

#include <array>

#include "codegen/select/x64/isel.h"

namespace wago::codegen::x64 {

namespace {

// Byte i of the result is byte index[i] of the two operands, one behind the other.
using Indices = std::array<uint8_t, 16>;

Indices indices_of(const Vector& vector) {
  Indices indices;
  for (uint32_t i = 0; i < 16; ++i) {
    indices[i] = static_cast<uint8_t>((i < 8 ? vector.low : vector.high) >> 8 * (i % 8));
  }
  return indices;
}

Vector vector_of(const Indices& indices) {
  Vector vector;
  for (uint32_t i = 0; i < 16; ++i) (i < 8 ? vector.low : vector.high) |= uint64_t{indices[i]} << 8 * (i % 8);
  return vector;
}

// The same in lanes of four bytes, if none is torn apart.
std::optional<std::array<uint8_t, 4>> dwords(const Indices& indices) {
  std::array<uint8_t, 4> lanes;
  for (uint32_t i = 0; i < 4; ++i) {
    if (indices[4 * i] % 4 != 0) return std::nullopt;
    for (uint32_t k = 1; k < 4; ++k) {
      if (indices[4 * i + k] != indices[4 * i] + k) return std::nullopt;
    }
    lanes[i] = indices[4 * i] / 4;
  }
  return lanes;
}

// Lanes of `bytes` taken in turn from the left and the right operand, from `first` on.
bool interleaves(const Indices& indices, uint32_t bytes, uint32_t first) {
  for (uint32_t i = 0; i < 16; ++i) {
    const uint32_t lane = i / bytes;
    if (indices[i] != first + lane / 2 * bytes + i % bytes + (lane % 2 != 0 ? 16 : 0)) return false;
  }
  return true;
}

// The bytes of both from one of them on.
std::optional<int32_t> shift_of(const Indices& indices) {
  for (uint32_t i = 1; i < 16; ++i) {
    if (indices[i] != indices[0] + i) return std::nullopt;
  }
  return indices[0];
}

int32_t pack(const std::array<uint8_t, 4>& lanes) {
  return lanes[0] % 4 | lanes[1] % 4 << 2 | lanes[2] % 4 << 4 | lanes[3] % 4 << 6;
}

}  // namespace

void Isel::select_shuffle(const Inst& inst) {
  Indices indices = indices_of(ir_->vectors[inst.imm]);
  Value a = arg(inst, 0), b = arg(inst, 1);
  bool uses_a = false, uses_b = false;
  for (uint8_t& index : indices) {
    if (a == b) index %= 16;
    (index < 16 ? uses_a : uses_b) = true;
  }
  // The operand named first comes first.
  if (indices[0] >= 16) {
    std::swap(a, b);
    std::swap(uses_a, uses_b);
    for (uint8_t& index : indices) index ^= 16;
  }
  if (!uses_b) return shuffle_one(inst, a, indices);
  shuffle_two(inst, a, b, indices);
}

void Isel::shuffle_one(const Inst& inst, Value a, const std::array<uint8_t, 16>& indices) {
  Reg from = use(a);
  if (std::optional<std::array<uint8_t, 4>> lanes = dwords(indices)) {
    b_.add(Op::VPSHUFDri, result(inst), from, pack(*lanes));
    return;
  }
  Vector lookup = vector_of(indices);
  b_.add(Op::VPSHUFBrm, result(inst), from, literal(lookup.low, lookup.high, 16));
}

void Isel::shuffle_two(const Inst& inst, Value a, Value b, const std::array<uint8_t, 16>& indices) {
  static constexpr Op kLow[] = {Op::VPUNPCKLBWrr, Op::VPUNPCKLWDrr, Op::VPUNPCKLDQrr, Op::VPUNPCKLQDQrr};
  static constexpr Op kHigh[] = {Op::VPUNPCKHBWrr, Op::VPUNPCKHWDrr, Op::VPUNPCKHDQrr, Op::VPUNPCKHQDQrr};
  Reg left = use(a), right = use(b);
  for (uint32_t width = 0; width < 4; ++width) {
    for (bool high : {false, true}) {
      if (!interleaves(indices, 1u << width, high ? 8 : 0)) continue;
      b_.add(high ? kHigh[width] : kLow[width], result(inst), left, right);
      return;
    }
  }
  if (std::optional<int32_t> shift = shift_of(indices)) {
    b_.add(Op::VPALIGNRrri, result(inst), right, left, *shift);
    return;
  }
  if (std::optional<std::array<uint8_t, 4>> lanes = dwords(indices)) {
    const std::array<uint8_t, 4>& l = *lanes;
    if (l[0] < 4 && l[1] < 4 && l[2] >= 4 && l[3] >= 4) {
      b_.add(Op::VSHUFPSrri, result(inst), left, right, pack(l));
      return;
    }
    int32_t from_right = 0;
    bool in_place = true;
    for (int i = 0; i < 4; ++i) {
      in_place = in_place && l[static_cast<size_t>(i)] % 4 == i;
      if (l[static_cast<size_t>(i)] >= 4) from_right |= 1 << i;
    }
    if (in_place) {
      b_.add(Op::VPBLENDDrri, result(inst), left, right, from_right);
      return;
    }
  }
  // A set top bit looks nothing up.
  Indices of_left, of_right;
  for (uint32_t i = 0; i < 16; ++i) {
    of_left[i] = indices[i] < 16 ? indices[i] : 0x80;
    of_right[i] = indices[i] < 16 ? 0x80 : indices[i] - 16;
  }
  const Vector left_lookup = vector_of(of_left), right_lookup = vector_of(of_right);
  Reg from_left = vector_reg(), from_right = vector_reg();
  b_.add(Op::VPSHUFBrm, from_left, left, literal(left_lookup.low, left_lookup.high, 16));
  b_.add(Op::VPSHUFBrm, from_right, right, literal(right_lookup.low, right_lookup.high, 16));
  b_.add(Op::VPORrr, result(inst), from_left, from_right);
}

}  // namespace wago::codegen::x64
