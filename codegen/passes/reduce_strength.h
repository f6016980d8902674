// Replaces division and remainder by a constant with multiplication, shifts and additions.
#pragma once

#include "codegen/ir/ir.h"

namespace wago::codegen {

// Linear. Leaves division by zero, by the most negative number and by -1 alone: they trap, or are rare.
// Division by a power of two is here only where it is signed; the unsigned one is simplified when it is
// built.
void reduce_strength(IrFunction& function);

}  // namespace wago::codegen
