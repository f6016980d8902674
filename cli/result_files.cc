#include "cli/result_files.h"

#include "base/files.h"
#include "base/text.h"
#include "base/vocabulary.h"
#include "cli/disassemble.h"
#include "diff/compare.h"
#include "diff/evidence.h"

namespace wago::cli {

base::Result<bool> are_result_files(const std::vector<std::string>& baseline,
                                    const std::vector<std::string>& candidate) {
  base::Files& files = base::system_files();
  const std::string *file = nullptr, *directory = nullptr;
  for (const auto* side : {&baseline, &candidate}) {
    for (const std::string& path : *side) {
      if (!files.exists(path)) {
        return base::usage_error("there is no such capture or file of results", {.file = path});
      }
      (files.is_directory(path) ? directory : file) = &path;
    }
  }
  if (file && directory) {
    return base::usage_error("a capture and another tool's results cannot be compared: " +
                             base::display(*directory) + " and " + base::display(*file));
  }
  return file != nullptr;
}

base::Result<diff::UnpairedReport> compare_result_files(const std::vector<std::string>& baseline,
                                                        const std::vector<std::string>& candidate) {
  auto left = diff::load_results(baseline);
  if (!left) return left.error();
  auto right = diff::load_results(candidate);
  if (!right) return right.error();
  return diff::compare_results(*left, *right);
}

base::Result<diff::UnpairedReport> compare_capture_sets(const std::vector<std::string>& baseline_paths,
                                                        const std::vector<std::string>& candidate_paths) {
  auto baseline = diff::load_all(baseline_paths);
  if (!baseline) return baseline.error();
  auto candidate = diff::load_all(candidate_paths);
  if (!candidate) return candidate.error();
  auto comparison = diff::compare(*baseline, *candidate, disassembler());
  if (!comparison) return comparison.error();
  if (!comparison->contract.empty()) {
    std::vector<std::string_view> fields;
    for (const diff::ContractDifference& difference : comparison->contract)
      fields.push_back(difference.field);
    return base::usage_error("these captures cannot be compared: their measurement contracts differ in " +
                             base::join_some(fields) + "; `profile diff` shows both values");
  }
  return diff::compare_captures(std::move(*comparison), baseline_paths, candidate_paths);
}

}  // namespace wago::cli
