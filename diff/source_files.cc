#include "diff/source_files.h"

#include <algorithm>
#include <filesystem>

namespace wago::diff {

namespace {

constexpr uint64_t kMaxBytes = uint64_t{16} << 20;
constexpr size_t kMostParts = 64;  // of a path that are looked for: more name the same file or a prank

// Of a path, as Unix or Windows has them, without "." and "..", longest first: at most kMostParts.
std::vector<std::string> tails(std::string_view path) {
  std::string slashes(path);
  std::ranges::replace(slashes, '\\', '/');
  std::vector<std::string> parts;
  for (const std::filesystem::path& part :
       std::filesystem::path(slashes).relative_path().lexically_normal()) {
    if (!part.empty() && part != "." && part != "..") parts.push_back(part.string());
  }
  std::vector<std::string> tails;
  std::string tail;
  for (; !parts.empty() && tails.size() < kMostParts; parts.pop_back()) {
    tail = tail.empty() ? parts.back() : base::join_path(parts.back(), tail);
    tails.push_back(tail);
  }
  std::ranges::reverse(tails);
  return tails;
}

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

const SourceFiles::Lines& SourceFiles::lines_of(std::string_view file) {
  auto known = lines_.find(file);
  if (known != lines_.end()) return known->second;
  return lines_.emplace(std::string(file), read(file)).first->second;
}

SourceFiles::Lines SourceFiles::read(std::string_view file) {
  for (const std::string& tail : tails(file)) {
    if (auto bytes = files_.read(base::join_path(directory_, tail), kMaxBytes))
      return split(base::as_text(*bytes));
  }
  return std::nullopt;
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
