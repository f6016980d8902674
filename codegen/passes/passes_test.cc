#include "codegen/passes/passes.h"

#include <gtest/gtest.h>

#include "codegen/ir/parse.h"
#include "codegen/ir/print.h"
#include "codegen/ir/verify.h"
#include "codegen/passes/order_blocks.h"
#include "codegen/passes/remove_dead_code.h"
#include "codegen/passes/simplify_control_flow.h"
#include "codegen/passes/split_critical_edges.h"
#include "codegen/testing/file_test.h"

namespace wago::codegen {
namespace {

// What a pass makes of a case, and what the verifier says to it.
template <class Pass>
std::string run_case(const std::string& input, const VerifyOptions& options = {}) {
  auto parsed = parse(input);
  if (!parsed) return parsed.error().to_string();
  if (const std::string wrong = verify(parsed->ir); !wrong.empty()) return "wrong before: " + wrong;
  Pass pass;
  pass.run(parsed->ir);
  const std::string wrong = verify(parsed->ir, options);
  return print(parsed->ir) + (wrong.empty() ? "" : "wrong: " + wrong + "\n");
}

TEST(Passes, SimplifyControlFlow) {
  testing::run_file_test("codegen/passes/cases/simplify_control_flow.test",
                         [](const std::string& input) { return run_case<SimplifyControlFlow>(input); });
}
TEST(Passes, RemoveDeadCode) {
  testing::run_file_test("codegen/passes/cases/remove_dead_code.test",
                         [](const std::string& input) { return run_case<RemoveDeadCode>(input); });
}
TEST(Passes, SplitCriticalEdges) {
  testing::run_file_test("codegen/passes/cases/split_critical_edges.test", [](const std::string& input) {
    return run_case<SplitCriticalEdges>(input, {true});
  });
}
TEST(Passes, OrderBlocks) {
  testing::run_file_test("codegen/passes/cases/order_blocks.test",
                         [](const std::string& input) { return run_case<OrderBlocks>(input); });
}

}  // namespace
}  // namespace wago::codegen
