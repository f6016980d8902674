#include "base/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace wago::base {

namespace {

constexpr mode_t kDirectoryMode = 0700;
constexpr mode_t kFileMode = 0600;
// What publish() writes before it renames; a leftover tells of a process that was killed in between.
constexpr const char* kBesideSuffix = ".part";

Place at(const std::string& path) {
  return {.file = path};
}

Error system_error(ErrorKind kind, const char* action, const std::string& path) {
  return Error(kind, std::string(action) + ": " + std::strerror(errno), at(path));
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  bool ok() const { return fd_ >= 0; }
  // Some file systems report a failed write only here.
  bool close() { return ::close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

bool write_all(int fd, std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return true;
}

// Makes a rename or a new name survive a power failure.
Result<void> sync_directory(const std::string& path) {
  Descriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // A file system that cannot flush a directory (EINVAL) has nothing to flush.
  if (!directory.ok() || (::fsync(directory.get()) != 0 && errno != EINVAL)) {
    return system_error(ErrorKind::Failed, "cannot flush the directory", path);
  }
  return {};
}

class SystemFiles : public Files {
 public:
  Result<std::vector<uint8_t>> read(const std::string& path, uint64_t max_bytes) override {
    Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status;
    if (!file.ok() || ::fstat(file.get(), &status) != 0) {
      return system_error(ErrorKind::Usage, "cannot be read", path);
    }
    if (S_ISDIR(status.st_mode)) return usage_error("is a directory, not a file", at(path));
    auto too_large = [&] {
      return usage_error("is larger than the limit of " + std::to_string(max_bytes) + " bytes", at(path));
    };
    // The size is a hint only: pipes and /proc have none, and a file may grow.
    uint64_t size = S_ISREG(status.st_mode) ? static_cast<uint64_t>(status.st_size) : 0;
    if (size > max_bytes) return too_large();
    std::vector<uint8_t> bytes;
    bytes.reserve(std::max<uint64_t>(size + 1, 4096));  // one more, to see the end without growing
    while (true) {
      size_t used = bytes.size();
      if (used > max_bytes) return too_large();
      size_t room = bytes.capacity() > used ? bytes.capacity() - used : 65536;
      bytes.resize(used + std::min<uint64_t>(room, max_bytes - used + 1));
      ssize_t got = ::read(file.get(), bytes.data() + used, bytes.size() - used);
      bytes.resize(used + static_cast<size_t>(std::max<ssize_t>(got, 0)));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return system_error(ErrorKind::Usage, "cannot be read", path);
      if (got == 0) return bytes;
    }
  }

  bool exists(const std::string& path) override {
    struct stat status;
    return ::lstat(path.c_str(), &status) == 0;
  }

  bool is_directory(const std::string& path) override {
    struct stat status;
    return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
  }

  Result<std::vector<std::string>> list(const std::string& directory) override {
    DIR* opened = ::opendir(directory.c_str());
    if (!opened) return system_error(ErrorKind::Usage, "cannot be listed", directory);
    std::vector<std::string> names;
    while (const dirent* entry = ::readdir(opened)) {
      std::string name = entry->d_name;
      if (name != "." && name != "..") names.push_back(std::move(name));
    }
    ::closedir(opened);
    std::sort(names.begin(), names.end());
    return names;
  }

  Result<void> create_directory(const std::string& path) override {
    if (::mkdir(path.c_str(), kDirectoryMode) == 0) return {};
    if (errno == EEXIST) return usage_error("exists already and is never replaced", at(path));
    return system_error(ErrorKind::Usage, "cannot be created", path);
  }

  Result<void> create(const std::string& path, std::span<const uint8_t> bytes) override {
    return write_new(path, bytes, O_EXCL);
  }

  Result<void> publish(const std::string& path, std::span<const uint8_t> bytes) override {
    std::string beside = path + kBesideSuffix;
    if (auto written = write_new(beside, bytes, O_TRUNC); !written) return written;
    if (::rename(beside.c_str(), path.c_str()) != 0) {
      Error error = system_error(ErrorKind::Failed, "cannot be published", path);
      ::unlink(beside.c_str());
      return error;
    }
    return sync_directory(directory_of(path));
  }

  Result<void> remove(const std::string& path) override {
    if (::remove(path.c_str()) == 0) return {};
    return system_error(ErrorKind::Failed, "cannot be removed", path);
  }

 private:
  static Result<void> write_new(const std::string& path, std::span<const uint8_t> bytes, int flag) {
    Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | flag, kFileMode));
    if (!file.ok()) {
      if (errno == EEXIST) return usage_error("exists already and is never replaced", at(path));
      return system_error(ErrorKind::Failed, "cannot be created", path);
    }
    if (write_all(file.get(), bytes) && ::fsync(file.get()) == 0 && file.close()) return {};
    Error error = system_error(ErrorKind::Failed, "cannot be written", path);
    ::unlink(path.c_str());
    return error;
  }
};

}  // namespace

Files& system_files() {
  static SystemFiles* const files = new SystemFiles;
  return *files;
}

std::string join_path(std::string_view directory, std::string_view name) {
  if (directory.empty() || name.starts_with('/')) return std::string(name);
  std::string path(directory);
  if (!path.ends_with('/')) path += '/';
  return path + std::string(name);
}

std::string base_name(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

std::string directory_of(std::string_view path) {
  size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return std::string(path.substr(0, std::max<size_t>(slash, 1)));
}

}  // namespace wago::base
