#include "base/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
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

Error gone(const std::string& directory) {
  return failed("is no longer the directory that was opened: it was removed, moved or replaced meanwhile",
                at(directory));
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

// A file as the system finds it, and as messages show it.
struct Name {
  int directory;  // AT_FDCWD: `name` is a path
  std::string name;
  std::string shown;
};

Name by_path(const std::string& path) {
  return {AT_FDCWD, path, path};
}

// Makes a rename or a new name survive a power failure.
Result<void> flush_directory(int fd, const std::string& path) {
  // A file system that cannot flush a directory (EINVAL) has nothing to flush.
  if (fd >= 0 && (::fsync(fd) == 0 || errno == EINVAL)) return {};
  return system_error(ErrorKind::Failed, "cannot flush the directory", path);
}

// "a pipe": what is not a regular file.
const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

Result<std::vector<uint8_t>> read_all(const Name& name, uint64_t max_bytes, bool streams) {
  // Opening a pipe waits for its writer unless told not to.
  const int wait = streams ? 0 : O_NONBLOCK;
  Descriptor file(::openat(name.directory, name.name.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | wait));
  struct stat status;
  if (!file.ok() || ::fstat(file.get(), &status) != 0) {
    return system_error(ErrorKind::Usage, "cannot be read", name.shown);
  }
  if (S_ISDIR(status.st_mode) || (!streams && !S_ISREG(status.st_mode))) {
    return usage_error(std::string("is ") + kind_of(status.st_mode) + ", not a file", at(name.shown));
  }
  auto too_large = [&] {
    return usage_error("is larger than the limit of " + std::to_string(max_bytes) + " bytes", at(name.shown));
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
    if (got < 0) return system_error(ErrorKind::Usage, "cannot be read", name.shown);
    if (got == 0) return bytes;
  }
}

Error cannot_create(const Name& name) {
  // A place that the user named and that is not there, or not theirs, is their error; one in a directory of
  // ours that went away meanwhile is none.
  const bool named = name.directory == AT_FDCWD &&
                     (errno == ENOENT || errno == ENOTDIR || errno == EACCES || errno == EROFS);
  return system_error(named ? ErrorKind::Usage : ErrorKind::Failed, "cannot be created", name.shown);
}

// Leaves no half-written file. `file` is closed.
Result<void> fill(Descriptor& file, const Name& name, std::span<const uint8_t> bytes) {
  if (write_all(file.get(), bytes) && ::fsync(file.get()) == 0 && file.close()) return {};
  Error error = system_error(ErrorKind::Failed, "cannot be written", name.shown);
  ::unlinkat(name.directory, name.name.c_str(), 0);
  return error;
}

Descriptor open_to_write(const Name& name, int flag) {
  // A pipe that a stranger left would be waited for otherwise.
  return Descriptor(::openat(name.directory, name.name.c_str(),
                             O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | flag, kFileMode));
}

Result<void> write_new(const Name& name, std::span<const uint8_t> bytes) {
  Descriptor file = open_to_write(name, O_EXCL);
  if (file.ok()) return fill(file, name, bytes);
  if (errno == EEXIST) return usage_error("exists already and is never replaced", at(name.shown));
  return cannot_create(name);
}

DirectoryId id_of(const struct stat& status) {
  return {status.st_dev, status.st_ino};
}

bool is_still(const Name& name, const Descriptor& file) {
  struct stat opened, there;
  return ::fstat(file.get(), &opened) == 0 &&
         ::fstatat(name.directory, name.name.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 &&
         id_of(opened) == id_of(there);
}

// False: another process has it for seconds. A file system without locks has no such protection.
bool lock_soon(const Descriptor& file) {
  constexpr int kTries = 500;
  constexpr useconds_t kBetweenUs = 10'000;
  for (int i = 0; i < kTries; ++i) {
    if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0 || (errno != EWOULDBLOCK && errno != EINTR)) return true;
    ::usleep(kBetweenUs);
  }
  errno = EWOULDBLOCK;
  return false;
}

// Without the flush of the directory. Who replaces the same file at the same time waits for the other, so
// that neither publishes what the other writes.
Result<void> replace(const Name& name, std::span<const uint8_t> bytes) {
  const Name beside = {name.directory, name.name + kBesideSuffix, name.shown + kBesideSuffix};
  while (true) {
    Descriptor file = open_to_write(beside, 0);
    if (!file.ok()) return cannot_create(beside);
    // Outlives the closing of the file.
    const Descriptor lock(::fcntl(file.get(), F_DUPFD_CLOEXEC, 0));
    if (!lock_soon(file))
      return system_error(ErrorKind::Failed, "is being written by another process", beside.shown);
    if (!is_still(beside, file)) continue;  // by now it is what the other one published
    if (::ftruncate(file.get(), 0) != 0)
      return system_error(ErrorKind::Failed, "cannot be written", beside.shown);
    if (auto written = fill(file, beside, bytes); !written) return written;
    if (::renameat(name.directory, beside.name.c_str(), name.directory, name.name.c_str()) == 0) return {};
    Error error = system_error(ErrorKind::Failed, "cannot be published", name.shown);
    ::unlinkat(name.directory, beside.name.c_str(), 0);
    return error;
  }
}

class SystemDirectory : public Directory {
 public:
  SystemDirectory(int fd, DirectoryId id, std::string path) : fd_(fd), id_(id), path_(std::move(path)) {}

  DirectoryId id() const override { return id_; }
  bool in_place() const override {
    struct stat status;
    return ::stat(path_.c_str(), &status) == 0 && id_of(status) == id_;
  }
  Result<std::vector<uint8_t>> read(const std::string& name, uint64_t max_bytes) override {
    return read_all(inside(name), max_bytes, false);
  }
  Result<void> create(const std::string& name, std::span<const uint8_t> bytes) override {
    if (!in_place()) return gone(path_);
    return write_new(inside(name), bytes);
  }
  Result<void> publish(const std::string& name, std::span<const uint8_t> bytes) override {
    if (!in_place()) return gone(path_);
    if (auto replaced = replace(inside(name), bytes); !replaced) return replaced;
    return flush_directory(fd_.get(), path_);
  }

 private:
  Name inside(const std::string& name) const { return {fd_.get(), name, join_path(path_, name)}; }
  Descriptor fd_;
  DirectoryId id_;
  std::string path_;
};

class SystemFiles : public Files {
 public:
  Result<std::vector<uint8_t>> read(const std::string& path, uint64_t max_bytes) override {
    return read_all(by_path(path), max_bytes, false);
  }
  Result<std::vector<uint8_t>> read_stream(const std::string& path, uint64_t max_bytes) override {
    return read_all(by_path(path), max_bytes, true);
  }

  bool exists(const std::string& path) override {
    struct stat status;
    return ::lstat(path.c_str(), &status) == 0 || (errno != ENOENT && errno != ENOTDIR);
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

  Result<std::unique_ptr<Directory>> open_directory(const std::string& path) override {
    int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct stat status;
    if (fd < 0 || ::fstat(fd, &status) != 0) {
      Error error = system_error(ErrorKind::Usage, "cannot be opened", path);
      if (fd >= 0) ::close(fd);
      return error;
    }
    return std::unique_ptr<Directory>(new SystemDirectory(fd, id_of(status), path));
  }

  Result<void> create(const std::string& path, std::span<const uint8_t> bytes) override {
    return write_new(by_path(path), bytes);
  }

  Result<void> publish(const std::string& path, std::span<const uint8_t> bytes) override {
    if (auto replaced = replace(by_path(path), bytes); !replaced) return replaced;
    std::string parent = directory_of(path);
    Descriptor directory(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return flush_directory(directory.get(), parent);
  }

  Result<void> remove(const std::string& path) override {
    if (::remove(path.c_str()) == 0) return {};
    return system_error(ErrorKind::Failed, "cannot be removed", path);
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
