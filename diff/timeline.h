// `profile timeline`: how long visits to guest, runtime and host took, by kind and name, and the steps in the
// module's life. Elapsed time, never CPU time: a visit goes on while its thread waits.
//
// Inclusive time of a name is that of its outermost spans, so that recursion is counted once; exclusive time
// is what its spans' own spans leave of them. Exclusive times of the measured phase add up to its outermost
// spans; what is left of the timed windows was between them.
//
// Of a timeline that lost spans nothing is derived: what is missing may be anywhere.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "diff/evidence.h"

namespace wago::base {
class Json;
}

namespace wago::diff {

struct TimelineRow {
  capture::SpanKind kind = capture::SpanKind::Lifecycle;
  std::string name;  // raw
  uint64_t count = 0;
  uint64_t trapped = 0;
  uint64_t inclusive_ns = 0;
  uint64_t exclusive_ns = 0;
};

struct Timeline {
  std::string capture;
  std::string workload;
  std::string module_name;
  std::string measured_phase;
  std::string work_unit;
  uint64_t completed_work = 0;
  uint64_t timed_ns = 0;  // the timed windows of the measured phase
  uint64_t spans = 0;     // recorded
  uint64_t lost = 0;
  std::optional<std::string> withheld;  // why there is nothing below
  // Of the measured phase, by kind, the longest exclusive time first.
  std::vector<TimelineRow> rows;
  uint64_t outermost_ns = 0;                              // of the timed windows, inside spans
  std::array<uint64_t, capture::kSpanKinds> crossings{};  // of the measured phase, by kind
  std::vector<TimelineRow> around;  // steps before and after the measured phase, in their order
};

// Errors (Usage): the capture has no timeline.
base::Result<Timeline> timeline_of(const Evidence& evidence);

std::string to_text(const Timeline& timeline);
base::Json to_json(const Timeline& timeline);

// "70 spans were lost: ...", and what to do. Precondition: some were.
std::string lost_spans_sentence(const capture::Manifest& manifest);

// The format of Chrome's trace viewer, which Perfetto opens, too. What was recorded is there even where spans
// were lost, which the document then says. Errors (Usage): the capture has no timeline.
base::Result<std::string> to_chrome_trace(const Evidence& evidence);

}  // namespace wago::diff
