// What a comparison that CTest ran leaves in its run for the report that follows it: which experiments there
// are, and how they are read, or which captures. RUN/NAME/comparison.json.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/verdict_flags.h"

namespace wago::cli::profile {

struct ComparedExperiment {
  std::string name;  // of its report
  std::string path;
};

// What did not run together: captures that were kept, and those of the run.
struct ComparedCaptures {
  std::string name;  // of its report
  std::vector<std::string> baseline, candidate;
};

struct TestComparison {
  std::string name;
  std::vector<ComparedExperiment> experiments;
  std::vector<ComparedCaptures> captures;
  VerdictFlags verdicts;  // as they were given
};

// Replaces that of an earlier comparison of this name in the run, in one step.
base::Result<void> keep(const TestComparison& comparison, const std::string& run);
// Nothing: the comparison was skipped, or did not come so far.
base::Result<std::optional<TestComparison>> find_comparison(const std::string& name, const std::string& run);

}  // namespace wago::cli::profile
