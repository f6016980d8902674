#include "harness/program_copy.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "harness/machine.h"

namespace wago::harness {

namespace {

// MFD_EXEC, which headers do not know yet: without it the kernel may be set to make files that cannot be run.
constexpr unsigned kExecutable = 0x10;
constexpr size_t kMaxNameBytes = 200;
constexpr size_t kMaxNoteBytes = size_t{1} << 16;
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

bool read_at(const base::Fd& file, uint64_t offset, void* to, size_t bytes) {
  return ::pread(file.get(), to, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
}

// How much of an ELF file it takes to run it: not symbols and debug information, which come last and may be
// many times as much. But all of it where the file is what the program is known by (see runner_id).
uint64_t bytes_to_run(const base::Fd& file) {
  constexpr uint64_t kAll = UINT64_MAX;
  Elf64_Ehdr header;
  if (!read_at(file, 0, &header, sizeof header) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_phentsize != sizeof(Elf64_Phdr)) {
    return kAll;
  }
  uint64_t end = 0;
  bool has_build_id = false;
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!read_at(file, header.e_phoff + i * sizeof segment, &segment, sizeof segment)) return kAll;
    if (segment.p_type == PT_LOAD) end = std::max(end, segment.p_offset + segment.p_filesz);
    if (segment.p_type != PT_NOTE || segment.p_filesz > kMaxNoteBytes) continue;
    std::string notes(segment.p_filesz, '\0');
    has_build_id |= read_at(file, segment.p_offset, notes.data(), notes.size()) &&
                    !build_id_in(notes.data(), notes.size()).empty();
  }
  return has_build_id ? end : kAll;
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
  for (uint64_t missing = bytes_to_run(original); missing != 0;) {
    const ssize_t got = ::read(original.get(), chunk.data(), std::min<uint64_t>(chunk.size(), missing));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return refused();
    if (got == 0) break;
    missing -= static_cast<uint64_t>(got);
    if (!write_all(copy, {chunk.data(), static_cast<size_t>(got)})) return no_room();
  }
  return copy;
}

}  // namespace wago::harness
