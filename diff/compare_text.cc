// Comparison for people.
#include <cmath>

#include "base/text.h"
#include "diff/compare.h"
#include "diff/quantity.h"

namespace wago::diff {

namespace {

constexpr size_t kListedFunctions = 40;
constexpr size_t kListedCaptures = 8;

using Row = std::vector<std::string>;

std::string short_hash(const std::string& hash) {
  return hash.substr(0, 12);
}

void add_captures(std::vector<Row>& rows, const char* title, const ComparedSide& side) {
  for (size_t i = 0; i < std::min(side.captures.size(), kListedCaptures); ++i) {
    const CaptureSummary& capture = side.captures[i];
    rows.push_back({i == 0 ? title : "", base::display(capture.path),
                    "revision " + base::printable(short_hash(capture.revision)) + " (" + capture.dirty + ")",
                    format_plural(capture.elapsed.iterations, "iteration"),
                    "code " + base::printable(short_hash(side.code_sha256))});
  }
  if (side.captures.size() > kListedCaptures) {
    rows.push_back({"", "and " + format_count(side.captures.size() - kListedCaptures) + " more"});
  }
}

std::string figure(const Summary& summary) {
  return summary.n == 0 ? "-" : format_ns(summary.median);
}

// How sure a figure is of itself: iterations within one capture, or captures within a side.
std::string certainty(const ComparedSide& side, const Summary& between, const Summary* within) {
  if (between.n > 1) {
    double range = between.median == 0 ? 0 : (between.max - between.min) / between.median;
    return format_plural(side.captures.size(), "capture") + ", range " + format_share(range);
  }
  if (!within || within->n == 0) return "";
  std::string n = "n " + format_count(within->n);
  return within->n == 1 ? n : n + ", spread " + format_share(within->relative_spread());
}

std::string change_text(const std::optional<double>& change) {
  return change ? format_change(*change) : "-";
}

const Summary* own_cpu(const ComparedSide& side) {
  const auto& cpu = side.captures.front().elapsed.cpu_ns;
  return cpu ? &*cpu : nullptr;
}

void append_times(std::string& text, const WorkloadComparison& workload) {
  const ComparedSide& a = workload.baseline;
  const ComparedSide& b = workload.candidate;
  std::vector<Row> rows;
  rows.push_back({"per " + workload.unit, "baseline", "", "candidate", "", "change, unpaired"});
  rows.push_back({"elapsed", figure(a.elapsed_ns), certainty(a, a.elapsed_ns, nullptr), figure(b.elapsed_ns),
                  certainty(b, b.elapsed_ns, nullptr), change_text(workload.elapsed_change)});
  rows.push_back({"wall median", figure(a.wall_ns),
                  certainty(a, a.wall_ns, &a.captures.front().elapsed.wall_ns), figure(b.wall_ns),
                  certainty(b, b.wall_ns, &b.captures.front().elapsed.wall_ns),
                  change_text(workload.wall_change)});
  if (a.cpu_ns || b.cpu_ns) {
    Summary left = a.cpu_ns.value_or(Summary{});
    Summary right = b.cpu_ns.value_or(Summary{});
    rows.push_back({"cpu median", figure(left), certainty(a, left, own_cpu(a)), figure(right),
                    certainty(b, right, own_cpu(b)), change_text(workload.cpu_change)});
  }
  using enum base::Align;
  text += base::columns(rows, {Left, Right, Left, Right, Left, Right});
}

void append_workload(std::string& text, const WorkloadComparison& workload, bool colour) {
  text += "workload   " + base::printable(workload.workload) + ", phase " + workload.phase + "\n";
  std::vector<Row> captures;
  add_captures(captures, "baseline", workload.baseline);
  add_captures(captures, "candidate", workload.candidate);
  text += base::columns(captures) + "\n";
  append_times(text, workload);
  text += "\n";
  text += to_text(workload.code);
  if (workload.counts) text += "\n" + to_text(*workload.counts) + "\n";
  if (workload.costs) text += "\n" + to_text(*workload.costs, colour) + "\n";
  if (!workload.why_no_costs.empty()) text += "\nsamples    " + workload.why_no_costs + "\n\n";
  auto paint = workload.verdict == Verdict::SameCode ? base::Paint::Good : base::Paint::Doubtful;
  text += "verdict    " + base::painted(to_string(workload.verdict), paint, colour) + "\n";
  for (const std::string& reason : workload.reasons) text += "           " + base::printable(reason) + "\n";
}

void append_unmatched(std::string& text, const char* side, const std::vector<std::string>& workloads) {
  for (const std::string& workload : workloads) {
    text += "\nworkload   " + base::printable(workload) + ": only in the " + side + ", not compared\n";
  }
}

}  // namespace

std::string sizes_text(const FunctionDifference& function) {
  auto of = [](uint32_t bytes, uint32_t instructions) {
    return format_plural(bytes, "byte") + ", " + format_plural(instructions, "instruction");
  };
  switch (function.fate) {
    case FunctionFate::New:
      return of(function.candidate_bytes, function.candidate_instructions);
    case FunctionFate::Vanished:
      return of(function.baseline_bytes, function.baseline_instructions);
    case FunctionFate::Changed:
      break;
  }
  return of(function.baseline_bytes, function.baseline_instructions) + " -> " +
         of(function.candidate_bytes, function.candidate_instructions);
}

std::string to_text(const CodeComparison& code) {
  std::string text = "code       " + format_plural(code.functions_same, "function") + " the same, " +
                     format_count(code.count(FunctionFate::Changed)) + " changed, " +
                     format_count(code.count(FunctionFate::New)) + " new, " +
                     format_count(code.count(FunctionFate::Vanished)) + " vanished; adapters " +
                     (code.adapters_different == 0 ? "equal" : "different") + "; helpers " +
                     to_string(code.helpers) + "; modules " + (code.modules_equal ? "equal" : "different") +
                     "\n";
  std::vector<Row> rows;
  for (size_t i = 0; i < std::min(code.differences.size(), kListedFunctions); ++i) {
    const FunctionDifference& function = code.differences[i];
    rows.push_back({" ", to_string(function.fate),
                    base::function_label(function.name) + " " + base::printable(function.signature),
                    sizes_text(function) + (function.ran ? "" : "; " + not_run_text(function.inlined_into))});
  }
  text += base::columns(rows);
  if (code.differences.size() > kListedFunctions) {
    text +=
        "   and " + format_count(code.differences.size() - kListedFunctions) + " more; --json lists all\n";
  }
  return text;
}

std::string to_text(std::span<const ContractDifference> differences) {
  std::string text;
  for (const ContractDifference& entry : differences) {
    // Two hashes say nothing to people.
    if (entry.field == "contract_sha256") {
      text += "  contract_sha256: the workloads compute different things (" + base::display(entry.workload) +
              " in " + base::display(entry.capture) + ", " + base::display(entry.other_workload) + " in " +
              base::display(entry.other_capture) + "): init, exports, arguments or wanted results differ\n";
      continue;
    }
    text += "  " + std::string(entry.field) + ": " + base::display(entry.value) + " in " +
            base::display(entry.capture) + ", " + base::display(entry.other_value) + " in " +
            base::display(entry.other_capture) + "\n";
  }
  return text;
}

std::string to_text(const Comparison& comparison, bool colour) {
  std::string text;
  for (const WorkloadComparison& workload : comparison.workloads) {
    if (!text.empty()) text += "\n";
    append_workload(text, workload, colour);
  }
  append_unmatched(text, "baseline", comparison.baseline_only);
  append_unmatched(text, "candidate", comparison.candidate_only);
  return text;
}

}  // namespace wago::diff
