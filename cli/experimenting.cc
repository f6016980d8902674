#include "cli/experimenting.h"

#include <unistd.h>

#include "base/duration.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/flags.h"
#include "cli/output.h"
#include "cli/sequential_looks.h"
#include "cli/status_line.h"
#include "diff/quantity.h"

namespace wago::cli::profile {

namespace {

constexpr uint64_t kDefaultBudgetNs = 150'000'000'000;
constexpr uint64_t kMaxPairs = 10'000;

std::string said(const harness::ExperimentProgress& progress) {
  std::string text = progress.doing;
  if (progress.wanted_pairs > 0) {
    text += ", " + diff::format_count(progress.pairs) + " of " +
            diff::format_plural(progress.wanted_pairs, "pair");
  }
  text += ", " + diff::format_ns(static_cast<double>(progress.elapsed_ns));
  if (progress.budget_ns > 0) text += " of " + base::format_duration(progress.budget_ns);
  return text;
}

}  // namespace

base::Result<Amount> amount_of(const AmountFlags& flags, const diff::ReadSettings& settings) {
  Amount amount;
  if (flags.pairs) {
    auto pairs = parse_number("--pairs", *flags.pairs, 1, kMaxPairs);
    if (!pairs) return pairs.error();
    amount.rule = std::make_unique<harness::FixedPairs>(*pairs);
  } else {
    amount.rule = std::make_unique<SequentialLooks>(settings);
  }
  if (flags.budget) {
    auto budget = base::parse_duration_ns(*flags.budget);
    if (!budget) return in_flag("--budget", budget.error());
    amount.budget_ns = *budget;
  } else if (!flags.pairs) {
    amount.budget_ns = kDefaultBudgetNs;
  }
  return amount;
}

harness::ExperimentOutcome experiment_with_progress(harness::ExperimentRequest request,
                                                    harness::StoppingRule& rule, Output& output) {
  StatusLine line(!output.json() && isatty(STDERR_FILENO) == 1);
  request.on_progress = [&](const harness::ExperimentProgress& now) {
    if (line.shown()) line.show(said(now));
  };
  request.on_note = [&](const std::string& sentence) {
    line.clear();
    output.note(sentence);
  };
  harness::ExperimentOutcome outcome = harness::run_experiment(request, rule);
  line.clear();
  return outcome;
}

int fail_experiment(const harness::ExperimentOutcome& outcome, const std::string& out, Output& output) {
  std::string lines;
  base::Json members = base::Json::object();
  // What is refused was not begun.
  if (outcome.created && outcome.error->kind != base::ErrorKind::Usage) {
    lines = "  " + diff::format_plural(outcome.pairs, "pair") + " kept in " + base::display(out) +
            "; the same command continues\n";
    members.set("experiment", out).set("pairs", outcome.pairs);
  }
  const int code = output.fail(*outcome.error, lines, members);
  return ended_by(outcome.interrupted_by, code);
}

}  // namespace wago::cli::profile
