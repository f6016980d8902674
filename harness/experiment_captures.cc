#include "harness/experiment_captures.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/clock.h"
#include "base/files.h"
#include "base/text.h"
#include "capture/catalog.h"

namespace wago::harness {

namespace {

// What the child sees its catalog as.
constexpr int kCatalogFd = 3;
constexpr const char* kCatalogPath = "/proc/self/fd/3";
constexpr uint64_t kMaxWords = 4096;

base::Fd memory_file(const char* name, std::string_view text) {
  base::Fd fd(::memfd_create(name, MFD_CLOEXEC));
  if (fd.ok() && ::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) fd.reset();
  return fd;
}

// The first line of what a program said.
std::string first_line(const base::Fd& file) {
  std::string text(kMaxWords, '\0');
  const ssize_t got = ::pread(file.get(), text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<size_t>(got) : 0);
  text.resize(std::min(text.find('\n'), text.size()));
  return base::printable(text);
}

// Where a relative module was relative to this process, it must not become so to the catalog's folder.
std::string absolute(const std::string& path) {
  if (path.starts_with('/')) return path;
  std::string here(4096, '\0');
  if (!::getcwd(here.data(), here.size())) return path;
  here.resize(here.find('\0'));
  return base::join_path(here, path);
}

}  // namespace

std::vector<std::string> lane_flags(std::span<const std::string> backends) {
  const bool counts = std::find(backends.begin(), backends.end(), "count") != backends.end();
  return {"--backend", counts ? "count" : "none", "--iterations", "1", "--warmup", "1", "--include-code"};
}

uint64_t capture_timeout_ns(uint64_t answer_timeout_ns, uint64_t iteration_ns) {
  constexpr uint64_t kIterations = 200;
  return answer_timeout_ns + kIterations * std::min(iteration_ns, UINT64_MAX / 1024);
}

std::optional<NoCapture> record_capture(const PairSide& side, const std::string& catalog,
                                        std::span<const std::string> flags, const std::string& out,
                                        uint64_t timeout_ns, SignalWatch& signals) {
  capture::Workload workload = side.workload;
  workload.module_path = absolute(workload.module_path);
  const base::Fd declared = memory_file("wago-catalog", capture::to_catalog_text(catalog, {workload}));
  const base::Fd said = memory_file("wago-words", "");
  if (!declared.ok() || !said.ok()) return NoCapture{"there is no memory for a file"};
  base::SpawnOptions options;
  options.program = side.program;
  options.argv = {side.program, "profile", "record", "--catalog", kCatalogPath, "--workload", workload.id};
  options.argv.insert(options.argv.end(), flags.begin(), flags.end());
  options.argv.insert(options.argv.end(), {"--out", out});
  options.descriptors = {{said.get(), 1}, {said.get(), 2}, {declared.get(), kCatalogFd}};
  auto process = base::Process::spawn(options);
  if (!process) return NoCapture{process.error().message};
  const uint64_t deadline_ns = base::monotonic_ns() + timeout_ns;
  while (true) {
    if (auto ended = process->wait(0)) {
      if (ended->ok()) return std::nullopt;
      const std::string words = first_line(said);
      return NoCapture{"its program " + base::to_string(*ended) + (words.empty() ? "" : ": " + words),
                       ended->exit_code == base::exit_code(base::ErrorKind::Unmeasurable)};
    }
    const uint64_t now_ns = base::monotonic_ns();
    if (now_ns >= deadline_ns) return NoCapture{"its program did not finish in time"};
    std::array<pollfd, 2> wait_for = {pollfd{process->ended_fd(), POLLIN, 0},
                                      pollfd{signals.fd(), POLLIN, 0}};
    const uint64_t wait_ms = std::min<uint64_t>((deadline_ns - now_ns) / 1'000'000 + 1, 60'000);
    ::poll(wait_for.data(), wait_for.size(), static_cast<int>(wait_ms));
    if (wait_for[1].revents != 0) return NoCapture{"interrupted"};
  }
}

}  // namespace wago::harness
