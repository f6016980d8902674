// What this build was made from, baked in by cmake/WagoBuildInfo.cmake whenever the program is built.
#pragma once

#include <string>

namespace wago::base {

enum class Dirty : unsigned char { Clean, Dirty, Unknown };

struct BuildInfo {
  std::string version;   // "0.1.0"
  std::string revision;  // full commit hash, or "unknown": built outside a repository, or git was not there
  Dirty dirty = Dirty::Unknown;  // of tracked files, and untracked ones that are not ignored
  std::string compiler;          // "GNU 12.2.0"
  std::string build_type;
  bool sanitized = false;
};

const BuildInfo& build_info();
// "clean", "dirty", "unknown"
const char* to_string(Dirty dirty);

}  // namespace wago::base
