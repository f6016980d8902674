// A new directory, gone with everything in it when this object is.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/check.h"
#include "base/files.h"

namespace wago::harness::bench {

class ScratchFolder {
 public:
  ScratchFolder() : path_((std::filesystem::temp_directory_path() / "wago_figures_XXXXXX").string()) {
    WAGO_CHECK_MSG(::mkdtemp(path_.data()) != nullptr, path_.c_str());
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return base::join_path(path_, name); }

 private:
  std::string path_;
};

}  // namespace wago::harness::bench
