#include "codegen/mach/mach.h"

#include <algorithm>

namespace wago::codegen {

namespace {

// Literals that are looked through for an equal one: keeps functions with thousands of constants linear.
constexpr size_t kLiteralWindow = 64;

}  // namespace

void MachFunction::clear() {
  function = 0;
  insts.clear();
  operands.clear();
  wide_immediates.clear();
  block_count = 0;
  vregs.clear();
  slots.clear();
  literals.clear();
  jump_tables.clear();
  outgoing_bytes = 0;
  saves_context = false;
  is_leaf = true;
  checks_interrupts = false;
  decisions.start(false);
  spills = reloads = rematerialized = moves = 0;
}

Reg MachFunction::new_vreg(RegClass cls, uint8_t bytes) {
  vregs.push_back({cls, bytes});
  return Reg::virt(static_cast<uint32_t>(vregs.size() - 1));
}

uint32_t MachFunction::literal(uint64_t low, uint64_t high, uint8_t bytes) {
  size_t oldest = literals.size() - std::min(literals.size(), kLiteralWindow);
  for (size_t i = literals.size(); i-- > oldest;) {
    const Literal& l = literals[i];
    if (l.bytes == bytes && l.bits[0] == low && l.bits[1] == high) return static_cast<uint32_t>(i);
  }
  literals.push_back({{low, high}, bytes});
  return static_cast<uint32_t>(literals.size() - 1);
}

const char* to_string(SiteKind kind) {
  switch (kind) {
    case SiteKind::None:
      return "none";
    case SiteKind::Spill:
      return "spill";
    case SiteKind::Reload:
      return "reload";
    case SiteKind::Rematerialize:
      return "rematerialize";
    case SiteKind::Move:
      return "move";
    case SiteKind::BoundsCheck:
      return "bounds check";
    case SiteKind::IndirectCall:
      return "indirect call";
    case SiteKind::InterruptCheck:
      return "interrupt check";
    case SiteKind::StackCheck:
      return "stack check";
    case SiteKind::Libcall:
      return "library call";
    case SiteKind::Frame:
      return "frame";
  }
  WAGO_UNREACHABLE("site kind");
}

}  // namespace wago::codegen
