#include "diff/timeline.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "diff/quantity.h"

namespace wago::diff {

namespace {

using capture::kNoParent;
using capture::Span;
using capture::SpanKind;
using capture::Spans;

// What spans leave of themselves to no span inside them.
std::vector<uint64_t> exclusive_times(const Spans& spans) {
  std::vector<uint64_t> exclusive_ns;
  exclusive_ns.reserve(spans.spans.size());
  for (const Span& span : spans.spans) exclusive_ns.push_back(span.elapsed_ns);
  for (const Span& span : spans.spans) {
    if (span.parent != kNoParent) exclusive_ns[span.parent] -= span.elapsed_ns;
  }
  return exclusive_ns;
}

// Adds spans, which come as they began, to rows by kind and name.
class Rows {
 public:
  explicit Rows(const Spans& spans) : spans_(spans), exclusive_ns_(exclusive_times(spans)) {}

  void add(uint32_t number) {
    const Span& span = spans_.spans[number];
    while (!open_.empty() && open_.back().span != span.parent) {
      --depth_[open_.back().row];
      open_.pop_back();
    }
    auto [at, added] = numbers_.emplace(std::pair(span.kind, span.name), static_cast<uint32_t>(rows_.size()));
    if (added) {
      rows_.push_back({span.kind, spans_.names[span.name]});
      depth_.push_back(0);
    }
    TimelineRow& row = rows_[at->second];
    ++row.count;
    row.trapped += span.trapped ? 1 : 0;
    row.exclusive_ns += exclusive_ns_[number];
    if (depth_[at->second]++ == 0) row.inclusive_ns += span.elapsed_ns;
    open_.push_back({number, at->second});
  }
  std::vector<TimelineRow> take() { return std::move(rows_); }

 private:
  struct Open {
    uint32_t span;
    uint32_t row;
  };
  const Spans& spans_;
  const std::vector<uint64_t> exclusive_ns_;
  std::map<std::pair<SpanKind, uint32_t>, uint32_t> numbers_;
  std::vector<TimelineRow> rows_;
  std::vector<uint64_t> depth_;  // spans of each row that have begun and not ended
  std::vector<Open> open_;
};

void add_measured(const Spans& spans, Timeline& timeline) {
  Rows measured(spans), around(spans);
  for (uint32_t i = 0; i < spans.spans.size(); ++i) {
    const Span& span = spans.spans[i];
    if (!capture::in_measured_phase(spans, span)) {
      around.add(i);
      continue;
    }
    measured.add(i);
    ++timeline.crossings[static_cast<size_t>(span.kind)];
    if (span.parent == kNoParent) timeline.outermost_ns += span.elapsed_ns;
  }
  timeline.rows = measured.take();
  timeline.around = around.take();
  std::stable_sort(timeline.rows.begin(), timeline.rows.end(),
                   [](const TimelineRow& a, const TimelineRow& b) {
                     return std::tuple(a.kind, b.exclusive_ns) < std::tuple(b.kind, a.exclusive_ns);
                   });
}

}  // namespace

std::string lost_spans_sentence(const capture::Manifest& manifest) {
  const uint64_t lost = manifest.losses.spans, bound = manifest.effective_settings.max_spans;
  return format_plural(lost, "span") + (lost == 1 ? " was" : " were") + " lost, beyond the " +
         format_count(bound) +
         " of --max-spans or on other threads, and no totals can be told; record fewer iterations, or with "
         "a higher bound";
}

base::Result<Timeline> timeline_of(const Evidence& evidence) {
  if (!evidence.spans) {
    return base::usage_error("was recorded without a timeline: record with --timeline",
                             {.file = evidence.path});
  }
  const capture::Manifest& manifest = evidence.manifest;
  const capture::PhaseRecord& measured = *manifest.measured_phase();
  Timeline timeline;
  timeline.capture = evidence.path;
  timeline.workload = manifest.workload;
  timeline.module_name = manifest.module_name;
  timeline.measured_phase = base::spelling(manifest.capture_phase);
  timeline.work_unit = measured.work_unit;
  timeline.completed_work = measured.completed_work;
  timeline.timed_ns = manifest.execution_duration_ns;
  timeline.spans = evidence.spans->spans.size();
  timeline.lost = evidence.spans->lost;
  if (timeline.lost > 0) {
    timeline.withheld = lost_spans_sentence(manifest);
  } else {
    add_measured(*evidence.spans, timeline);
  }
  return timeline;
}

}  // namespace wago::diff
