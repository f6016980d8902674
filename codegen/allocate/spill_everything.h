// The second configuration: no value stays in a register from one instruction to the next. Shares nothing
// with the linear scan but the liveness of physical registers and the expansion of moves, so that the two
// check each other.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/allocate/liveness.h"
#include "codegen/allocate/moves.h"
#include "codegen/mach/mach.h"

namespace wago::codegen {

class EverythingSpiller {
 public:
  // `live` has been built for `function`.
  void run(MachFunction& function, const Liveness& live);

 private:
  struct Temporary {
    uint32_t vreg = 0;
    Reg reg;
    bool used = false, defined = false;
  };

  void emit_inst(uint32_t inst);
  void emit_moves(uint32_t inst);
  void gather(uint32_t inst);
  void choose_registers(uint32_t inst);
  Location slot_of(uint32_t vreg);
  Move between(uint32_t vreg, Location to, Location from);

  MachFunction* function_ = nullptr;
  const Liveness* live_ = nullptr;
  MoveEmitter emitter_;
  std::vector<MachInst> out_;
  std::vector<uint32_t> slot_;
  std::vector<Temporary> temporaries_;  // of the instruction at hand
  std::vector<Move> moves_;
};

}  // namespace wago::codegen
