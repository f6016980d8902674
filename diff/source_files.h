// Lines of the sources that a capture names, where they can be read on this machine.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"

namespace wago::diff {

class SourceFiles {
 public:
  explicit SourceFiles(base::Files& files = base::system_files()) : files_(files) {}

  // Without its line end; nothing: the file cannot be read, is too large, or has no such line (from 1).
  std::optional<std::string> line(std::string_view file, uint32_t line);
  // Files that were asked for and could not be read, in order of their names.
  std::vector<std::string> missing() const;

 private:
  const std::optional<std::vector<std::string>>& lines_of(std::string_view file);

  base::Files& files_;
  std::map<std::string, std::optional<std::vector<std::string>>, std::less<>> lines_;
};

}  // namespace wago::diff
