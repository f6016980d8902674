#include <algorithm>

#include "base/files.h"

namespace wago::base {

namespace {
Place at(const std::string& path) {
  return {.file = path};
}
}  // namespace

uint64_t MemoryFiles::used() const {
  uint64_t bytes = 0;
  for (const auto& [path, content] : entries_) bytes += content ? content->size() : 0;
  return bytes;
}

Result<void> MemoryFiles::change(const std::string& path) {
  if (!changes_left_) return {};
  if (*changes_left_ == 0) return failed("the process was stopped", at(path));
  --*changes_left_;
  return {};
}

Result<std::vector<uint8_t>> MemoryFiles::read_stream(const std::string& path, uint64_t max_bytes) {
  return read(path, max_bytes);
}

Result<std::vector<uint8_t>> MemoryFiles::read(const std::string& path, uint64_t max_bytes) {
  auto entry = entries_.find(path);
  if (entry == entries_.end()) return usage_error("cannot be read: No such file or directory", at(path));
  if (!entry->second) return usage_error("is a directory, not a file", at(path));
  if (entry->second->size() > max_bytes) {
    return usage_error("is larger than the limit of " + std::to_string(max_bytes) + " bytes", at(path));
  }
  return *entry->second;
}

bool MemoryFiles::exists(const std::string& path) {
  return entries_.contains(path);
}

bool MemoryFiles::is_directory(const std::string& path) {
  auto entry = entries_.find(path);
  return entry != entries_.end() && !entry->second;
}

Result<std::vector<std::string>> MemoryFiles::list(const std::string& directory) {
  if (!is_directory(directory)) return usage_error("cannot be listed: Not a directory", at(directory));
  std::vector<std::string> names;
  for (const auto& [path, content] : entries_) {
    if (path != directory && directory_of(path) == directory) names.push_back(base_name(path));
  }
  return names;
}

Result<void> MemoryFiles::create_directory(const std::string& path) {
  if (exists(path)) return usage_error("exists already and is never replaced", at(path));
  if (auto allowed = change(path); !allowed) return allowed;
  entries_[path] = std::nullopt;
  directory_numbers_[path] = ++directories_made_;
  return {};
}

class MemoryDirectory : public Directory {
 public:
  MemoryDirectory(MemoryFiles& files, std::string path) : files_(files), path_(std::move(path)) {
    number_ = files_.directory_numbers_.at(path_);
  }
  DirectoryId id() const override { return {0, number_}; }
  bool in_place() const override {
    return files_.is_directory(path_) && files_.directory_numbers_.at(path_) == number_;
  }
  Result<std::vector<uint8_t>> read(const std::string& name, uint64_t max_bytes) override {
    return files_.read(join_path(path_, name), max_bytes);
  }
  Result<void> create(const std::string& name, std::span<const uint8_t> bytes) override {
    return in_place() ? files_.create(join_path(path_, name), bytes) : gone();
  }
  Result<void> publish(const std::string& name, std::span<const uint8_t> bytes) override {
    return in_place() ? files_.publish(join_path(path_, name), bytes) : gone();
  }

 private:
  Error gone() const {
    return failed("is no longer the directory that was opened: it was removed, moved or replaced meanwhile",
                  at(path_));
  }

  MemoryFiles& files_;
  std::string path_;
  uint64_t number_ = 0;
};

Result<std::unique_ptr<Directory>> MemoryFiles::open_directory(const std::string& path) {
  if (!is_directory(path)) return usage_error("cannot be opened: No such file or directory", at(path));
  return std::unique_ptr<Directory>(new MemoryDirectory(*this, path));
}

Result<void> MemoryFiles::create(const std::string& path, std::span<const uint8_t> bytes) {
  if (exists(path)) return usage_error("exists already and is never replaced", at(path));
  // The name appears before the content, as on a disk.
  if (auto allowed = change(path); !allowed) return allowed;
  entries_[path].emplace();
  if (capacity_ && used() + bytes.size() > *capacity_) {
    entries_.erase(path);
    return failed("cannot be written: No space left on device", at(path));
  }
  if (auto allowed = change(path); !allowed) return allowed;
  entries_[path].emplace(bytes.begin(), bytes.end());
  return {};
}

Result<void> MemoryFiles::publish(const std::string& path, std::span<const uint8_t> bytes) {
  std::string beside = path + ".part";
  entries_.erase(beside);
  if (auto written = create(beside, bytes); !written) return written;
  if (auto allowed = change(path); !allowed) return allowed;
  entries_[path] = std::move(entries_[beside]);
  entries_.erase(beside);
  return {};
}

Result<void> MemoryFiles::remove(const std::string& path) {
  if (auto allowed = change(path); !allowed) return allowed;
  if (entries_.erase(path)) return {};
  return failed("cannot be removed: No such file or directory", at(path));
}

void MemoryFiles::put(const std::string& path, std::string_view text) {
  auto bytes = as_bytes(text);
  entries_[path].emplace(bytes.begin(), bytes.end());
}

}  // namespace wago::base
