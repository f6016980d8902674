// Explanations for people.
#include <algorithm>

#include "base/text.h"
#include "diff/explanation.h"
#include "diff/quantity.h"

namespace wago::diff {

namespace {

constexpr size_t kListedFunctions = 10;
constexpr size_t kListedInstructions = 12;

void append_head(std::string& text, const Explanation& about) {
  const auto captures = [](const std::array<std::string, 2>& paths) {
    return paths[0].empty() ? "none" : base::display(paths[0]) + ", " + base::display(paths[1]);
  };
  const WorkloadFinding& found = about.reported.found;
  std::string finding = finding_text(found);
  if (found.finding == Finding::Failed) finding += ": " + base::printable(found.reason);
  if (found.pairs > 0) {
    finding += ", " + change_text(found) + " CPU time per iteration, " + format_plural(found.pairs, "pair");
  }
  text += base::columns({{"experiment", base::display(about.report.path)},
                         {"workload", base::display(about.workload().id)},
                         {"baseline", side_text(about.report.experiment.sides[0])},
                         {"candidate", side_text(about.report.experiment.sides[1])},
                         {"finding", finding},
                         {"exact", captures(about.exact)},
                         {"sampled", captures(about.sampled)}});
  for (const std::string& sentence : about.report.findings.invalid) {
    text += "nothing is claimed: " + base::printable(sentence) + "\n";
  }
}

// What of a function differs, in words.
std::string differences_of(const ExplainedFunction& function, const Explanation& about) {
  std::string text;
  auto add = [&](const std::string& words) { text += (text.empty() ? "" : "; ") + words; };
  if (function.code) {
    add(std::string("machine code ") + to_string(function.code->fate) + ", " + sizes_text(*function.code));
  } else if (about.code) {
    add("the same machine code");
  }
  if (function.counts) {
    const bool own = about.counts->differs(function.counts->machine);
    const CountPair& executed = own ? function.counts->machine : function.counts->wasm;
    add(format_quotient(executed.candidate, about.counts->candidate_work) + (own ? " machine" : " wasm") +
        " instructions per " + about.counts->work_unit + " instead of " +
        format_quotient(executed.baseline, about.counts->baseline_work));
    if (!function.counts->own_code_ran() && !function.counts->inlined_into.empty())
      add(not_run_text(function.counts->inlined_into));
  }
  if (function.cost) {
    const auto amount = [&](double value) {
      return about.costs->per_work ? format_weight(value, about.costs->unit) : format_share(value);
    };
    add(amount(function.cost->candidate.self) + " instead of " + amount(function.cost->baseline.self) +
        " by samples");
  }
  return text;
}

void append_function(std::string& text, const ExplainedFunction& function, const Explanation& about,
                     const ExplanationShown& shown) {
  text += "\n" + base::function_label(function.name) + " " + base::printable(function.signature);
  if (function.part > 0) text += ", a change of " + format_share(function.part) + " of all";
  text += "\n  " + differences_of(function, about) + "\n";
  if (!function.instructions) return;
  const SideBySide& both = *function.instructions;
  if (shown.assembly) {
    text += to_text(both, shown.colour);
    return;
  }
  std::vector<AlignedRow> rows = differing_rows(both);
  const size_t unlisted = rows.size() - std::min(rows.size(), kListedInstructions);
  rows.resize(rows.size() - unlisted);
  if (!rows.empty()) text += rows_text(both, rows, shown.colour);
  if (unlisted > 0) {
    text += "and " + format_plural(unlisted, "more instruction") + "; --assembly shows both sides\n";
  }
}

void append_functions(std::string& text, const Explanation& about, const ExplanationShown& shown) {
  if (about.functions.empty()) {
    if (about.code) text += "\nno function differs\n";
    return;
  }
  text += "\nfunctions  that differ, most costly first\n";
  for (size_t i = 0; i < std::min(about.functions.size(), kListedFunctions); ++i) {
    append_function(text, about.functions[i], about, shown);
  }
  if (about.functions.size() > kListedFunctions) {
    text += "\nand " + format_count(about.functions.size() - kListedFunctions) + " more; --json lists all\n";
  }
}

}  // namespace

std::string to_text(const Explanation& explanation, const ExplanationShown& shown) {
  std::string text;
  append_head(text, explanation);
  if (explanation.code) text += "\n" + to_text(*explanation.code);
  if (explanation.counts) text += "\n" + to_text(*explanation.counts);
  if (explanation.costs) text += "\n" + to_text(*explanation.costs, shown.colour);
  append_functions(text, explanation, shown);
  if (!explanation.remarks.empty()) text += "\n";
  for (const std::string& sentence : explanation.remarks) text += base::printable(sentence) + "\n";
  if (explanation.can_say_more) {
    text += "to record more: " + recording_command(explanation.report, explanation.reported) + "\n";
  }
  return text;
}

}  // namespace wago::diff
