// Lines of the sources that a capture names, where they lie below one directory of this machine.
//
// A capture names sources as the guest's compiler did, often by a path of the machine that built the module.
// The file is the longest tail of that path that there is below the directory: /home/ci/project/src/parse.c
// is looked for as home/ci/project/src/parse.c, then as project/src/parse.c ... parse.c. So what a capture
// names makes nobody read anything elsewhere.
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
  explicit SourceFiles(std::string directory = ".", base::Files& files = base::system_files())
      : directory_(std::move(directory)), files_(files) {}

  // Without its line end; nothing: the file cannot be read, is too large (16 MiB), or has no such line (from
  // 1).
  std::optional<std::string> line(std::string_view file, uint32_t line);
  // Files that were asked for and could not be read, in order of their names, as they are named.
  std::vector<std::string> missing() const;

 private:
  using Lines = std::optional<std::vector<std::string>>;
  const Lines& lines_of(std::string_view file);
  Lines read(std::string_view file);

  const std::string directory_;
  base::Files& files_;
  std::map<std::string, Lines, std::less<>> lines_;
};

}  // namespace wago::diff
