// Text (print.h) -> IR: the input of file tests for passes. Numbers of values and blocks are kept. Whether
// the invariants hold is verify()'s to say, but every value and block that is used must be there.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"
#include "codegen/ir/ir.h"

namespace wago::codegen {

struct ParsedFunction {
  IrFunction ir;
  std::unique_ptr<FuncType> type;  // what ir.type points to; ir.type is null where the text has no types
};

// Errors name the line.
base::Result<ParsedFunction> parse(std::string_view text);

}  // namespace wago::codegen
