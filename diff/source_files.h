// Lines of the sources that a capture names, where they lie below one directory of this machine.
//
// A capture names sources as the guest's compiler did, often by a path of the machine that built the module.
// The file is the longest tail of that path that there is below the directory: /home/ci/project/src/parse.c
// is looked for as home/ci/project/src/parse.c, then as project/src/parse.c ... parse.c. So what a capture
// names makes nobody read anything elsewhere, unless a symbolic link below the directory leads there.
//
// A tail may be another file's. It is not taken where the file has fewer lines than the capture names, or
// where two names lead to it: of these only one that is matched whole is sure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"

namespace wago::diff {

struct FoundSource {
  std::string file;  // as the capture names it
  std::string path;  // what was read for it, in the directory
  bool operator==(const FoundSource&) const = default;
};

class SourceFiles {
 public:
  explicit SourceFiles(std::string directory = ".", base::Files& files = base::system_files())
      : directory_(std::move(directory)), files_(files) {}

  // Looks for files, each with the last line of it that will be asked for (from 1), and forgets others.
  void find(const std::map<std::string, uint32_t>& wanted);

  // Without its line end; nothing: the file was not found, or has no such line.
  std::optional<std::string> line(const std::string& file, uint32_t line) const;
  // In order of their names.
  const std::vector<FoundSource>& found() const { return found_; }
  const std::vector<std::string>& missing() const { return missing_; }

 private:
  using Lines = std::vector<std::string>;
  const Lines* read(const std::string& tail);

  const std::string directory_;
  base::Files& files_;
  std::map<std::string, std::optional<Lines>> lines_;    // by tail; nothing: cannot be read, or is too large
  std::map<std::string, const Lines*, std::less<>> of_;  // by file
  std::vector<FoundSource> found_;
  std::vector<std::string> missing_;
};

}  // namespace wago::diff
