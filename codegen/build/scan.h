// What building SSA in one pass has to know in advance: which locals a loop assigns, and which labels are
// branched to. One quick look over the body, without types and without regard for unreachable code, so that
// the answers are upper bounds: a label named here as a target may turn out to have no branch that is ever
// reached.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/module.h"

namespace wago::codegen {

class BodyScan {
 public:
  // block, loop, if: in the order of their opcodes.
  struct Construct {
    uint32_t end_pc = 0;  // of its `end`
    bool branched = false;
    bool has_else = false;
  };

  void run(const runtime::Module& module, const runtime::FunctionBody& body, uint32_t local_count);

  const std::vector<Construct>& constructs() const { return constructs_; }
  // wasm pcs of the local.set and local.tee of a local, ascending.
  std::span<const uint32_t> assignments(uint32_t local) const {
    return std::span(pcs_).subspan(begin_[local], begin_[local + 1] - begin_[local]);
  }
  // Where a local's assignments begin when those of all locals lie one after the other.
  uint32_t first_assignment(uint32_t local) const { return begin_[local]; }
  uint32_t assignment_count() const { return static_cast<uint32_t>(pcs_.size()); }

 private:
  struct Assignment {
    uint32_t local;
    uint32_t pc;
  };
  void sort_assignments(uint32_t local_count);

  std::vector<Construct> constructs_;
  std::vector<Assignment> found_;
  std::vector<uint32_t> begin_;
  std::vector<uint32_t> pcs_;
  std::vector<uint32_t> open_;  // indices of constructs; the function's own label has none
};

}  // namespace wago::codegen
