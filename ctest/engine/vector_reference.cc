#include "vector_reference.h"

#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

namespace wago::engine_test {

using runtime::Opcode;

namespace {

template <class T>
constexpr Lane kLaneOf = std::is_same_v<T, float>    ? Lane::F32
                         : std::is_same_v<T, double> ? Lane::F64
                         : sizeof(T) == 1            ? Lane::I8
                         : sizeof(T) == 2            ? Lane::I16
                         : sizeof(T) == 4            ? Lane::I32
                                                     : Lane::I64;
template <class T>
constexpr size_t kLanes = 16 / sizeof(T);
template <size_t bytes>
using SignedOf = std::conditional_t<
    bytes == 1, int8_t,
    std::conditional_t<bytes == 2, int16_t, std::conditional_t<bytes == 4, int32_t, int64_t>>>;

// Two's complement, whatever the promotions of the language.
template <class T>
T wrapped(unsigned __int128 value) {
  return static_cast<T>(static_cast<std::make_unsigned_t<T>>(value));
}

template <class T>
T saturated(__int128 value) {
  if (value < std::numeric_limits<T>::min()) return std::numeric_limits<T>::min();
  if (value > std::numeric_limits<T>::max()) return std::numeric_limits<T>::max();
  return static_cast<T>(value);
}

template <class T>
T truncated(double value) {
  if (std::isnan(value)) return 0;
  double whole = std::trunc(value);
  if (whole <= static_cast<double>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
  if (whole >= static_cast<double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
  return static_cast<T>(whole);
}

template <class T>
T minimum(T a, T b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

template <class T>
T maximum(T a, T b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

Vector i32_result(uint32_t value) {
  Vector v;
  v.set_lane<uint32_t>(0, value);
  return v;
}

class References {
 public:
  References() {
    bits();
    integers<int8_t>("i8x16.");
    integers<int16_t>("i16x8.");
    integers<int32_t>("i32x4.");
    integers<int64_t>("i64x2.");
    widened<int16_t, int8_t>("i16x8.", "i8x16");
    widened<int32_t, int16_t>("i32x4.", "i16x8");
    widened<int64_t, int32_t>("i64x2.", "i32x4");
    narrowed<int8_t, int16_t>("i8x16.narrow_i16x8");
    narrowed<int16_t, int32_t>("i16x8.narrow_i32x4");
    special_integers();
    floats<float>("f32x4.");
    floats<double>("f64x2.");
    conversions();
  }
  std::vector<VectorReference> take() { return std::move(all_); }

 private:
  // Of the operations that the instruction set has under that name; not every shape has every one.
  VectorReference* add(const std::string& name, Lane operands,
                       std::function<Vector(const Vector&, const Vector&)> compute) {
    for (size_t i = 0; i < runtime::kOpcodeCount; ++i) {
      if (!runtime::kOpcodes[i].text || runtime::kOpcodes[i].text != name) continue;
      all_.push_back({static_cast<Opcode>(i), operands, std::move(compute)});
      return &all_.back();
    }
    return nullptr;
  }
  // From T lanes to as many R lanes.
  template <class R, class T, class F>
  VectorReference* lanes(const std::string& name, F f) {
    return add(name, kLaneOf<T>, [f](const Vector& a, const Vector& b) {
      Vector result;
      for (size_t i = 0; i < kLanes<T>; ++i)
        result.set_lane<R>(i, static_cast<R>(f(a.lane<T>(i), b.lane<T>(i))));
      return result;
    });
  }
  template <class R, class T, class F>
  void open_nan(const std::string& name, F f) {
    VectorReference* reference = lanes<R, T>(name, f);
    reference->open_nan = true;
    reference->result = kLaneOf<R>;
  }
  template <class T, class F>
  void comparison(const std::string& name, F f) {
    using Mask = SignedOf<sizeof(T)>;
    lanes<Mask, T>(name, [f](T a, T b) { return f(a, b) ? Mask{-1} : Mask{0}; });
  }
  template <class F>
  void shift(const std::string& name, Lane lane, F f) {
    add(name, lane, f);
  }

  void bits() {
    using U = uint64_t;
    lanes<U, U>("v128.not", [](U a, U) { return ~a; });
    lanes<U, U>("v128.and", [](U a, U b) { return a & b; });
    lanes<U, U>("v128.andnot", [](U a, U b) { return a & ~b; });
    lanes<U, U>("v128.or", [](U a, U b) { return a | b; });
    lanes<U, U>("v128.xor", [](U a, U b) { return a ^ b; });
    add("v128.any_true", Lane::I8, [](const Vector& a, const Vector&) { return i32_result(a != Vector{}); });
  }

  template <class T>
  void integers(const std::string& shape) {
    using U = std::make_unsigned_t<T>;
    using Wide = __int128;
    lanes<T, T>(shape + "add", [](T a, T b) { return wrapped<T>(Wide{a} + b); });
    lanes<T, T>(shape + "sub", [](T a, T b) { return wrapped<T>(Wide{a} - b); });
    lanes<T, T>(shape + "mul", [](T a, T b) { return wrapped<T>(Wide{a} * b); });
    lanes<T, T>(shape + "neg", [](T a, T) { return wrapped<T>(-Wide{a}); });
    lanes<T, T>(shape + "abs", [](T a, T) { return wrapped<T>(a < 0 ? -Wide{a} : Wide{a}); });
    lanes<T, T>(shape + "add_sat_s", [](T a, T b) { return saturated<T>(Wide{a} + b); });
    lanes<T, T>(shape + "sub_sat_s", [](T a, T b) { return saturated<T>(Wide{a} - b); });
    lanes<U, U>(shape + "add_sat_u", [](U a, U b) { return saturated<U>(Wide{a} + b); });
    lanes<U, U>(shape + "sub_sat_u", [](U a, U b) { return saturated<U>(Wide{a} - b); });
    lanes<T, T>(shape + "min_s", [](T a, T b) { return a < b ? a : b; });
    lanes<T, T>(shape + "max_s", [](T a, T b) { return a > b ? a : b; });
    lanes<U, U>(shape + "min_u", [](U a, U b) { return a < b ? a : b; });
    lanes<U, U>(shape + "max_u", [](U a, U b) { return a > b ? a : b; });
    lanes<U, U>(shape + "avgr_u", [](U a, U b) { return static_cast<U>((Wide{a} + b + 1) / 2); });
    lanes<U, U>(shape + "popcnt", [](U a, U) { return std::popcount(a); });
    comparison<T>(shape + "eq", [](T a, T b) { return a == b; });
    comparison<T>(shape + "ne", [](T a, T b) { return a != b; });
    comparison<T>(shape + "lt_s", [](T a, T b) { return a < b; });
    comparison<T>(shape + "gt_s", [](T a, T b) { return a > b; });
    comparison<T>(shape + "le_s", [](T a, T b) { return a <= b; });
    comparison<T>(shape + "ge_s", [](T a, T b) { return a >= b; });
    comparison<U>(shape + "lt_u", [](U a, U b) { return a < b; });
    comparison<U>(shape + "gt_u", [](U a, U b) { return a > b; });
    comparison<U>(shape + "le_u", [](U a, U b) { return a <= b; });
    comparison<U>(shape + "ge_u", [](U a, U b) { return a >= b; });
    shifts<T>(shape);
    add(shape + "all_true", kLaneOf<T>, [](const Vector& a, const Vector&) {
      bool all = true;
      for (size_t i = 0; i < kLanes<T>; ++i) all = all && a.lane<T>(i) != 0;
      return i32_result(all);
    });
    add(shape + "bitmask", kLaneOf<T>, [](const Vector& a, const Vector&) {
      uint32_t mask = 0;
      for (size_t i = 0; i < kLanes<T>; ++i) mask |= uint32_t{a.lane<T>(i) < 0} << i;
      return i32_result(mask);
    });
  }

  template <class T>
  void shifts(const std::string& shape) {
    using U = std::make_unsigned_t<T>;
    auto each = [](auto f) {
      return [f](const Vector& a, const Vector& b) {
        uint32_t count = b.lane<uint32_t>(0) % (8 * sizeof(T));
        Vector result;
        for (size_t i = 0; i < kLanes<T>; ++i) result.set_lane<T>(i, f(a.lane<T>(i), count));
        return result;
      };
    };
    add(shape + "shl", kLaneOf<T>, each([](T a, uint32_t n) {
          return wrapped<T>(static_cast<unsigned __int128>(static_cast<U>(a)) << n);
        }));
    add(shape + "shr_s", kLaneOf<T>, each([](T a, uint32_t n) { return static_cast<T>(a >> n); }));
    add(shape + "shr_u", kLaneOf<T>, each([](T a, uint32_t n) {
          return static_cast<T>(static_cast<U>(uint64_t{static_cast<U>(a)} >> n));
        }));
  }

  // The half of `v` that begins at lane `first`, or pairs of its lanes.
  template <class W, class T, class F>
  void from_half(const std::string& name, size_t first, F f) {
    add(name, kLaneOf<T>, [first, f](const Vector& a, const Vector& b) {
      Vector result;
      for (size_t i = 0; i < kLanes<W>; ++i)
        result.set_lane<W>(i, f(a.lane<T>(first + i), b.lane<T>(first + i)));
      return result;
    });
  }
  template <class W, class T>
  void widened(const std::string& shape, const std::string& from) {
    widened_one_way<W, T>(shape, from + "_s");
    widened_one_way<std::make_unsigned_t<W>, std::make_unsigned_t<T>>(shape, from + "_u");
  }
  template <class W, class T>
  void widened_one_way(const std::string& shape, const std::string& from) {
    for (size_t first : {size_t{0}, kLanes<W>}) {
      const std::string half = first == 0 ? "low_" : "high_";
      from_half<W, T>(shape + "extend_" + half + from, first, [](T a, T) { return static_cast<W>(a); });
      from_half<W, T>(shape + "extmul_" + half + from, first,
                      [](T a, T b) { return wrapped<W>(static_cast<__int128>(a) * b); });
    }
    add(shape + "extadd_pairwise_" + from, kLaneOf<T>, [](const Vector& a, const Vector&) {
      Vector result;
      for (size_t i = 0; i < kLanes<W>; ++i) {
        result.set_lane<W>(i, wrapped<W>(static_cast<__int128>(a.lane<T>(2 * i)) + a.lane<T>(2 * i + 1)));
      }
      return result;
    });
  }

  template <class N, class T>
  void narrowed(const std::string& name) {
    narrowed_to<N, T>(name + "_s");
    narrowed_to<std::make_unsigned_t<N>, T>(name + "_u");
  }
  template <class N, class T>
  void narrowed_to(const std::string& name) {
    add(name, kLaneOf<T>, [](const Vector& a, const Vector& b) {
      Vector result;
      for (size_t i = 0; i < kLanes<T>; ++i) {
        result.set_lane<N>(i, saturated<N>(a.lane<T>(i)));
        result.set_lane<N>(kLanes<T> + i, saturated<N>(b.lane<T>(i)));
      }
      return result;
    });
  }

  void special_integers() {
    lanes<int16_t, int16_t>("i16x8.q15mulr_sat_s",
                            [](int16_t a, int16_t b) { return saturated<int16_t>((a * b + 0x4000) >> 15); });
    add("i32x4.dot_i16x8_s", Lane::I16, [](const Vector& a, const Vector& b) {
      Vector result;
      for (size_t i = 0; i < 4; ++i) {
        int64_t sum = 0;
        for (size_t k : {2 * i, 2 * i + 1}) sum += int64_t{a.lane<int16_t>(k)} * b.lane<int16_t>(k);
        result.set_lane<int32_t>(i, wrapped<int32_t>(static_cast<unsigned __int128>(sum)));
      }
      return result;
    });
    add("i8x16.swizzle", Lane::I8, [](const Vector& a, const Vector& b) {
      Vector result;
      for (size_t i = 0; i < 16; ++i) result.bytes[i] = b.bytes[i] < 16 ? a.bytes[b.bytes[i]] : 0;
      return result;
    });
  }

  template <class T>
  void floats(const std::string& shape) {
    using Bits = std::make_unsigned_t<SignedOf<sizeof(T)>>;
    constexpr Bits kSign = Bits{1} << (8 * sizeof(T) - 1);
    open_nan<T, T>(shape + "add", [](T a, T b) { return a + b; });
    open_nan<T, T>(shape + "sub", [](T a, T b) { return a - b; });
    open_nan<T, T>(shape + "mul", [](T a, T b) { return a * b; });
    open_nan<T, T>(shape + "div", [](T a, T b) { return a / b; });
    open_nan<T, T>(shape + "min", minimum<T>);
    open_nan<T, T>(shape + "max", maximum<T>);
    open_nan<T, T>(shape + "sqrt", [](T a, T) { return std::sqrt(a); });
    open_nan<T, T>(shape + "ceil", [](T a, T) { return std::ceil(a); });
    open_nan<T, T>(shape + "floor", [](T a, T) { return std::floor(a); });
    open_nan<T, T>(shape + "trunc", [](T a, T) { return std::trunc(a); });
    open_nan<T, T>(shape + "nearest", [](T a, T) { return std::nearbyint(a); });
    // On bit patterns, so that no NaN is quieted on the way.
    auto of = [](Bits bits) { return std::bit_cast<T>(bits); };
    chosen<T, Bits>(shape + "pmin", [of](Bits a, Bits b) { return of(b) < of(a) ? b : a; });
    chosen<T, Bits>(shape + "pmax", [of](Bits a, Bits b) { return of(a) < of(b) ? b : a; });
    chosen<T, Bits>(shape + "abs", [](Bits a, Bits) { return static_cast<Bits>(a & ~kSign); });
    chosen<T, Bits>(shape + "neg", [](Bits a, Bits) { return static_cast<Bits>(a ^ kSign); });
    comparison<T>(shape + "eq", [](T a, T b) { return a == b; });
    comparison<T>(shape + "ne", [](T a, T b) { return a != b; });
    comparison<T>(shape + "lt", [](T a, T b) { return a < b; });
    comparison<T>(shape + "gt", [](T a, T b) { return a > b; });
    comparison<T>(shape + "le", [](T a, T b) { return a <= b; });
    comparison<T>(shape + "ge", [](T a, T b) { return a >= b; });
  }
  template <class T, class Bits, class F>
  void chosen(const std::string& name, F f) {
    lanes<Bits, Bits>(name, f)->operands = kLaneOf<T>;
  }

  void conversions() {
    lanes<float, int32_t>("f32x4.convert_i32x4_s", [](int32_t a, int32_t) { return static_cast<float>(a); });
    lanes<float, uint32_t>("f32x4.convert_i32x4_u",
                           [](uint32_t a, uint32_t) { return static_cast<float>(a); });
    lanes<int32_t, float>("i32x4.trunc_sat_f32x4_s", [](float a, float) { return truncated<int32_t>(a); });
    lanes<uint32_t, float>("i32x4.trunc_sat_f32x4_u", [](float a, float) { return truncated<uint32_t>(a); });
    lanes<int32_t, double>("i32x4.trunc_sat_f64x2_s_zero",
                           [](double a, double) { return truncated<int32_t>(a); });
    lanes<uint32_t, double>("i32x4.trunc_sat_f64x2_u_zero",
                            [](double a, double) { return truncated<uint32_t>(a); });
    open_nan<float, double>("f32x4.demote_f64x2_zero",
                            [](double a, double) { return static_cast<float>(a); });
    from_half<double, int32_t>("f64x2.convert_low_i32x4_s", 0, [](int32_t a, int32_t) { return double(a); });
    from_half<double, uint32_t>("f64x2.convert_low_i32x4_u", 0,
                                [](uint32_t a, uint32_t) { return double(a); });
    from_half<double, float>("f64x2.promote_low_f32x4", 0, [](float a, float) { return double{a}; });
    all_.back().open_nan = true;
    all_.back().result = Lane::F64;
  }

  std::vector<VectorReference> all_;
};

template <class T>
struct FloatBits {
  using Bits = std::make_unsigned_t<SignedOf<sizeof(T)>>;
  static constexpr int kMantissa = std::numeric_limits<T>::digits - 1;
  static constexpr Bits kQuiet = Bits{1} << (kMantissa - 1);
  static constexpr Bits kPayload = (Bits{1} << kMantissa) - 1;
};

template <class T>
bool has_other_nan_than_canonical(const Vector& v) {
  using F = FloatBits<T>;
  for (size_t i = 0; i < kLanes<T>; ++i) {
    if (std::isnan(v.lane<T>(i)) && (v.lane<typename F::Bits>(i) & F::kPayload) != F::kQuiet) return true;
  }
  return false;
}

// A NaN is to be quiet, and canonical if no operand has another NaN.
template <class T>
bool same_floats(const Vector& got, const Vector& expected, bool canonical) {
  using F = FloatBits<T>;
  using Bits = typename F::Bits;
  for (size_t i = 0; i < kLanes<T>; ++i) {
    Bits bits = got.lane<Bits>(i);
    if (!std::isnan(expected.lane<T>(i))) {
      if (bits != expected.lane<Bits>(i)) return false;
    } else if (!std::isnan(got.lane<T>(i)) || !(bits & F::kQuiet) ||
               (canonical && (bits & F::kPayload) != F::kQuiet)) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::string to_string(const Vector& vector) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "0x";
  for (size_t i = 16; i-- > 0;) {
    text += {kDigits[vector.bytes[i] >> 4], kDigits[vector.bytes[i] & 15]};
    if (i == 8) text += "'";
  }
  return text;
}

const std::vector<VectorReference>& vector_references() {
  static const std::vector<VectorReference> all = References().take();
  return all;
}

bool same(const VectorReference& reference, const Vector& got, const Vector& expected, const Vector& a,
          const Vector& b) {
  if (!reference.open_nan) return got == expected;
  bool other_nan = false;
  for (const Vector& v : {a, b}) {
    other_nan = other_nan || (reference.operands == Lane::F32 ? has_other_nan_than_canonical<float>(v)
                                                              : has_other_nan_than_canonical<double>(v));
  }
  return reference.result == Lane::F32 ? same_floats<float>(got, expected, !other_nan)
                                       : same_floats<double>(got, expected, !other_nan);
}

const std::vector<uint64_t>& interesting_lanes(Lane lane) {
  static const std::vector<uint64_t> kLaneValues[] = {
      {0, 1, 2, 7, 8, 15, 16, 0x3f, 0x40, 0x7e, 0x7f, 0x80, 0x81, 0xaa, 0xf0, 0xfe, 0xff},
      {0,      1,      2,      0x7f,   0x80,   0xff,   0x100,  0x00fe, 0x3fff, 0x4000,
       0x7f80, 0x7ffe, 0x7fff, 0x8000, 0x8001, 0xff7f, 0xff80, 0xff81, 0xfffe, 0xffff},
      {0,           1,           2,           0x7fff,      0x8000,      0xffff,      0x10000,
       0x00ff'ffff, 0x0100'0001, 0x7fff'ff7f, 0x7fff'fffe, 0x7fff'ffff, 0x8000'0000, 0x8000'0001,
       0x8000'0081, 0xffff'7fff, 0xffff'8000, 0xffff'ff7f, 0xffff'fffe, 0xffff'ffff},
      {0, 1, 2, 0x7fff'ffff, 0x8000'0000, 0xffff'ffff, 0x1'0000'0000, 0x1'0000'0001, 0x7fff'ffff'0000'0000,
       0x7fff'ffff'ffff'ffff, 0x8000'0000'0000'0000, 0x8000'0000'0000'0001, 0x8000'0000'8000'0000,
       0x1234'5678'9abc'def0, 0xffff'ffff'0000'0000, 0xffff'ffff'7fff'ffff, 0xffff'ffff'8000'0000,
       0xffff'ffff'ffff'fffe, 0xffff'ffff'ffff'ffff}};
  // Of floats, with both signs.
  static constexpr uint32_t kF32[] = {0,          1,          0x007fffff, 0x00800000, 0x3effffff, 0x3f000000,
                                      0x3f800000, 0x3fc00000, 0x40200000, 0x4b000001, 0x4b7fffff, 0x4effffff,
                                      0x4f000000, 0x4f000001, 0x4f7fffff, 0x4f800000, 0x5f000000, 0x7f7fffff,
                                      0x7f800000, 0x7fc00000, 0x7f800001, 0x7fa00000, 0x7fc00123};
  static constexpr uint64_t kF64[] = {0,
                                      1,
                                      0x000fffffffffffff,
                                      0x0010000000000000,
                                      0x369fffffffffffff,
                                      0x3fdfffffffffffff,
                                      0x3fe0000000000000,
                                      0x3ff0000000000000,
                                      0x3ff8000000000000,
                                      0x4004000000000000,
                                      0x41dfffffffc00000,
                                      0x41dfffffffe00000,
                                      0x41dfffffffffffff,
                                      0x41e0000000000000,
                                      0x41e0000000200000,
                                      0x41efffffffe00000,
                                      0x41effffffff00000,
                                      0x41f0000000000000,
                                      0x4330000000000001,
                                      0x433fffffffffffff,
                                      0x43e0000000000000,
                                      0x47efffffefffffff,
                                      0x47effffff0000000,
                                      0x7fefffffffffffff,
                                      0x7ff0000000000000,
                                      0x7ff8000000000000,
                                      0x7ff0000000000001,
                                      0x7ff4000000000000,
                                      0x7ff8000000000123};
  static const std::vector<uint64_t> kFloatValues[] = {
      [] {
        std::vector<uint64_t> all;
        for (uint32_t bits : kF32) all.insert(all.end(), {bits, bits | 0x8000'0000u});
        return all;
      }(),
      [] {
        std::vector<uint64_t> all;
        for (uint64_t bits : kF64) all.insert(all.end(), {bits, bits | uint64_t{1} << 63});
        return all;
      }()};
  if (lane == Lane::F32) return kFloatValues[0];
  if (lane == Lane::F64) return kFloatValues[1];
  return kLaneValues[static_cast<size_t>(lane)];
}

std::vector<std::pair<Vector, Vector>> interesting_pairs(Lane lane) {
  const std::vector<uint64_t>& values = interesting_lanes(lane);
  const size_t bytes = lane_bytes(lane), lanes = 16 / bytes, count = values.size() * values.size();
  std::vector<std::pair<Vector, Vector>> all;
  // One value in every lane, beside its neighbours in the list.
  for (size_t i = 0; i < values.size(); ++i) {
    auto& [a, b] = all.emplace_back();
    for (size_t k = 0; k < lanes; ++k) {
      std::memcpy(&a.bytes[k * bytes], &values[(i + values.size() + k - 1) % values.size()], bytes);
      std::memcpy(&b.bytes[k * bytes], &values[i], bytes);
    }
  }
  for (size_t i = 0; i < count; i += lanes) {
    auto& [a, b] = all.emplace_back();
    for (size_t k = 0; k < lanes; ++k) {
      size_t pair = (i + k) % count;
      std::memcpy(&a.bytes[k * bytes], &values[pair / values.size()], bytes);
      std::memcpy(&b.bytes[k * bytes], &values[pair % values.size()], bytes);
    }
  }
  // Nothing, everything, and one byte that differs.
  Vector none, ones, sevens;
  ones.bytes.fill(0xff);
  sevens.bytes.fill(7);
  for (const Vector& base : {none, ones, sevens}) {
    all.emplace_back(base, base);
    for (size_t i = 0; i < 16; ++i) {
      Vector other = base;
      other.bytes[i] ^= base == sevens ? 7 : 0xff;
      all.emplace_back(base, other);
      all.emplace_back(other, base);
    }
  }
  return all;
}

}  // namespace wago::engine_test
