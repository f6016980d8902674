// The timeline for people.
#include "base/text.h"
#include "diff/quantity.h"
#include "diff/timeline.h"

namespace wago::diff {

namespace {

using Row = std::vector<std::string>;
using enum base::Align;
using capture::SpanKind;

double per_unit(uint64_t amount, const Timeline& timeline) {
  return static_cast<double>(amount) / static_cast<double>(timeline.completed_work);
}

double share(uint64_t ns, const Timeline& timeline) {
  return timeline.timed_ns == 0 ? 0 : static_cast<double>(ns) / static_cast<double>(timeline.timed_ns);
}

std::string header(const Timeline& timeline) {
  std::vector<Row> rows = {
      {"capture", base::printable(timeline.capture)},
      {"workload", base::printable(timeline.workload) + " (" + base::printable(timeline.module_name) +
                       "), phase " + timeline.measured_phase},
      {"measured", format_work(timeline.completed_work, timeline.work_unit) + ", " +
                       format_ns(static_cast<double>(timeline.timed_ns)) + " timed"},
      {"timeline", format_plural(timeline.spans, "span") + ", " + format_count(timeline.lost) + " lost"},
  };
  if (timeline.withheld) rows.push_back({"withheld", *timeline.withheld});
  return base::columns(rows);
}

std::string crossings(const Timeline& timeline) {
  auto row = [&](const char* what, uint64_t count) -> Row {
    return {what, format_amount(per_unit(count, timeline)), format_count(count)};
  };
  auto of = [&](SpanKind kind) { return timeline.crossings[static_cast<size_t>(kind)]; };
  return base::columns({{"there and back", "per unit", "in all"},
                        row("host to guest", of(SpanKind::Invocation) + of(SpanKind::Reentry)),
                        row("guest to host", of(SpanKind::HostCall)),
                        row("guest to runtime", of(SpanKind::Helper))},
                       {Left, Right, Right});
}

std::string measured(const Timeline& timeline) {
  std::vector<Row> rows = {
      {"kind", "count", "inclusive", "exclusive", "per unit", "share", "trapped", "name"}};
  for (const TimelineRow& row : timeline.rows) {
    rows.push_back(
        {std::string(spelling(row.kind)), format_count(row.count),
         format_ns(static_cast<double>(row.inclusive_ns)), format_ns(static_cast<double>(row.exclusive_ns)),
         format_ns(per_unit(row.exclusive_ns, timeline)), format_share(share(row.exclusive_ns, timeline)),
         row.trapped ? format_count(row.trapped) : "-", base::function_label(row.name)});
  }
  const uint64_t between_ns = timeline.timed_ns - timeline.outermost_ns;
  rows.push_back({"between", "", "", format_ns(static_cast<double>(between_ns)),
                  format_ns(per_unit(between_ns, timeline)), format_share(share(between_ns, timeline)), "",
                  "(the recorder, between spans)"});
  return base::columns(rows, {Left, Right, Right, Right, Right, Right, Right, Left}) +
         "elapsed time, not CPU time; inclusive: recursion counted once; exclusive: without the spans "
         "inside; "
         "per unit and share: of exclusive time\n";
}

std::string around(const Timeline& timeline) {
  std::vector<Row> rows = {{"outside the measured phase", "count", "elapsed"}};
  for (const TimelineRow& row : timeline.around) {
    rows.push_back({row.name, format_count(row.count), format_ns(static_cast<double>(row.inclusive_ns))});
  }
  return base::columns(rows, {Left, Right, Right});
}

}  // namespace

std::string to_text(const Timeline& timeline) {
  std::string text = header(timeline);
  if (timeline.withheld) return text;
  text += "\n" + crossings(timeline) + "\n" + measured(timeline);
  return timeline.around.empty() ? text : text + "\n" + around(timeline);
}

}  // namespace wago::diff
