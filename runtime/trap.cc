#include "runtime/trap.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "base/duration.h"
#include "base/plural.h"
#include "base/text.h"
#include "runtime/code_map.h"
#include "runtime/host.h"
#include "runtime/instance.h"
#include "runtime/source_lines.h"

namespace wago::runtime {

namespace {

// The last element whose `key` is not above `offset`, or nullptr.
template <class T>
const T* last_at_or_before(const std::vector<T>& sorted, uint32_t T::*key, uint64_t offset) {
  auto after = std::upper_bound(sorted.begin(), sorted.end(), offset,
                                [&](uint64_t wanted, const T& element) { return wanted < element.*key; });
  return after == sorted.begin() ? nullptr : &*(after - 1);
}

Frame guest_frame(const MappedCode& code, InstanceData* instance, uint32_t function, uint32_t wasm_pc) {
  const Module& module = *code.module();
  Frame frame;
  frame.instance_data = instance;
  frame.store = instance->store()->weak_from_this();
  frame.function = function;
  frame.wasm_pc = wasm_pc;
  frame.name = module.function_name(function);
  frame.debug_info = code.debug_info();
  frame.module_offset = module.bodies[function - module.imported_functions].begin + wasm_pc;
  return frame;
}

// The frames of one physical function: what was inlined at the position first, then the function itself.
void add_guest_frames(Trap& trap, const MappedCode& code, InstanceData* instance, uint64_t offset) {
  const CodeImage& image = code.image();
  const CompiledFunction* physical = last_at_or_before(image.functions, &CompiledFunction::begin, offset);
  const SourcePosition* position = last_at_or_before(image.positions, &SourcePosition::offset, offset);
  if (!physical) return;
  uint32_t wasm_pc = 0;
  if (position && position->offset >= physical->begin) {
    wasm_pc = position->wasm_pc;
    for (uint32_t site = position->inline_site; site < image.inline_sites.size();) {
      const InlineSite& inlined = image.inline_sites[site];
      trap.frames.push_back(guest_frame(code, instance, inlined.callee, wasm_pc));
      trap.frames.back().inlined = true;
      wasm_pc = inlined.call_pc;
      site = inlined.parent;
    }
  }
  trap.frames.push_back(guest_frame(code, instance, physical->function, wasm_pc));
}

// Whether the call that returns to `offset` was one inside an instance: those are direct (abi.h), and no
// other is. The bytes of another cannot look like one: at the end of a short indirect call is its ModRM, FF
// /2, which as the highest byte of a distance leads 256 MB away, and a long one has it where a direct call
// has its opcode.
bool is_direct_call(const CodeImage& image, uint64_t offset) {
  constexpr uint8_t kCallRel32 = 0xe8;
  constexpr uint64_t kCallBytes = 5;
  if (offset < kCallBytes || offset > image.bytes.size()) return false;
  const uint8_t* call = image.bytes.data() + offset - kCallBytes;
  int32_t distance = 0;
  std::memcpy(&distance, call + 1, sizeof distance);
  const uint64_t target = offset + static_cast<uint64_t>(int64_t{distance});
  const CompiledFunction* callee = last_at_or_before(image.functions, &CompiledFunction::begin, target);
  return *call == kCallRel32 && callee && callee->begin == target;
}

void add_frames(Trap& trap, const TrapRecord& record) {
  trap.frames_truncated = record.truncated;
  const InstanceContext* context = record.context;
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
    uint64_t offset = raw.pc - reinterpret_cast<uint64_t>(code->base());
    if (i > 0) {
      // Whose call was direct, has its callee's context; else it saved its own.
      if (!is_direct_call(code->image(), offset))
        context = reinterpret_cast<const InstanceContext*>(raw.saved_context);
      // A return address may be the first byte of whatever follows the call.
      --offset;
    }
    add_guest_frames(trap, *code, context->instance, offset);
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
    trap.message = record.deadline_ns == 0
                       ? "deadline exceeded before the call began"  // a negative one
                       : "deadline exceeded after " + base::format_duration(record.deadline_ns);
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

std::optional<Instance> Frame::instance() const {
  std::shared_ptr<runtime::Store> alive = store.lock();
  return alive ? std::optional(Instance(std::move(alive), instance_data)) : std::nullopt;
}

std::vector<SourceFrame> Frame::source() const {
  return debug_info ? debug_info->at(module_offset) : std::vector<SourceFrame>();
}

namespace {

bool same_place(const Frame& a, const Frame& b) {
  return a.function == b.function && a.wasm_pc == b.wasm_pc && a.inlined == b.inlined && a.host == b.host &&
         a.module_offset == b.module_offset && a.debug_info == b.debug_info && a.name == b.name;
}

// A cycle of frames at the front of a stack: recursion.
struct Cycle {
  size_t period = 0;
  size_t rounds = 0;
};

// The shortest that goes round often enough to be worth a line of its own.
Cycle cycle_at(std::span<const Frame> frames) {
  constexpr size_t kLongestPeriod = 16, kFewestFrames = 8;
  for (size_t period = 1; period <= std::min(kLongestPeriod, frames.size() / 2); ++period) {
    size_t matching = 0;
    while (period + matching < frames.size() && same_place(frames[matching], frames[period + matching]))
      ++matching;
    const size_t rounds = 1 + matching / period;
    if (rounds >= 3 && rounds * period >= kFewestFrames) return {period, rounds};
  }
  return {};
}

std::string place_of(const SourceFrame& source) {
  if (source.line == 0) return {};
  std::string place = " " + base::printable(source.file) + ":" + std::to_string(source.line);
  if (source.column != 0) place += ":" + std::to_string(source.column);
  return place;
}

std::string lines_of(const Frame& frame) {
  const std::string at = "  at ";
  if (frame.host) return at + base::function_label(frame.name) + " (host)\n";
  std::string text;
  std::string own_place;
  const std::vector<SourceFrame> source = frame.source();
  for (size_t i = 0; i < source.size(); ++i) {
    own_place = place_of(source[i]);
    if (i + 1 == source.size()) break;
    text += at + base::function_label(source[i].function) + " (inlined in func[" +
            std::to_string(frame.function) + "])" + own_place + "\n";
  }
  char place[64];
  std::snprintf(place, sizeof(place), " (func[%u], wasm pc 0x%x%s)", frame.function, frame.wasm_pc,
                frame.inlined ? ", inlined" : "");
  return text + at + base::function_label(frame.name) + place + own_place + "\n";
}

std::string repetition(const Cycle& cycle) {
  const std::string times = " repeated " + base::plural(cycle.rounds - 1, "time") + " more)\n";
  if (cycle.period == 1) return "  (the frame above is" + times;
  return "  (the " + std::to_string(cycle.period) + " frames above are" + times;
}

}  // namespace

std::string Trap::to_string() const {
  // A person reads the innermost frames, and recursion once; a program reads `frames`.
  constexpr size_t kShownFrames = 50;
  std::string text = (interruption ? "wago: " : "wago: trap: ") + base::printable(message) + "\n";
  std::span<const Frame> rest = frames;
  for (size_t shown = 0; shown < kShownFrames && !rest.empty();) {
    const Cycle cycle = cycle_at(rest);
    const size_t count = std::max<size_t>(cycle.period, 1);
    for (const Frame& frame : rest.first(count)) text += lines_of(frame);
    if (cycle.period != 0) text += repetition(cycle);
    rest = rest.subspan(cycle.period != 0 ? cycle.period * cycle.rounds : 1);
    shown += count;
  }
  if (!rest.empty()) {
    text += "  (" + std::string(frames_truncated ? "more than " : "") + std::to_string(rest.size()) +
            " outer frames)\n";
  } else if (frames_truncated) {
    text += "  (and outer frames that were not kept)\n";
  }
  return text;
}

}  // namespace wago
