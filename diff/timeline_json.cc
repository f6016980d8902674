// The timeline for programs, and for viewers of traces. docs/reading.md lists the members.
#include "base/json.h"
#include "diff/timeline.h"

namespace wago::diff {

namespace {

using base::Json;

Json rows_json(const std::vector<TimelineRow>& rows) {
  Json array = Json::array();
  for (const TimelineRow& row : rows) {
    array.push(Json::object({{"kind", spelling(row.kind)},
                             {"name", row.name},
                             {"count", row.count},
                             {"trapped", row.trapped},
                             {"inclusive_ns", row.inclusive_ns},
                             {"exclusive_ns", row.exclusive_ns}}));
  }
  return array;
}

// Everything happens in one process on one thread.
constexpr int kProcess = 1, kThread = 1;

Json named(const char* what, const std::string& name) {
  return Json::object({{"name", what},
                       {"ph", "M"},
                       {"pid", kProcess},
                       {"tid", kThread},
                       {"args", Json::object({{"name", name}})}});
}

// The format counts microseconds.
double us_of(uint64_t ns) {
  return static_cast<double>(ns) / 1000;
}

Json event_json(const std::string& name, std::string_view category, uint64_t start_ns, uint64_t elapsed_ns) {
  return Json::object({{"name", name},
                       {"cat", category},
                       {"ph", "X"},
                       {"ts", us_of(start_ns)},
                       {"dur", us_of(elapsed_ns)},
                       {"pid", kProcess},
                       {"tid", kThread}});
}

}  // namespace

Json to_json(const Timeline& timeline) {
  Json json = Json::object({{"capture", timeline.capture},
                            {"workload", timeline.workload},
                            {"module_name", timeline.module_name},
                            {"measured_phase", timeline.measured_phase},
                            {"work_unit", timeline.work_unit},
                            {"completed_work", timeline.completed_work},
                            {"timed_ns", timeline.timed_ns},
                            {"spans", timeline.spans},
                            {"lost", timeline.lost},
                            {"withheld", Json(timeline.withheld)}});
  if (timeline.withheld) return json;
  Json crossings = Json::object();
  for (size_t kind = 0; kind < capture::kSpanKinds; ++kind) {
    crossings.set(std::string(spelling(static_cast<capture::SpanKind>(kind))), timeline.crossings[kind]);
  }
  json.set("crossings", std::move(crossings))
      .set("outermost_ns", timeline.outermost_ns)
      .set("measured", rows_json(timeline.rows))
      .set("outside", rows_json(timeline.around));
  return json;
}

base::Result<std::string> to_chrome_trace(const Evidence& evidence) {
  if (auto timeline = timeline_of(evidence); !timeline) return timeline.error();
  const capture::Spans& spans = *evidence.spans;
  // Numbers with a fraction keep nanoseconds only near the start.
  uint64_t origin_ns = spans.phase_start_ns;
  for (const capture::Span& span : spans.spans) origin_ns = std::min(origin_ns, span.start_ns);
  std::vector<Json> events = {named("process_name", evidence.manifest.module_name),
                              named("thread_name", evidence.manifest.workload)};
  events.push_back(
      event_json("measured phase", "phase", spans.phase_start_ns - origin_ns, spans.phase_elapsed_ns));
  for (const capture::Span& span : spans.spans) {
    Json event =
        event_json(spans.names[span.name], spelling(span.kind), span.start_ns - origin_ns, span.elapsed_ns);
    if (span.trapped) event.append("args", Json::object({{"trapped", true}}));
    events.push_back(std::move(event));
  }
  Json document = Json::object({{"displayTimeUnit", "ns"}});
  document.append("otherData", Json::object({{"capture", evidence.path}, {"lost_spans", spans.lost}}));
  document.append("traceEvents", Json::array(std::move(events)));
  return document.dump() + "\n";
}

}  // namespace wago::diff
