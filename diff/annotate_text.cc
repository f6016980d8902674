// Annotation for people.
#include <algorithm>
#include <cstdio>

#include "base/text.h"
#include "diff/annotate.h"
#include "diff/hot_spots.h"
#include "diff/quantity.h"

namespace wago::diff {

namespace {

using Row = std::vector<std::string>;
using enum base::Align;

constexpr size_t kListed = 40;
constexpr size_t kSourceColumns = 100;

// Of a path of any length the end, where the file's name is.
std::string clipped(const std::string& path) {
  constexpr size_t kLongestPath = 160;
  return path.size() <= kLongestPath ? path : "..." + path.substr(path.size() - kLongestPath);
}

std::string file_text(const std::string& file) {
  return base::display(clipped(file));
}

std::string first_few(const std::vector<std::string>& words) {
  constexpr size_t kFew = 4;
  std::string text;
  for (size_t i = 0; i < std::min(words.size(), kFew); ++i) text += (i == 0 ? "" : ", ") + words[i];
  return words.size() <= kFew ? text : text + " and " + format_count(words.size() - kFew) + " more";
}

std::string hexadecimal(uint32_t number) {
  char buffer[16];
  std::snprintf(buffer, sizeof buffer, "%x", number);
  return buffer;
}

std::string cost_text(const Annotation& a, uint64_t weight) {
  std::string text =
      format_weight(static_cast<double>(weight) / static_cast<double>(a.work.value_or(1)), a.unit);
  if (a.work) text += " per " + a.work_unit;
  return text + ", " + format_share(share_of(weight, a.all_weight)) + " of all";
}

// "202 machine instructions per invocation by its own code, with what was inlined into it; 102 wasm
// instructions of its body, wherever it is"
std::string counts_text(const Annotation& a) {
  const AnnotatedCounts& counts = a.counts;
  if (counts.machine_instructions == 0 && counts.wasm_instructions == 0) return "nothing of it";
  const auto amount = [&](uint64_t count, const std::string& noun) {
    const std::string number = format_quotient(count, std::max<uint64_t>(a.work.value_or(1), 1));
    return number + " " + noun + (number == "1" ? "" : "s");
  };
  const std::string per = a.work ? " per " + a.work_unit : "";
  const std::string body = amount(counts.wasm_instructions, "wasm instruction");
  if (counts.machine_instructions == 0) return body + per + " where it was inlined; its own code did not run";
  return amount(counts.machine_instructions, "machine instruction") + per +
         " of its own code, with what was inlined into it; " + body + " of its body, wherever that is";
}

std::string statistics_text(const capture::FunctionStatistics& statistics) {
  std::string text;
  for (const capture::StatisticField& field : capture::statistic_fields()) {
    const uint32_t value = statistics.*field.member;
    if (value == 0) continue;
    std::string name(field.name);
    for (char& c : name) c = c == '_' ? ' ' : c;
    if (value == 1 && name.ends_with('s')) name.pop_back();
    text += (text.empty() ? "" : ", ") + format_count(value) + " " + name;
  }
  return text.empty() ? "none" : text;
}

std::string joined_labels(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kListed); ++i) {
    text += (i == 0 ? "" : ", ") + base::function_label(names[i]);
  }
  if (names.size() > kListed) text += " and " + format_count(names.size() - kListed) + " more";
  return text;
}

void add_head(const Annotation& a, std::vector<Row>& rows) {
  rows.push_back({"function", base::function_label(a.name) + " " + base::printable(a.signature) + ", index " +
                                  std::to_string(a.index) + " of " + base::printable(a.module_name)});
  rows.push_back({"capture", base::display(a.capture) + ", workload " + base::printable(a.workload)});
  rows.push_back({"code", format_plural(a.bytes, "byte") + " of machine code at 0x" + hexadecimal(a.begin) +
                              " of " + format_plural(a.wasm_bytes, "byte") + " of wasm"});
  rows.push_back({"static", statistics_text(a.statistics)});
  if (const auto& origin = a.decided.origin) {
    rows.push_back({"built", format_plural(origin->built_instructions, "ir instruction") + " of its body, " +
                                 format_count(origin->placed_instructions) + " of inlined ones"});
  }
  if (!a.decided.instructions.empty()) rows.push_back({"decided", to_text(a.decided)});
  if (a.counted) rows.push_back({"executed", counts_text(a)});
  if (a.unit.empty()) {
    rows.push_back({"samples", a.unsampled ? kNotOneSample : "none are available"});
  } else {
    rows.push_back({"self", cost_text(a, a.self) + ", " + format_plural(a.samples, "sample") +
                                ", in its own machine code with what was inlined into it"});
    rows.push_back({"total", cost_text(a, a.total) + ", with what it called"});
  }
  if (!a.inlined_into.empty()) {
    rows.push_back({"inlined", "into " + joined_labels(a.inlined_into) +
                                   (a.unit.empty() ? "" : "; self there " + cost_text(a, a.elsewhere))});
  }
  // Which file is shown for which, where its name alone does not say so.
  std::vector<std::string> taken, missing;
  for (const FoundSource& found : a.found_sources) {
    if (found.path != found.file) taken.push_back(file_text(found.path) + " for " + file_text(found.file));
  }
  for (const std::string& file : a.missing_sources) missing.push_back(file_text(file));
  if (!taken.empty()) rows.push_back({"sources", first_few(taken)});
  if (!missing.empty()) {
    rows.push_back({"sources", "not found, or not for sure: " + first_few(missing) +
                                   "; --sources DIR says where they lie"});
  }
  if (!a.has_code) rows.push_back({"assembly", "not in the capture; --include-code keeps it when recording"});
}

