#include "codegen/allocate/allocate.h"

#include "codegen/allocate/linear_scan.h"
#include "codegen/allocate/liveness.h"
#include "codegen/allocate/rewrite.h"
#include "codegen/allocate/spill_everything.h"

namespace wago::codegen {

struct Allocator::State {
  Liveness live;
  LinearScan scan;
  Rewriter rewriter;
  EverythingSpiller spiller;
};

Allocator::Allocator() : state_(std::make_unique<State>()) {}
Allocator::~Allocator() = default;

void Allocator::allocate(MachFunction& function) {
  state_->live.build(function);
  state_->scan.run(function, state_->live);
  state_->rewriter.run(function, state_->live, state_->scan);
}

void Allocator::spill_everything(MachFunction& function) {
  state_->live.build(function);
  state_->spiller.run(function, state_->live);
}

}  // namespace wago::codegen
