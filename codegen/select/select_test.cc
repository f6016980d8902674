#include "codegen/select/select.h"

#include <gtest/gtest.h>

#include "codegen/ir/analysis.h"
#include "codegen/ir/parse.h"
#include "codegen/ir/verify.h"
#include "codegen/passes/order_blocks.h"
#include "codegen/passes/split_critical_edges.h"
#include "codegen/testing/file_test.h"

namespace wago::codegen {
namespace {

// What the cases refer to: function 0 is imported, 1 to 3 are defined, of types 0 to 3; global 0 is imported,
// 1 to 4 are an i32, i64, f32 and f64 of the module's own; one table; one memory of a page. Functions 1 and 3
// can be referenced.
runtime::Module example_module() {
  using enum ValueType;
  runtime::Module module;
  module.types = {{{I32}, {I32}},
                  {{}, {}},
                  {{I32, I64, F32, F64}, {I64, F64}},
                  {{I64, I64, I64, I64, I64, I64, I64, I32}, {I32, I32, I32, F32}}};
  module.function_types = {0, 1, 2, 3};
  module.reference_indices = {runtime::Module::kNotReferenced, 0, runtime::Module::kNotReferenced, 1};
  module.reference_count = 2;
  module.imported_functions = 1;
  module.imported_globals = 1;
  for (ValueType type : {I32, I32, I64, F32, F64}) module.globals.push_back({{type, true}, {}});
  module.tables.push_back({FuncRef, {10, std::nullopt}});
  module.memories.push_back({{1, std::nullopt}});
  return module;
}

// A case that begins with "; explicit" checks bounds itself.
std::string select(const std::string& input) {
  auto parsed = parse(input);
  if (!parsed) return parsed.error().to_string();
  IrFunction& ir = parsed->ir;
  if (const std::string wrong = verify(ir); !wrong.empty()) return "wrong IR: " + wrong;
  SplitCriticalEdges().run(ir);
  OrderBlocks().run(ir);
  runtime::Module module = example_module();
  runtime::CompileSettings settings;
  if (input.starts_with("; explicit")) settings.bounds = base::Bounds::Explicit;
  MachFunction out;
  Selector().select(module, settings, ir, out);
  const std::string wrong = verify(out, false);
  return print(out) + (wrong.empty() ? "" : "wrong: " + wrong + "\n");
}

TEST(Select, Cases) {
  testing::run_file_tests("codegen/select/cases", select);
}

}  // namespace
}  // namespace wago::codegen
