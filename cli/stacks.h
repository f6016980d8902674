// Stacks with their costs, from a capture or from a file of folded stacks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "diff/call_tree.h"
#include "diff/evidence.h"

namespace wago::cli {

struct Stacks {
  std::string name;   // as the user named it
  std::string title;  // of a picture
  diff::CallTree tree;
  std::optional<uint64_t> work;  // see diff/hot_spots.h
  std::string work_unit;
  std::optional<diff::Evidence> contract;  // a capture's path and manifest, nothing else; files have none
};

// A directory is a capture, anything else a file. Errors (Usage): neither; a capture without samples.
base::Result<Stacks> read_stacks(const std::string& path);

}  // namespace wago::cli
