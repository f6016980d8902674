// What was decided about a function's instructions while it was compiled, in the order in which it was.
// Nothing is kept, and noting costs one comparison, unless source maps are asked for; the code is the same
// either way.
#pragma once

#include <cstdint>
#include <vector>

#include "base/decisions.h"

namespace wago::codegen {

struct Decision {
  base::DecisionKind kind = base::DecisionKind::Inlined;
  uint32_t wasm_pc = 0;        // as an instruction's
  uint32_t inline_site = ~0u;  // the same
  uint32_t callee = ~0u;       // of decisions about a direct call: wasm function index
};

class DecisionLog {
 public:
  // Of a new function.
  void start(bool keeps) {
    keeps_ = keeps;
    decisions_.clear();
    built_instructions = placed_instructions = 0;
  }

  void note(base::DecisionKind kind, uint32_t wasm_pc, uint32_t inline_site = ~0u, uint32_t callee = ~0u) {
    if (keeps_) [[unlikely]]
      decisions_.push_back({kind, wasm_pc, inline_site, callee});
  }
  // About an instruction of the IR or of the machine.
  template <class Instruction>
  requires requires(const Instruction& inst) { inst.inline_site; }
  void note(base::DecisionKind kind, const Instruction& inst, uint32_t callee = ~0u) {
    note(kind, inst.wasm_pc, inst.inline_site, callee);
  }
  // What was decided while a callee was built that now is `inline_site`.
  void note_inlined(const DecisionLog& callee, uint32_t inline_site) {
    for (const Decision& d : callee.decisions_) note(d.kind, d.wasm_pc, inline_site, d.callee);
  }

  // Of the IR, made from the function's own body and from those that were inlined.
  uint32_t built_instructions = 0;
  uint32_t placed_instructions = 0;

  bool keeps() const { return keeps_; }
  const std::vector<Decision>& decisions() const { return decisions_; }

 private:
  bool keeps_ = false;
  std::vector<Decision> decisions_;
};

}  // namespace wago::codegen
