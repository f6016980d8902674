#include "codegen/mach/calling_convention.h"

namespace wago::codegen {

namespace {

void assign_list(const std::vector<ValueType>& types, std::span<const Reg> gprs, uint32_t xmms,
                 std::vector<ValueLocation>& out, uint32_t& stack) {
  out.clear();
  uint32_t next_gpr = 0, next_xmm = 0;
  for (ValueType type : types) {
    ValueLocation location;
    location.type = type;
    if (class_of(type) == RegClass::Gpr && next_gpr < gprs.size()) {
      location.reg = gprs[next_gpr++];
    } else if (class_of(type) == RegClass::Xmm && next_xmm < xmms) {
      location.reg = Reg::xmm(next_xmm++);
    } else {
      location.stack = stack;
      stack += 8 * slots_of(type);
    }
    out.push_back(location);
  }
}

}  // namespace

void CallingConvention::assign(const FuncType& type) {
  stack_bytes = 0;
  assign_list(type.params, kParamGprs, kParamXmms, params, stack_bytes);
  assign_list(type.results, kResultGprs, kResultXmms, results, stack_bytes);
}

}  // namespace wago::codegen
