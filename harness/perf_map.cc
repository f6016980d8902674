#include "harness/perf_map.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstring>

namespace wago::harness {

namespace {

base::Error file_error(const std::string& path, const char* what) {
  return base::usage_error(std::string(what) + ": " + std::strerror(errno), {.file = path});
}

}  // namespace

std::string perf_map_path() {
  return perf_map_path(::getpid());
}

std::string perf_map_path(pid_t pid) {
  return "/tmp/perf-" + std::to_string(pid) + ".map";
}

base::Result<std::unique_ptr<PerfMap>> PerfMap::create(const std::string& path) {
  // Never through a file that somebody else may have put there: everybody writes into /tmp.
  if (path == perf_map_path() && ::unlink(path.c_str()) != 0 && errno != ENOENT) {
    return file_error(path, "cannot replace the map of an earlier process");
  }
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  FILE* file = fd < 0 ? nullptr : ::fdopen(fd, "w");
  if (!file) return file_error(path, "cannot create");
  return std::unique_ptr<PerfMap>(new PerfMap(path, file));
}

PerfMap::~PerfMap() {
  std::fclose(file_);
}

base::Result<void> PerfMap::write(const PublishedCode& code) {
  for (const CodeSymbol& symbol : symbols_of(code)) {
    std::fprintf(file_, "%" PRIx64 " %x %s\n", code.address + symbol.begin, symbol.size, symbol.name.c_str());
  }
  if (std::fflush(file_) == 0 && std::ferror(file_) == 0) return {};
  return base::failed(std::string("cannot write: ") + std::strerror(errno), {.file = path_});
}

}  // namespace wago::harness
