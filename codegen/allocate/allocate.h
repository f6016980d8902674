// Register allocation: linear scan over live ranges with holes, splitting and second chance; or everything in
// memory.
#pragma once

#include <memory>
#include <string>

#include "codegen/mach/mach.h"

namespace wago::codegen {

// Scratch that survives from function to function; one per worker.
class Allocator {
 public:
  Allocator();
  ~Allocator();
  // Rewrites `function` in place: physical registers only, slots assigned, Copy and ParallelMove resolved.
  // Time near linear in instructions; n log n at most in live ranges.
  void allocate(MachFunction& function);
  // The second configuration: every virtual register lives in a slot, loaded before and stored after each
  // use.
  void spill_everything(MachFunction& function);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Proves `after` equivalent to `before`: symbolic execution over all paths to a fixpoint, every use must read
// the value that `before` names. Returns an empty string, or the first use that does not, with its
// instruction and block.
std::string check_allocation(const MachFunction& before, const MachFunction& after);

}  // namespace wago::codegen
