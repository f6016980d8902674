// File access behind one interface, with an in-memory twin for tests.
//
// Everything written is private to its owner: directories 0700, files 0600. Nothing is ever replaced except
// through `publish`, which writes beside, flushes to the disk and renames, so that a name has its old content
// or its new one and never a part of it, whenever the process is killed.
//
// Reading is of strangers' files: only regular ones, since a pipe would block and a device never end. Who
// wants what a pipe has to say asks for a stream.
//
// Errors name the path, the action and the system's reason. Input that cannot be read and output that exists
// or cannot be created are ErrorKind::Usage; a write that fails half-way (a full disk) is ErrorKind::Failed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace wago::base {

// What tells a directory from all others, as long as someone holds it open.
struct DirectoryId {
  uint64_t device = 0;
  uint64_t inode = 0;
  bool operator==(const DirectoryId&) const = default;
};

// A directory held open. What is done in it is done in that very directory or not at all: once its path leads
// elsewhere - it was removed, moved, or another was put in its place - every change fails and says so. Names
// have no folder; messages show them behind the path.
class Directory {
 public:
  virtual ~Directory() = default;
  virtual DirectoryId id() const = 0;
  // Whether its path still leads to it.
  virtual bool in_place() const = 0;
  virtual Result<std::vector<uint8_t>> read(const std::string& name, uint64_t max_bytes) = 0;
  // As Files has them.
  virtual Result<void> create(const std::string& name, std::span<const uint8_t> bytes) = 0;
  virtual Result<void> publish(const std::string& name, std::span<const uint8_t> bytes) = 0;
};

class Files {
 public:
  virtual ~Files() = default;

  // The whole of a regular file; over `max_bytes` is an error that says so.
  virtual Result<std::vector<uint8_t>> read(const std::string& path, uint64_t max_bytes) = 0;
  // The same of a pipe or device, too; waits until it ends.
  virtual Result<std::vector<uint8_t>> read_stream(const std::string& path, uint64_t max_bytes) = 0;
  // False only where that is certain: what may not be looked at is for reading to refuse.
  virtual bool exists(const std::string& path) = 0;
  virtual bool is_directory(const std::string& path) = 0;
  // Names of the entries of a directory, sorted.
  virtual Result<std::vector<std::string>> list(const std::string& directory) = 0;

  // Must not exist; parents must.
  virtual Result<void> create_directory(const std::string& path) = 0;
  virtual Result<std::unique_ptr<Directory>> open_directory(const std::string& path) = 0;
  // A new file, flushed to the disk; must not exist.
  virtual Result<void> create(const std::string& path, std::span<const uint8_t> bytes) = 0;
  // Old content or new content, never a mixture.
  virtual Result<void> publish(const std::string& path, std::span<const uint8_t> bytes) = 0;
  virtual Result<void> remove(const std::string& path) = 0;  // one file, or one empty directory
};

// The machine's; never destroyed.
Files& system_files();

// For tests: a tree in memory. Capacity and faults can be set, so that a full disk needs no disk.
class MemoryFiles : public Files {
 public:
  Result<std::vector<uint8_t>> read(const std::string& path, uint64_t max_bytes) override;
  Result<std::vector<uint8_t>> read_stream(const std::string& path, uint64_t max_bytes) override;
  bool exists(const std::string& path) override;
  bool is_directory(const std::string& path) override;
  Result<std::vector<std::string>> list(const std::string& directory) override;
  Result<void> create_directory(const std::string& path) override;
  Result<std::unique_ptr<Directory>> open_directory(const std::string& path) override;
  Result<void> create(const std::string& path, std::span<const uint8_t> bytes) override;
  Result<void> publish(const std::string& path, std::span<const uint8_t> bytes) override;
  Result<void> remove(const std::string& path) override;

  // Bytes that fit in all; a write over it fails as on a full disk and leaves what a full disk would leave.
  void set_capacity(uint64_t bytes) { capacity_ = bytes; }
  // After this many more changes every change fails: what a killed process leaves behind.
  void stop_after(uint64_t changes) { changes_left_ = changes; }
  // Replaces content directly, as a stranger might.
  void put(const std::string& path, std::string_view text);

 private:
  friend class MemoryDirectory;
  Result<void> change(const std::string& path);
  uint64_t used() const;

  std::map<std::string, std::optional<std::vector<uint8_t>>> entries_;  // nothing: a directory
  std::map<std::string, uint64_t> directory_numbers_;                   // for DirectoryId
  uint64_t directories_made_ = 0;
  std::optional<uint64_t> capacity_;
  std::optional<uint64_t> changes_left_;
};

// The bytes, inflated when they begin with the gzip magic; more than `max_bytes` inflated is an error that
// says so. `name` is what messages call it.
Result<std::vector<uint8_t>> inflate_if_gzip(std::vector<uint8_t> bytes, uint64_t max_bytes,
                                             const std::string& name);
std::vector<uint8_t> gzip(std::span<const uint8_t> bytes);

std::string join_path(std::string_view directory, std::string_view name);
std::string base_name(std::string_view path);
// The folder a file is in, "." when it names none.
std::string directory_of(std::string_view path);

inline std::span<const uint8_t> as_bytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}
inline std::string_view as_text(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace wago::base
