#include "codegen/passes/passes.h"

#include <string_view>

#include "codegen/ir/analysis.h"
#include "codegen/passes/eliminate_checks.h"
#include "codegen/passes/forward_memory.h"
#include "codegen/passes/hoist_invariants.h"
#include "codegen/passes/inline_calls.h"
#include "codegen/passes/number_values.h"
#include "codegen/passes/order_blocks.h"
#include "codegen/passes/pass_scope.h"
#include "codegen/passes/reduce_strength.h"
#include "codegen/passes/remove_dead_code.h"
#include "codegen/passes/simplify_control_flow.h"
#include "codegen/passes/split_critical_edges.h"

namespace wago::codegen {

// Every pass keeps its scratch here from function to function.
class PassPipeline::State {
 public:
  void run(const runtime::Module& module, const runtime::CompileSettings& settings, IrFunction& function);
  PassLog& log() { return log_; }

 private:
  void optimize(const runtime::Module& module, const runtime::CompileSettings& settings,
                IrFunction& function);

  void analyze(IrFunction& function);

  template <class Pass>
  void simple(const char* name, Pass& pass, IrFunction& function) {
    PassScope scope(log_, name, function, verify_, edges_split_);
    pass.run(function);
  }

  PassLog log_;
  bool verify_ = false;
  bool edges_split_ = false;
  ReversePostorder order_;
  Dominators dominators_;
  Loops loops_;
  InlineCalls inline_calls_;
  ForwardMemory forward_memory_;
  NumberValues number_values_;
  EliminateChecks eliminate_checks_;
  HoistInvariants hoist_invariants_;
  SimplifyControlFlow simplify_control_flow_;
  RemoveDeadCode remove_dead_code_;
  SplitCriticalEdges split_critical_edges_;
  OrderBlocks order_blocks_;
};

// A build may leave out one pass of level 1, to see what it is worth: -DWAGO_WITHOUT_PASS="hoist invariants".
#ifdef WAGO_WITHOUT_PASS
constexpr std::string_view kWithoutPass = WAGO_WITHOUT_PASS;
#else
constexpr std::string_view kWithoutPass;
#endif

// What level 1 adds: everything between building and the passes that later stages need.
void PassPipeline::State::optimize(const runtime::Module& module, const runtime::CompileSettings& settings,
                                   IrFunction& function) {
  auto pass = [&](const char* name, auto&& run) {
    if (name == kWithoutPass) return;
    PassScope scope(log_, name, function, verify_, edges_split_);
    run();
  };
  pass("inline calls", [&] { inline_calls_.run(module, settings, function); });
  simple("simplify control flow", simplify_control_flow_, function);
  analyze(function);
  pass("forward memory", [&] { forward_memory_.run(module, function, order_); });
  pass("reduce strength", [&] { reduce_strength(function); });
  bool folds_branch = false;
  pass("number values", [&] { folds_branch = number_values_.run(function, order_, dominators_); });
  if (folds_branch) {
    simple("simplify control flow", simplify_control_flow_, function);
    analyze(function);
  }
  if (settings.bounds == base::Bounds::Explicit) {
    pass("eliminate checks", [&] { eliminate_checks_.run(module, function, order_, dominators_); });
  }
  pass("hoist invariants", [&] { hoist_invariants_.run(function, order_, loops_); });
}

void PassPipeline::State::analyze(IrFunction& function) {
  order_.compute(function);
  dominators_.compute(function, order_);
  loops_.compute(function, order_, dominators_);
}

void PassPipeline::State::run(const runtime::Module& module, const runtime::CompileSettings& settings,
                              IrFunction& function) {
  verify_ = settings.verify_ir;
  edges_split_ = false;
  if (settings.level > 0) {
    optimize(module, settings, function);
  } else {
    simple("simplify control flow", simplify_control_flow_, function);
  }
  simple("remove dead code", remove_dead_code_, function);
  edges_split_ = true;
  simple("split critical edges", split_critical_edges_, function);
  simple("order blocks", order_blocks_, function);
}

PassPipeline::PassPipeline() : state_(std::make_unique<State>()) {}
PassPipeline::~PassPipeline() = default;

void PassPipeline::run(const runtime::Module& module, const runtime::CompileSettings& settings,
                       IrFunction& function) {
  state_->run(module, settings, function);
}
PassLog& PassPipeline::log() {
  return state_->log();
}

}  // namespace wago::codegen
