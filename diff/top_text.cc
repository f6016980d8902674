// Top for people.
#include "base/text.h"
#include "diff/quantity.h"
#include "diff/top.h"

namespace wago::diff {

namespace {

using Row = std::vector<std::string>;
using enum base::Align;

std::string header(const Top& top) {
  std::vector<Row> rows = {
      {"capture", base::printable(top.capture)},
      {"workload", base::printable(top.workload) + " (" + base::printable(top.module_name) + "), phase " +
                       top.measured_phase + ", mode " + top.mode + ", backend " + top.backend},
      {"revision", base::printable(top.revision) + " (" + top.dirty + ")"},
      {"machine", base::printable(top.machine)},
      {"settings", top.settings},
  };
  for (const std::string& note : top.notes) rows.push_back({"note", base::printable(note)});
  rows.push_back({"samples", top.samples});
  return base::columns(rows);
}

std::string phases(const Top& top) {
  std::vector<Row> rows = {{"phase", "elapsed", "timed", "work", "per unit", ""}};
  for (const PhaseTime& phase : top.phases) {
    std::string per_unit = phase.completed_work == 0
                               ? "-"
                               : format_ns(static_cast<double>(phase.timed_ns.value_or(phase.elapsed_ns)) /
                                           static_cast<double>(phase.completed_work));
    rows.push_back({phase.phase, format_ns(static_cast<double>(phase.elapsed_ns)),
                    phase.timed_ns ? format_ns(static_cast<double>(*phase.timed_ns)) : "-",
                    base::printable(format_work(phase.completed_work, phase.work_unit)), per_unit,
                    phase.measured ? "measured" : ""});
  }
  return base::columns(rows, {Left, Right, Right, Right, Right, Left}) +
         "timed: inside the timed windows, without what the recorder does between them; per unit: of that "
         "where there is one\n";
}

Row time_row(const char* name, const Summary& summary) {
  if (summary.n == 0) return {name, "-", "-", "-", "-", "0"};
  return {name,
          format_ns(summary.median),
          summary.n == 1 ? "-" : format_share(summary.relative_spread()),
          format_ns(summary.min),
          format_ns(summary.max),
          format_count(summary.n)};
}

std::string iterations(const Top& top) {
  const Elapsed& elapsed = top.elapsed;
  std::string text = format_plural(elapsed.iterations, "iteration") + " after " +
                     format_count(top.warmup_iterations) + " of warm-up, " +
                     format_plural(elapsed.completed_work, elapsed.unit) + ", " +
                     format_ns(elapsed.total_ns) + " each\n";
  std::vector<Row> rows = {{"per " + elapsed.unit, "median", "spread", "min", "max", "n"}};
  rows.push_back(time_row("wall", elapsed.wall_ns));
  if (elapsed.cpu_ns) rows.push_back(time_row("thread CPU", *elapsed.cpu_ns));
  text += base::columns(rows, {Left, Right, Right, Right, Right, Right});
  text += "spread: interquartile range over the median; n: timed batches of iterations\n";
  if (top.items_per_second > 0) text += "items  " + format_rate(top.items_per_second) + "\n";
  if (top.bytes_per_second > 0) text += "bytes  " + format_rate(top.bytes_per_second, "B") + "\n";
  return text;
}

std::string functions(const Top& top) {
  std::string text = "static compiler data, not hot spots: " + format_plural(top.function_count, "function") +
                     ", " + format_plural(top.code_bytes, "byte") + " of machine code, largest first\n";
  std::vector<Row> rows = {{"bytes", "wasm", "instructions", "spills", "reloads", "checks", "calls",
                            "helpers", "frame", "function"}};
  for (const StaticFunction& function : top.functions) {
    const capture::FunctionStatistics& s = function.statistics;
    rows.push_back({format_count(function.bytes), format_count(function.wasm_bytes),
                    format_count(s.machine_instructions), format_count(s.spills), format_count(s.reloads),
                    format_count(s.bounds_checks), format_count(uint64_t{s.calls} + s.indirect_calls),
                    format_count(s.helper_calls), format_count(s.frame_bytes),
                    base::function_label(function.name) + " " + base::printable(function.signature)});
  }
  text += base::columns(rows, {Right, Right, Right, Right, Right, Right, Right, Right, Right, Left});
  if (top.function_count > top.functions.size()) {
    text += "and " + format_count(top.function_count - top.functions.size()) + " more; --limit lists more\n";
  }
  return text;
}

}  // namespace

std::string to_text(const Top& top) {
  return header(top) + "\n" + phases(top) + "\n" + iterations(top) + "\n" + functions(top);
}

}  // namespace wago::diff
