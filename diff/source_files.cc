#include "diff/source_files.h"

namespace wago::diff {

namespace {

constexpr uint64_t kMaxBytes = uint64_t{16} << 20;

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.emplace_back(line);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  }
  return lines;
}

}  // namespace

const std::optional<std::vector<std::string>>& SourceFiles::lines_of(std::string_view file) {
  auto known = lines_.find(file);
  if (known != lines_.end()) return known->second;
  std::optional<std::vector<std::string>> lines;
  if (auto bytes = files_.read(std::string(file), kMaxBytes)) lines = split(base::as_text(*bytes));
  return lines_.emplace(std::string(file), std::move(lines)).first->second;
}

std::optional<std::string> SourceFiles::line(std::string_view file, uint32_t line) {
  if (file.empty() || line == 0) return std::nullopt;
  const auto& lines = lines_of(file);
  if (!lines || line > lines->size()) return std::nullopt;
  return (*lines)[line - 1];
}

std::vector<std::string> SourceFiles::missing() const {
  std::vector<std::string> files;
  for (const auto& [file, lines] : lines_) {
    if (!lines) files.push_back(file);
  }
  return files;
}

}  // namespace wago::diff
