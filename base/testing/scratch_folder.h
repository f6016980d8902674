// A folder for the files of a test or a benchmark: empty, the caller's alone, and gone with the object,
// whatever is in it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/check.h"
#include "base/files.h"

namespace wago::base::testing {

class ScratchFolder {
 public:
  ScratchFolder() : path_((std::filesystem::temp_directory_path() / "wago_XXXXXX").string()) {
    WAGO_CHECK_MSG(::mkdtemp(path_.data()) != nullptr, path_.c_str());
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all, ignored);
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return join_path(path_, name); }

 private:
  std::string path_;
};

}  // namespace wago::base::testing
