#include "codegen/passes/passes.h"

#include "codegen/passes/order_blocks.h"
#include "codegen/passes/pass_scope.h"
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
  template <class Pass>
  void simple(const char* name, Pass& pass, IrFunction& function) {
    PassScope scope(log_, name, function, verify_, edges_split_);
    pass.run(function);
  }

  PassLog log_;
  bool verify_ = false;
  bool edges_split_ = false;
  SimplifyControlFlow simplify_control_flow_;
  RemoveDeadCode remove_dead_code_;
  SplitCriticalEdges split_critical_edges_;
  OrderBlocks order_blocks_;
};

void PassPipeline::State::run(const runtime::Module&, const runtime::CompileSettings& settings,
                              IrFunction& function) {
  verify_ = settings.verify_ir;
  edges_split_ = false;
  simple("simplify control flow", simplify_control_flow_, function);
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
