#include "harness/program_copy.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/files.h"

namespace wago::harness {

namespace {

// MFD_EXEC, which headers do not know yet: without it the kernel may be set to make files that cannot be run.
constexpr unsigned kExecutable = 0x10;
constexpr size_t kMaxNameBytes = 200;
constexpr size_t kChunkBytes = size_t{1} << 18;

base::Error refused() {
  return base::usage_error(std::strerror(errno));
}

base::Error no_room() {
  return base::usage_error(std::string("no copy can be made in memory: ") + std::strerror(errno));
}

base::Fd memory_file(const std::string& name) {
  int fd = ::memfd_create(name.c_str(), MFD_CLOEXEC | kExecutable);
  // Older kernels do not know the flag either, and need none.
  if (fd < 0 && errno == EINVAL) fd = ::memfd_create(name.c_str(), MFD_CLOEXEC);
  return base::Fd(fd);
}

bool write_all(const base::Fd& file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace

base::Result<base::Fd> copy_program(const std::string& path) {
  // What may not be run may not be run from a copy, whose permissions are its own.
  if (::access(path.c_str(), X_OK) != 0) return refused();
  // Not waiting for whoever should write into a pipe.
  const base::Fd original(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status;
  if (!original.ok() || ::fstat(original.get(), &status) != 0) return refused();
  char magic[SELFMAG];
  if (!S_ISREG(status.st_mode) || ::pread(original.get(), magic, SELFMAG, 0) != SELFMAG ||
      std::memcmp(magic, ELFMAG, SELFMAG) != 0) {
    return base::usage_error("it is no ELF file");
  }
  base::Fd copy = memory_file(base::base_name(path).substr(0, kMaxNameBytes));
  if (!copy.ok()) return no_room();
  std::vector<char> chunk(kChunkBytes);
  while (true) {
    const ssize_t got = ::read(original.get(), chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return refused();
    if (got == 0) return copy;
    if (!write_all(copy, {chunk.data(), static_cast<size_t>(got)})) return no_room();
  }
}

}  // namespace wago::harness
