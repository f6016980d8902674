#include "cli/result_files.h"

#include "base/files.h"
#include "base/text.h"

namespace wago::cli {

base::Result<bool> are_result_files(const std::vector<std::string>& baseline,
                                    const std::vector<std::string>& candidate) {
  base::Files& files = base::system_files();
  const std::string *file = nullptr, *directory = nullptr;
  for (const auto* side : {&baseline, &candidate}) {
    for (const std::string& path : *side) {
      // What is not there is what captures' readers say something about.
      (files.exists(path) && !files.is_directory(path) ? file : directory) = &path;
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

}  // namespace wago::cli
