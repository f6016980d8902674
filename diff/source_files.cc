#include "diff/source_files.h"

#include <algorithm>
#include <filesystem>
#include <span>

namespace wago::diff {

namespace {

constexpr uint64_t kMaxBytes = uint64_t{16} << 20;
constexpr size_t kMostParts = 64;  // of a path that are looked for: more name the same file or a prank

// The parts of a path, as Unix or Windows has them, without "." and "..": at most the last kMostParts.
std::vector<std::string> parts_of(std::string_view path) {
  std::string slashes(path);
  std::ranges::replace(slashes, '\\', '/');
  std::vector<std::string> parts;
  for (const std::filesystem::path& part :
       std::filesystem::path(slashes).relative_path().lexically_normal()) {
    if (!part.empty() && part != "." && part != "..") parts.push_back(part.string());
  }
  if (parts.size() > kMostParts) parts.erase(parts.begin(), parts.end() - kMostParts);
  return parts;
}

std::string joined(std::span<const std::string> parts) {
  std::string path;
  for (const std::string& part : parts) path = base::join_path(path, part);
  return path;
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

const SourceFiles::Lines* SourceFiles::read(const std::string& tail) {
  auto known = lines_.find(tail);
  if (known == lines_.end()) {
    std::optional<Lines> lines;
    if (auto bytes = files_.read(base::join_path(directory_, tail), kMaxBytes))
      lines = split(base::as_text(*bytes));
    known = lines_.emplace(tail, std::move(lines)).first;
  }
  return known->second ? &*known->second : nullptr;
}

void SourceFiles::find(const std::map<std::string, uint32_t>& wanted) {
  of_.clear();
  found_.clear();
  missing_.clear();
  struct Match {
    std::string file;
    std::vector<std::string> parts;
    const Lines* lines;
  };
  std::map<std::string, std::vector<Match>> matches;  // by tail
  for (const auto& [file, last_line] : wanted) {
    // A name that the system would read up to a NUL is none.
    std::vector<std::string> parts =
        file.find('\0') == std::string::npos ? parts_of(file) : std::vector<std::string>{};
    for (size_t begin = 0; begin < parts.size(); ++begin) {
      const std::string tail = joined(std::span(parts).subspan(begin));
      const Lines* lines = read(tail);
      if (!lines) continue;
      if (last_line <= lines->size()) matches[tail].push_back({file, std::move(parts), lines});
      break;
    }
  }
  for (auto& [tail, names] : matches) {
    const std::vector<std::string> whole = parts_of(tail);
    const bool one =
        std::ranges::all_of(names, [&](const Match& match) { return match.parts == names.front().parts; });
    for (const Match& match : names) {
      if (!one && match.parts != whole) continue;
      of_[match.file] = match.lines;
      found_.push_back({match.file, tail});
    }
  }
  std::ranges::sort(found_, {}, &FoundSource::file);
  for (const auto& [file, last_line] : wanted) {
    if (!of_.contains(file)) missing_.push_back(file);
  }
}

std::optional<std::string> SourceFiles::line(const std::string& file, uint32_t line) const {
  const auto lines = of_.find(file);
  if (lines == of_.end() || line == 0 || line > lines->second->size()) return std::nullopt;
  return (*lines->second)[line - 1];
}

}  // namespace wago::diff
