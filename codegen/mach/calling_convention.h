// Where arguments and results of a signature travel: the guest calling convention of runtime/abi.h, as data.
// Selection and the adapters both ask here.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/mach/mach.h"
#include "runtime/types.h"

namespace wago::codegen {

struct ValueLocation {
  ValueType type = ValueType::I32;
  Reg reg;             // invalid: on the stack
  uint32_t stack = 0;  // bytes from the start of the argument area (arguments first, then results)
};

struct CallingConvention {
  std::vector<ValueLocation> params;
  std::vector<ValueLocation> results;
  uint32_t stack_bytes = 0;  // arguments and results on the stack together

  CallingConvention() = default;
  explicit CallingConvention(const FuncType& type) { assign(type); }
  void assign(const FuncType& type);  // keeps capacity
};

constexpr Reg kParamGprs[] = {kRdi, kRsi, kRdx, kRcx, kR8, kR9};
constexpr uint32_t kParamXmms = 8;  // xmm0..xmm7
constexpr Reg kResultGprs[] = {kRax, kRdx};
constexpr uint32_t kResultXmms = 2;  // xmm0, xmm1
// The first stack argument, from the callee's rbp: above the saved rbp and the return address.
constexpr int32_t kIncomingArea = 16;

constexpr RegClass class_of(ValueType type) {
  return type == ValueType::F32 || type == ValueType::F64 || type == ValueType::V128 ? RegClass::Xmm
                                                                                     : RegClass::Gpr;
}

}  // namespace wago::codegen
