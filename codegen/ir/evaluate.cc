// Floats are computed by the host in the type's own width: SSE, no excess precision, no contraction, round to
// nearest even. NaN results are reported as such and never taken from the host.
#include "codegen/ir/evaluate.h"

#include <bit>
#include <cfloat>
#include <cmath>
#include <limits>
#include <type_traits>

namespace wago::codegen {

namespace {

static_assert(FLT_EVAL_METHOD == 0, "floats must be computed in their own width");

using base::TrapCode;

Evaluation exact(uint64_t bits) {
  return {Evaluation::Kind::Exact, bits, TrapCode::Unreachable};
}
Evaluation trap(TrapCode code) {
  return {Evaluation::Kind::Trap, 0, code};
}

template <class F>
using BitsOf = std::conditional_t<sizeof(F) == 4, uint32_t, uint64_t>;
template <class F>
F to_float(uint64_t bits) {
  return std::bit_cast<F>(static_cast<BitsOf<F>>(bits));
}
template <class F>
uint64_t bits_of(F value) {
  return std::bit_cast<BitsOf<F>>(value);
}
template <class F>
constexpr uint64_t kSignBit = uint64_t{1} << (8 * sizeof(F) - 1);

template <class F>
Evaluation canonical_nan() {
  return {Evaluation::Kind::Nan, bits_of(std::numeric_limits<F>::quiet_NaN()), TrapCode::Unreachable};
}
// The result of an arithmetic operation.
template <class F>
Evaluation arithmetic(F value) {
  if (std::isnan(value)) return canonical_nan<F>();
  return exact(bits_of(value));
}

template <class U>
Evaluation divide(Op op, U a, U b) {
  using S = std::make_signed_t<U>;
  const S sa = static_cast<S>(a), sb = static_cast<S>(b);
  if (b == 0) return trap(TrapCode::IntegerDivideByZero);
  const bool overflows = sa == std::numeric_limits<S>::min() && sb == -1;
  switch (op) {
    case Op::IdivS:
      if (overflows) return trap(TrapCode::IntegerOverflow);
      return exact(static_cast<U>(sa / sb));
    case Op::IremS:
      return exact(overflows ? 0 : static_cast<U>(sa % sb));
    case Op::IdivU:
      return exact(static_cast<U>(a / b));
    default:
      return exact(static_cast<U>(a % b));
  }
}

template <class U>
U multiply_high(U a, U b, bool is_signed) {
  constexpr int kBits = 8 * sizeof(U);
  if (is_signed) {
    const __int128 product = static_cast<__int128>(static_cast<std::make_signed_t<U>>(a)) *
                             static_cast<__int128>(static_cast<std::make_signed_t<U>>(b));
    return static_cast<U>(product >> kBits);
  }
  return static_cast<U>((static_cast<unsigned __int128>(a) * b) >> kBits);
}

template <class U>
bool compare(IntCond cond, U a, U b) {
  using S = std::make_signed_t<U>;
  const S sa = static_cast<S>(a), sb = static_cast<S>(b);
  switch (cond) {
    case IntCond::Eq:
      return a == b;
    case IntCond::Ne:
      return a != b;
    case IntCond::LtS:
      return sa < sb;
    case IntCond::LtU:
      return a < b;
    case IntCond::GtS:
      return sa > sb;
    case IntCond::GtU:
      return a > b;
    case IntCond::LeS:
      return sa <= sb;
    case IntCond::LeU:
      return a <= b;
    case IntCond::GeS:
      return sa >= sb;
    case IntCond::GeU:
      return a >= b;
  }
  WAGO_UNREACHABLE("condition");
}

template <class F>
bool compare_floats(FloatCond cond, F a, F b) {
  switch (cond) {
    case FloatCond::Eq:
      return a == b;
    case FloatCond::Ne:
      return a != b;
    case FloatCond::Lt:
      return a < b;
    case FloatCond::Gt:
      return a > b;
    case FloatCond::Le:
      return a <= b;
    case FloatCond::Ge:
      return a >= b;
  }
  WAGO_UNREACHABLE("condition");
}

template <class U>
Evaluation integer(Op op, const uint64_t* args) {
  using S = std::make_signed_t<U>;
  constexpr unsigned kBits = 8 * sizeof(U);
  const U a = static_cast<U>(args[0]);
  const U b = static_cast<U>(args[1]);
  const unsigned count = static_cast<unsigned>(b) % kBits;
  switch (op) {
    case Op::Iadd:
      return exact(static_cast<U>(a + b));
    case Op::Isub:
      return exact(static_cast<U>(a - b));
    case Op::Imul:
      return exact(static_cast<U>(a * b));
    case Op::IdivS:
    case Op::IdivU:
    case Op::IremS:
    case Op::IremU:
      return divide(op, a, b);
    case Op::ImulHighU:
      return exact(multiply_high(a, b, false));
    case Op::ImulHighS:
      return exact(multiply_high(a, b, true));
    case Op::Iand:
      return exact(a & b);
    case Op::Ior:
      return exact(a | b);
    case Op::Ixor:
      return exact(a ^ b);
    case Op::Ishl:
      return exact(static_cast<U>(a << count));
    case Op::IshrS:
      return exact(static_cast<U>(static_cast<S>(a) >> count));
    case Op::IshrU:
      return exact(a >> count);
    case Op::Irotl:
      return exact(std::rotl(a, static_cast<int>(count)));
    case Op::Irotr:
      return exact(std::rotr(a, static_cast<int>(count)));
    case Op::Iclz:
      return exact(static_cast<U>(std::countl_zero(a)));
    case Op::Ictz:
      return exact(static_cast<U>(std::countr_zero(a)));
    case Op::Ipopcnt:
      return exact(static_cast<U>(std::popcount(a)));
    case Op::Iextend8:
      return exact(static_cast<U>(static_cast<S>(static_cast<int8_t>(a))));
    case Op::Iextend16:
      return exact(static_cast<U>(static_cast<S>(static_cast<int16_t>(a))));
    case Op::Iextend32:
      return exact(static_cast<U>(static_cast<S>(static_cast<int32_t>(a))));
    default:
      return {};
  }
}

template <class F>
Evaluation minimum(F a, F b) {
  if (std::isnan(a) || std::isnan(b)) return canonical_nan<F>();
  if (a == b) return exact(bits_of(a) | bits_of(b));  // zeros of two signs: the negative one
  return exact(bits_of(a < b ? a : b));
}
template <class F>
Evaluation maximum(F a, F b) {
  if (std::isnan(a) || std::isnan(b)) return canonical_nan<F>();
  if (a == b) return exact(bits_of(a) & bits_of(b));
  return exact(bits_of(a > b ? a : b));
}

template <class F>
Evaluation floating(Op op, const uint64_t* args) {
  const F a = to_float<F>(args[0]);
  const F b = to_float<F>(args[1]);
  const uint64_t bits = bits_of(a);
  switch (op) {
    case Op::Fadd:
      return arithmetic<F>(a + b);
    case Op::Fsub:
      return arithmetic<F>(a - b);
    case Op::Fmul:
      return arithmetic<F>(a * b);
    case Op::Fdiv:
      return arithmetic<F>(a / b);
    case Op::Fmin:
      return minimum(a, b);
    case Op::Fmax:
      return maximum(a, b);
    case Op::Fcopysign:
      return exact((bits & ~kSignBit<F>) | (bits_of(b) & kSignBit<F>));
    case Op::Fabs:
      return exact(bits & ~kSignBit<F>);
    case Op::Fneg:
      return exact(bits ^ kSignBit<F>);
    case Op::Fsqrt:
      return arithmetic<F>(std::sqrt(a));
    case Op::Fceil:
      return arithmetic<F>(std::ceil(a));
    case Op::Ffloor:
      return arithmetic<F>(std::floor(a));
    case Op::Ftrunc:
      return arithmetic<F>(std::trunc(a));
    case Op::Fnearest:
      return arithmetic<F>(std::nearbyint(a));
    default:
      return {};
  }
}

// The integers of type I are the reals in [low, high): both are floats exactly, 2^31 and the like.
template <class I, class F>
constexpr F kHigh = std::is_signed_v<I> ? F(uint64_t{1} << (8 * sizeof(I) - 1))
                                        : F(2) * F(uint64_t{1} << (8 * sizeof(I) - 1));
template <class I, class F>
constexpr F kLow = std::is_signed_v<I> ? -kHigh<I, F> : F(0);

template <class I, class F>
Evaluation truncate(F value, bool saturate) {
  using U = std::make_unsigned_t<I>;
  if (std::isnan(value)) return saturate ? exact(0) : trap(TrapCode::InvalidConversionToInteger);
  const F whole = std::trunc(value);
  if (whole < kLow<I, F>) {
    return saturate ? exact(static_cast<U>(std::numeric_limits<I>::min())) : trap(TrapCode::IntegerOverflow);
  }
  if (whole >= kHigh<I, F>) {
    return saturate ? exact(static_cast<U>(std::numeric_limits<I>::max())) : trap(TrapCode::IntegerOverflow);
  }
  return exact(static_cast<U>(static_cast<I>(whole)));
}

template <class F>
Evaluation truncate_from(Op op, Type type, F value) {
  const bool saturate = op == Op::TruncSatS || op == Op::TruncSatU;
  const bool is_signed = op == Op::TruncS || op == Op::TruncSatS;
  if (type == Type::I32) {
    return is_signed ? truncate<int32_t>(value, saturate) : truncate<uint32_t>(value, saturate);
  }
  return is_signed ? truncate<int64_t>(value, saturate) : truncate<uint64_t>(value, saturate);
}

template <class F>
Evaluation convert_to(Op op, Type arg_type, uint64_t bits) {
  if (arg_type == Type::I32) {
    return op == Op::ConvertS ? exact(bits_of(static_cast<F>(static_cast<int32_t>(bits))))
                              : exact(bits_of(static_cast<F>(static_cast<uint32_t>(bits))));
  }
  return op == Op::ConvertS ? exact(bits_of(static_cast<F>(static_cast<int64_t>(bits))))
                            : exact(bits_of(static_cast<F>(bits)));
}

uint64_t narrowed(Type type, uint64_t bits) {
  return bytes_of(type) == 4 ? static_cast<uint32_t>(bits) : bits;
}

}  // namespace

Evaluation evaluate(Op op, Type type, Type arg_type, uint8_t aux, const uint64_t* args) {
  switch (op) {
    case Op::Ieqz:
      return exact(narrowed(arg_type, args[0]) == 0);
    case Op::Icmp:
      return exact(arg_type == Type::I32 ? compare(static_cast<IntCond>(aux), static_cast<uint32_t>(args[0]),
                                                   static_cast<uint32_t>(args[1]))
                                         : compare(static_cast<IntCond>(aux), args[0], args[1]));
    case Op::Fcmp:
      return exact(arg_type == Type::F32
                       ? compare_floats(static_cast<FloatCond>(aux), to_float<float>(args[0]),
                                        to_float<float>(args[1]))
                       : compare_floats(static_cast<FloatCond>(aux), to_float<double>(args[0]),
                                        to_float<double>(args[1])));
    case Op::Wrap:
    case Op::Zext:
      return exact(static_cast<uint32_t>(args[0]));
    case Op::Sext:
      return exact(static_cast<uint64_t>(int64_t{static_cast<int32_t>(args[0])}));
    case Op::TruncS:
    case Op::TruncU:
    case Op::TruncSatS:
    case Op::TruncSatU:
      return arg_type == Type::F32 ? truncate_from(op, type, to_float<float>(args[0]))
                                   : truncate_from(op, type, to_float<double>(args[0]));
    case Op::ConvertS:
    case Op::ConvertU:
      return type == Type::F32 ? convert_to<float>(op, arg_type, args[0])
                               : convert_to<double>(op, arg_type, args[0]);
    case Op::Demote:
      return arithmetic<float>(static_cast<float>(to_float<double>(args[0])));
    case Op::Promote:
      return arithmetic<double>(static_cast<double>(to_float<float>(args[0])));
    case Op::Bitcast:
      return exact(narrowed(type, args[0]));
    case Op::Select:
      return exact(narrowed(type, static_cast<uint32_t>(args[0]) != 0 ? args[1] : args[2]));
    default:
      break;
  }
  switch (type) {
    case Type::I32:
      return integer<uint32_t>(op, args);
    case Type::I64:
      return integer<uint64_t>(op, args);
    case Type::F32:
      return floating<float>(op, args);
    case Type::F64:
      return floating<double>(op, args);
    case Type::None:
    case Type::V128:
      break;
  }
  return {};
}

}  // namespace wago::codegen
