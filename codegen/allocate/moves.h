// Moves between registers, slots and rematerialised values, and how a set of them that happens at once
// becomes a sequence.
//
// Only MOVs are emitted, so flags survive. A cycle is opened with the scratch register of the class that the
// value kept there has; a move from slot to slot goes through the other scratch register, so the two never
// meet, whatever the classes of the cycle's values: slots are shared by both. Widths:
// a location is written as wide as it is (the slot's bytes), and read no wider than its source holds; 4 bytes
// come with zeros above.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/mach/mach.h"

namespace wago::codegen {

class Location {
 public:
  constexpr Location() = default;
  static constexpr Location reg(Reg r) { return Location(r.number()); }
  static constexpr Location slot(uint32_t index) { return Location(kFirstSlot + index); }
  // Nowhere: produced again by the instruction that VRegInfo::rematerialize names. Only ever a source.
  static constexpr Location remade(uint32_t vreg) { return Location(kRemade | vreg); }
  constexpr bool is_reg() const { return bits_ < kFirstSlot; }
  constexpr bool is_slot() const { return bits_ >= kFirstSlot && bits_ < kRemade; }
  constexpr bool is_remade() const { return bits_ >= kRemade; }
  constexpr Reg reg() const { return Reg::physical(bits_); }
  constexpr uint32_t slot() const { return bits_ - kFirstSlot; }
  constexpr uint32_t vreg() const { return bits_ & ~kRemade; }
  constexpr uint32_t bits() const { return bits_; }  // registers and slots: dense from 0
  friend constexpr bool operator==(Location a, Location b) { return a.bits_ == b.bits_; }

 private:
  static constexpr uint32_t kFirstSlot = 32, kRemade = 0x80000000u;
  constexpr explicit Location(uint32_t bits) : bits_(bits) {}
  uint32_t bits_ = 0;
};

struct Move {
  Location to, from;
  RegClass cls = RegClass::Gpr;
  uint8_t bytes = 8;  // of the value: 4, 8 or 16
};

inline bool is_move_pseudo(x64::Op op) {
  return op == x64::Op::Copy || op == x64::Op::ParallelMove;
}

// The class and bytes of one move of a Copy or ParallelMove; locations are the caller's to fill in.
Move plain_move(const MachFunction& function, Reg to, Reg from);

// Appends instructions to `out`, with operands at the end of function.operands. `where` lends the source
// position.
class MoveEmitter {
 public:
  void start(MachFunction& function, std::vector<MachInst>& out) {
    function_ = &function;
    out_ = &out;
  }
  void at(const MachInst& where) {
    wasm_pc_ = where.wasm_pc;
    inline_site_ = where.inline_site;
  }
  // All sources are read before any target is written. Targets are distinct. `moves` is used up.
  void emit_parallel(std::vector<Move>& moves);
  void emit(const Move& move);

 private:
  void emit_ready(std::vector<Move>& moves);
  void emit_reg_to_reg(Reg to, Reg from, uint8_t bytes);
  void load(Reg to, uint32_t slot, uint8_t bytes, uint32_t displacement = 0);
  void store(uint32_t slot, Reg from, uint8_t bytes, uint32_t displacement = 0);
  void slot_to_slot(const Move& move);
  void remake(Location to, uint32_t vreg);
  void memory_operands(uint32_t slot, uint32_t displacement);
  MachInst& append(x64::Op op, SiteKind site);
  void open_cycle(std::vector<Move>& moves, uint32_t member);

  MachFunction* function_ = nullptr;
  std::vector<MachInst>* out_ = nullptr;
  uint32_t wasm_pc_ = 0, inline_site_ = ~0u;

  // By location: how many pending moves read it, and the pending move that writes it. Zero between calls.
  std::vector<uint32_t> readers_, writer_;
  std::vector<uint32_t> ready_;
  RegClass kept_in_ = RegClass::Gpr;  // whose scratch register holds a value while a cycle is open
};

}  // namespace wago::codegen
