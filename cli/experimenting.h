// Experiments from a command: how much is measured, progress on a terminal, and dying of the signal that
// interrupted it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "diff/floor.h"
#include "harness/experiment.h"

namespace wago::cli {
class Output;
}

namespace wago::cli::profile {

struct AmountFlags {
  std::optional<std::string> budget, pairs;
};

struct Amount {
  std::unique_ptr<harness::StoppingRule> rule;
  uint64_t budget_ns = 0;  // 0: the rule alone decides
};

// Without pairs, looks are taken until there are verdicts when it is read so, or the budget is spent.
base::Result<Amount> amount_of(const AmountFlags& flags, const diff::ReadSettings& settings);

// As harness::run_experiment(), with a line of progress on standard error where that is a terminal, and
// remarks there.
harness::ExperimentOutcome experiment_with_progress(harness::ExperimentRequest request,
                                                    harness::StoppingRule& rule, Output& output);

// Reports an experiment that was not completed, with what is kept of it; returns its exit code, or dies of
// the signal that interrupted it, as a shell expects.
int fail_experiment(const harness::ExperimentOutcome& outcome, const std::string& out, Output& output);

}  // namespace wago::cli::profile