std::string inlined_calls(const Annotation& a) {
  std::string text;
  for (size_t i = 0; i < std::min(a.inlined.size(), kListed); ++i) {
    const InlinedCall& call = a.inlined[i];
    text += (i == 0 ? "inlined here  " : "              ") + std::string(2 * std::min(call.depth, 20u), ' ') +
            base::function_label(call.name) + ", called at " + std::to_string(call.call_pc) + "\n";
  }
  if (a.inlined.size() > kListed) {
    text += "              and " + format_count(a.inlined.size() - kListed) + " more; --json lists all\n";
  }
  return text;
}

std::string assembly_text(const AnnotatedRow& row) {
  std::string text = base::printable(row.assembly);
  if (!row.target.empty()) text += " <" + base::function_label(row.target) + ">";
  return text;
}

// "2 i32.load", of inlined code "inner+2 i32.add < 5": the callee's instruction, then the calls it is in.
std::string wasm_text(const Annotation& a, const AnnotatedRow& row) {
  if (row.places.empty() || row.places.front().wasm_pc == capture::kNone) return {};
  std::string text;
  if (row.places.size() > 1) {
    std::string callee = "func[" + std::to_string(row.places.front().function) + "]";
    for (const InlinedCall& call : a.inlined) {
      if (call.callee == row.places.front().function) callee = base::function_label(call.name);
    }
    text = callee + "+";
  }
  text += std::to_string(row.places.front().wasm_pc);
  if (!row.wasm.empty()) text += " " + base::printable(row.wasm);
  for (size_t i = 1; i < row.places.size(); ++i) text += " < " + std::to_string(row.places[i].wasm_pc);
  return text;
}

std::string source_text(const AnnotatedRow& row) {
  std::string text;
  for (const SourceLine& place : row.source) {
    text += (text.empty() ? "" : " < ") + base::printable(clipped(to_string(place)));
  }
  if (row.source_text) {
    std::string line = *row.source_text;
    line.erase(0, line.find_first_not_of(" \t"));
    if (line.size() > kSourceColumns) line = line.substr(0, kSourceColumns) + "...";
    text += "  " + base::printable(line);
  }
  return text;
}

// A row's part of what the function cost, by samples, else by executions.
double heat(const Annotation& a, const AnnotatedRow& row, uint64_t all_executed) {
  if (!a.unit.empty()) return share_of(row.self, a.self);
  return row.executed ? share_of(*row.executed, all_executed) : 0;
}

std::string painted_line(std::string_view line, double heat, bool colour) {
  constexpr double kHot = 0.1;
  constexpr double kWarm = 0.02;
  if (heat < kWarm) return std::string(line);
  return base::painted(line, heat < kHot ? base::Paint::Doubtful : base::Paint::Bad, colour);
}

std::string body(const Annotation& a, bool colour) {
  std::vector<Row> rows = {{}};
  std::vector<base::Align> alignment;
  auto column = [&](const char* title, base::Align align) {
    rows[0].push_back(title);
    alignment.push_back(align);
  };
  uint64_t all_executed = 0;
  for (const AnnotatedRow& row : a.rows) all_executed += row.executed.value_or(0);
  if (!a.unit.empty()) {
    column("share", Right);
    column("samples", Right);
  }
  if (a.counted) column("executed", Right);
  column("offset", Right);
  if (a.has_code) column("machine code", Left);
  column("wasm", Left);
  column("site", Left);
  const bool decides = std::any_of(a.rows.begin(), a.rows.end(), [&](const AnnotatedRow& row) {
    return !row_text(a.decided, row).empty();
  });
  if (decides) column("decided", Left);
  column("source", Left);
  std::string last_wasm, last_source;
  for (const AnnotatedRow& row : a.rows) {
    Row cells;
    if (!a.unit.empty()) {
      cells.push_back(row.samples == 0 ? "" : format_share(share_of(row.self, a.self)));
      cells.push_back(row.samples == 0 ? "" : format_count(row.samples));
    }
    if (a.counted) cells.push_back(row.executed ? format_count(*row.executed) : "");
    cells.push_back(hexadecimal(row.offset));
    if (a.has_code) cells.push_back(assembly_text(row));
    // What is as in the row above is left out.
    std::string wasm = wasm_text(a, row);
    std::string source = source_text(row);
    cells.push_back(wasm == last_wasm ? "" : wasm);
    cells.push_back(row.site ? std::string(capture::spelling(*row.site)) : "");
    if (decides) cells.push_back(row_text(a.decided, row));
    cells.push_back(source == last_source ? "" : source);
    last_wasm = std::move(wasm);
    last_source = std::move(source);
    rows.push_back(std::move(cells));
  }
  const std::string plain = base::columns(rows, alignment);
  std::string text;
  size_t begin = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const size_t end = plain.find('\n', begin);
    const std::string_view line = std::string_view(plain).substr(begin, end - begin);
    text += (i == 0 ? std::string(line) : painted_line(line, heat(a, a.rows[i - 1], all_executed), colour)) +
            "\n";
    begin = end + 1;
  }
  if (a.counted) text += "executed: in the whole measured phase\n";
  return text;
}

}  // namespace

std::string to_text(const Annotation& a, bool colour) {
  std::vector<Row> rows;
  add_head(a, rows);
  std::string text = base::columns(rows) + inlined_calls(a) + "\n";
  if (a.rows.empty()) {
    return text +
           "nothing is known of single instructions: record with --source-maps, --include-code, or a backend "
           "that "
           "samples or counts\n";
  }
  return text + body(a, colour);
}

}  // namespace wago::diff
