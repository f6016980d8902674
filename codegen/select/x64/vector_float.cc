// Operations on float lanes: arithmetic, comparisons, rounding, conversions.

#include "codegen/select/x64/isel.h"

namespace wago::codegen::x64 {

void Isel::select_vector_float(const Inst&) {
  WAGO_UNREACHABLE("operation without a pattern");
}

}  // namespace wago::codegen::x64
