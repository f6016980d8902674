// Two sides that did not run together on a command line: files of other tools' results, or captures, which
// are directories.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "diff/unpaired.h"

namespace wago::cli {

// Whether all of them are such files; an error where only some are, or one is not there.
base::Result<bool> are_result_files(const std::vector<std::string>& baseline,
                                    const std::vector<std::string>& candidate);

base::Result<diff::UnpairedReport> compare_result_files(const std::vector<std::string>& baseline,
                                                        const std::vector<std::string>& candidate);

// Of captures, whose measurement contracts must agree, or nothing is said of them (Usage).
base::Result<diff::UnpairedReport> compare_capture_sets(const std::vector<std::string>& baseline,
                                                        const std::vector<std::string>& candidate);

}  // namespace wago::cli
