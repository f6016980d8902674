#include "runtime/trap.h"

#include <algorithm>
#include <cstdio>
#include <span>
#include <string>
#include <utility>

#include "base/duration.h"
#include "base/text.h"
#include "runtime/code_map.h"
#include "runtime/host.h"

namespace wago::runtime {

namespace {

// The last element whose `key` is not above `offset`, or nullptr.
template <class T>
const T* last_at_or_before(const std::vector<T>& sorted, uint32_t T::*key, uint64_t offset) {
  auto after = std::upper_bound(sorted.begin(), sorted.end(), offset,
                                [&](uint64_t wanted, const T& element) { return wanted < element.*key; });
  return after == sorted.begin() ? nullptr : &*(after - 1);
}

Frame guest_frame(const Module& module, uint32_t function, uint32_t wasm_pc) {
  Frame frame;
  frame.function = function;
  frame.wasm_pc = wasm_pc;
  frame.module_offset = module.bodies[function - module.imported_functions].begin + wasm_pc;
  frame.name = module.function_name(function);
  return frame;
}

// The frames of one physical function: what was inlined at the position first, then the function itself.
void add_guest_frames(Trap& trap, const MappedCode& code, uint64_t offset) {
  const CodeImage& image = code.image();
  const CompiledFunction* physical = last_at_or_before(image.functions, &CompiledFunction::begin, offset);
  const SourcePosition* position = last_at_or_before(image.positions, &SourcePosition::offset, offset);
  if (!physical) return;
  uint32_t wasm_pc = 0;
  if (position && position->offset >= physical->begin) {
    wasm_pc = position->wasm_pc;
    for (uint32_t site = position->inline_site; site < image.inline_sites.size();) {
      const InlineSite& inlined = image.inline_sites[site];
      trap.frames.push_back(guest_frame(*code.module(), inlined.callee, wasm_pc));
      trap.frames.back().inlined = true;
      wasm_pc = inlined.call_pc;
      site = inlined.parent;
    }
  }
  trap.frames.push_back(guest_frame(*code.module(), physical->function, wasm_pc));
}

void add_frames(Trap& trap, const TrapRecord& record) {
  trap.frames_truncated = record.truncated;
  for (uint32_t i = 0; i < record.frame_count; ++i) {
    const RawFrame& raw = record.frames[i];
    if (raw.host) {
      Frame frame;
      frame.function = kHostFunctionIndex;
      frame.name = static_cast<const HostFunctionData*>(raw.host)->name();
      frame.host = true;
      trap.frames.push_back(std::move(frame));
      continue;
    }
    const MappedCode* code = find_code(raw.pc);
    if (!code || !code->module()) continue;  // an adapter
    // A return address may be the first byte of whatever follows the call.
    const uint64_t pc = i == 0 ? raw.pc : raw.pc - 1;
    add_guest_frames(trap, *code, pc - reinterpret_cast<uint64_t>(code->base()));
  }
}

Trap make_interruption(const TrapRecord& record) {
  Trap trap;
  trap.code = base::TrapCode::Interrupted;
  if (record.interruption == InterruptRequest::Cancelled) {
    trap.interruption = Interruption::Cancelled;
    trap.message = "cancelled";
  } else {
    trap.interruption = Interruption::DeadlineExceeded;
    trap.message = "deadline exceeded after " + base::format_duration(record.deadline_ns);
  }
  return trap;
}

}  // namespace

Trap make_trap(base::TrapCode code) {
  Trap trap;
  trap.code = code;
  trap.message = base::sentence(code);
  return trap;
}

Trap decode_trap(TrapRecord& record) {
  std::unique_ptr<Trap> pending = std::move(record.pending);
  Trap trap;
  if (record.interruption != InterruptRequest::None && !(pending && pending->interruption)) {
    trap = make_interruption(record);
  } else {
    trap = pending ? std::move(*pending) : make_trap(record.code);
  }
  // A trap that a host function passes on has the whole stack from where it was raised.
  if (trap.frames.empty()) add_frames(trap, record);
  return trap;
}

}  // namespace wago::runtime

namespace wago {

std::string Trap::to_string() const {
  // A person reads the innermost frames; a program reads `frames`.
  constexpr size_t kShownFrames = 50;
  const size_t shown = std::min(frames.size(), kShownFrames);
  std::string text = (interruption ? "wago: " : "wago: trap: ") + base::printable(message) + "\n";
  for (const Frame& frame : std::span(frames).first(shown)) {
    text += "  at " + base::function_label(frame.name);
    if (frame.host) {
      text += " (host)\n";
      continue;
    }
    char place[64];
    std::snprintf(place, sizeof(place), " (func[%u], wasm pc 0x%x%s)\n", frame.function, frame.wasm_pc,
                  frame.inlined ? ", inlined" : "");
    text += place;
  }
  if (shown < frames.size()) {
    text += "  (" + std::string(frames_truncated ? "more than " : "") +
            std::to_string(frames.size() - shown) + " outer frames)\n";
  }
  return text;
}

}  // namespace wago
