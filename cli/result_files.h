// Files of other tools' results on a command line, where captures and experiments, which are directories, may
// stand as well.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "diff/unpaired.h"

namespace wago::cli {

// Whether all of them are such files; an error where only some are.
base::Result<bool> are_result_files(const std::vector<std::string>& baseline,
                                    const std::vector<std::string>& candidate);

base::Result<diff::UnpairedReport> compare_result_files(const std::vector<std::string>& baseline,
                                                        const std::vector<std::string>& candidate);

}  // namespace wago::cli
