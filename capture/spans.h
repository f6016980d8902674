// spans.json: when guests were entered and left, and what was done to their module, in elapsed time.
//
// A span is one visit: a call of a guest function by C++, of a host function or a helper by a guest, or a
// step in the module's life. Spans are those of one thread, and nest as the calls did. Times are the
// monotonic clock's; they say nothing of CPU time.
//
// Steps in the module's life are recorded on the way to the measured phase and after it too; all else only
// inside its timed windows.
//
// Invariants, checked by the reader: starts never fall; a parent comes before its children, which lie inside
// it and do not overlap, so that what is left of a span without its children is never negative; a step is
// part of steps only, an invocation of a step or of nothing, a re-entry of another boundary.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "capture/schema.h"

namespace wago::capture {

enum class SpanKind : uint8_t {
  Lifecycle,   // a step: compile, reload, instantiate, initialize, close
  Invocation,  // C++ called a guest function, and no guest was running
  HostCall,    // a host function ran
  Helper,      // a guest called the runtime: memory.grow, table.copy, ...
  Reentry,     // a host function called a guest function
};
std::string_view spelling(SpanKind kind);  // "lifecycle", "invocation", "host-call", "helper", "re-entry"
inline constexpr size_t kSpanKinds = 5;

inline constexpr uint32_t kNoParent = ~0u;

struct Span {
  SpanKind kind = SpanKind::Lifecycle;
  uint32_t name = 0;  // of Spans::names
  uint32_t parent = kNoParent;
  uint64_t start_ns = 0;  // monotonic
  uint64_t elapsed_ns = 0;
  bool trapped = false;  // it ended by a trap
  bool operator==(const Span&) const = default;
};

struct Spans {
  // From the start of the first timed window to the end of the last. Spans inside are the measured phase's.
  uint64_t phase_start_ns = 0;
  uint64_t phase_elapsed_ns = 0;
  uint64_t lost = 0;  // visits that are missing below; then no total of them means anything
  std::vector<std::string> names;
  std::vector<Span> spans;
  bool operator==(const Spans&) const = default;
};

inline bool in_measured_phase(const Spans& spans, const Span& span) {
  const uint64_t before_ns = span.start_ns - spans.phase_start_ns;
  return span.start_ns >= spans.phase_start_ns && before_ns <= spans.phase_elapsed_ns &&
         span.elapsed_ns <= spans.phase_elapsed_ns - before_ns;
}

std::string to_json_text(const Spans& spans);
base::Result<Spans> parse_spans(std::string_view text, const std::string& file, const Limits& limits = {});

}  // namespace wago::capture
