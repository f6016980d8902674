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

// Of a unit of work where the samples can be spread over it.
std::string weight_text(const Top& top, uint64_t weight) {
  return format_weight(static_cast<double>(weight) / static_cast<double>(top.work_behind_samples.value_or(1)),
                       top.hot_spots->unit);
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

// Of all five, always: what is zero is said too.
std::string kinds(const Top& top, const std::string& per) {
  const HotSpots& spots = *top.hot_spots;
  std::vector<Row> rows = {{"kind", per, "share", "samples"}};
  for (size_t side = 0; side < kSides; ++side) {
    rows.push_back({std::string(capture::spelling(static_cast<capture::Side>(side))),
                    weight_text(top, spots.by_side[side]),
                    format_share(share_of(spots.by_side[side], spots.weight)),
                    format_count(spots.samples_by_side[side])});
  }
  return base::columns(rows, {Left, Right, Right, Right});
}

std::string label_text(const Label& label, Grouping grouping) {
  std::string text = base::function_label(label.name);
  if (label.detail.empty()) return text;
  if (grouping == Grouping::Line && label.side == capture::Side::Guest) {
    return text + "  " + base::function_label(label.detail);
  }
  return text + (label.side == capture::Side::Guest ? " " + base::printable(label.detail)
                                                    : " [" + base::printable(label.detail) + "]");
}

std::string hot_spots(const Top& top) {
  const HotSpots& spots = *top.hot_spots;
  const std::string per = top.work_behind_samples ? "per " + top.elapsed.unit : "in all";
  std::string text = kinds(top, per) + "\n";
  std::vector<Row> rows = {{"self", "share", "total", "share", "samples", "kind",
                            std::string(grouping_words()[static_cast<size_t>(spots.grouping)])}};
  for (const HotSpot& spot : spots.rows) {
    rows.push_back({weight_text(top, spot.self), format_share(share_of(spot.self, spots.weight)),
                    weight_text(top, spot.total), format_share(share_of(spot.total, spots.weight)),
                    format_count(spot.samples), std::string(capture::spelling(spot.label.side)),
                    label_text(spot.label, spots.grouping)});
  }
  text += base::columns(rows, {Right, Right, Right, Right, Right, Left, Left});
  if (top.hot_spot_count > spots.rows.size()) {
    text += "and " + format_count(top.hot_spot_count - spots.rows.size()) + " more; --limit lists more\n";
  }
  return text + "self and total " + per +
         "; total: with all that it called, recursion counted once; samples: those of self\n";
}

std::string count_text(const Top& top, uint64_t count) {
  return format_quotient(count, top.work.value_or(1));
}

std::string executed(const Top& top) {
  const Executed& all = *top.executed;
  const bool functions = all.grouping == Grouping::Function;
  const std::string per = top.work ? "per " + top.elapsed.unit : "in all";
  std::string text = "executed " + per + ", exactly: " + count_text(top, all.machine) +
                     " machine instructions of the code without counters, " + count_text(top, all.wasm) +
                     " wasm instructions\n";
  std::vector<Row> rows = {{"machine", "share"}};
  if (functions) rows[0].insert(rows[0].end(), {"wasm", "share", "entered"});
  rows[0].emplace_back(grouping_words()[static_cast<size_t>(all.grouping)]);
  for (const ExecutedRow& row : all.rows) {
    Row cells = {count_text(top, row.machine), format_share(share_of(row.machine, all.machine))};
    if (functions) {
      cells.insert(cells.end(), {count_text(top, row.wasm), format_share(share_of(row.wasm, all.wasm)),
                                 count_text(top, row.entered)});
    }
    cells.push_back(label_text(row.label, all.grouping));
    rows.push_back(std::move(cells));
  }
  text += functions ? base::columns(rows, {Right, Right, Right, Right, Right, Left})
                    : base::columns(rows, {Right, Right, Left});
  if (top.executed_count > all.rows.size()) {
    text += "and " + format_count(top.executed_count - all.rows.size()) + " more; --limit lists more\n";
  }
  return functions ? text +
                         "machine: of its own code, with what was inlined there; wasm: of its body, wherever "
                         "that was "
                         "placed\n"
                   : text;
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
  std::string body = top.hot_spots ? hot_spots(top) : "";
  if (top.executed) body += (body.empty() ? "" : "\n") + executed(top);
  return header(top) + "\n" + (body.empty() ? "" : body + "\n") + phases(top) + "\n" + iterations(top) +
         (body.empty() ? "\n" + functions(top) : "");
}

}  // namespace wago::diff
