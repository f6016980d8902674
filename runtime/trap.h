// From a hardware fault to a wago::Trap: the record the signal handler leaves, and its translation.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include <wago/wago.h>
#include "base/vocabulary.h"
#include "runtime/abi.h"
#include "runtime/interrupt.h"

namespace wago::runtime {

// Guest frames kept of one trap, innermost first. What lies further out is dropped, and the trap says so.
constexpr uint32_t kMaxTrapFrames = 4096;

struct RawFrame {
  // The faulting instruction for the innermost frame, a return address for every other; 0 for host functions.
  uint64_t pc = 0;
  const HostFunction* host = nullptr;
  uint64_t saved_context = 0;  // what is at [rbp - 8]: the function's own context, if it saves it
};

// One a thread, written in the signal handler and read by who entered the guest before any guest code runs
// again.
struct TrapRecord {
  base::TrapCode code = base::TrapCode::Unreachable;
  InterruptRequest interruption = InterruptRequest::None;  // what stopped the guest in place of a trap
  uint64_t deadline_ns = 0;                                // of the call that was interrupted
  bool truncated = false;
  const InstanceContext* context = nullptr;  // of the innermost frame, if it is the guest's
  uint32_t frame_count = 0;
  std::array<RawFrame, kMaxTrapFrames> frames;
  // What a host function left before its adapter raised TrapCode::Host.
  std::unique_ptr<Trap> pending;
};

// The trap of a record, with names and positions. Takes what is pending. The code of every recorded frame
// must still be mapped, which holds as long as the frames' activations have not returned.
Trap decode_trap(TrapRecord& record);

// A trap that no guest frame raised: a segment that does not fit.
Trap make_trap(base::TrapCode code);

}  // namespace wago::runtime
