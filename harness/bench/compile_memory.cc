#include <sys/mman.h>
#include <unistd.h>
#include <wago/wago.h>

#include <cstdlib>
#include <cstring>

#include "base/files.h"
#include "base/process.h"
#include "harness/bench/figures.h"
#include "harness/bench/fresh_process.h"

namespace wago::harness::bench {

namespace {

// "VmRSS", "VmHWM" and their like of this process.
base::Result<double> status_bytes(const std::string& key) {
  auto bytes = base::system_files().read("/proc/self/status", 1 << 20);
  if (!bytes) return bytes.error();
  const std::string text(bytes->begin(), bytes->end());
  const size_t at = text.find("\n" + key + ":");
  if (at == std::string::npos) return base::failed("/proc/self/status has no line " + key);
  return std::strtod(text.c_str() + at + key.size() + 2, nullptr) * 1024;
}

bool write_all(int fd, const std::vector<uint8_t>& bytes) {
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t put = ::write(fd, bytes.data() + done, bytes.size() - done);
    if (put <= 0) return false;
    done += static_cast<size_t>(put);
  }
  return true;
}

}  // namespace

base::Result<double> compile_peak_bytes(const std::string& path) {
  auto engine = Engine::open();
  if (!engine) return engine.error();
  auto idle = status_bytes("VmRSS");
  if (!idle) return idle;
  auto bytes = base::system_files().read(path, uint64_t{1} << 30);
  if (!bytes) return bytes.error();
  auto module = engine->compile(*std::move(bytes));
  if (!module) return module.error();
  auto peak = status_bytes("VmHWM");
  if (!peak) return peak;
  return *peak - *idle;
}

base::Result<Figure> compile_peak_figure(const std::vector<uint8_t>& module, const std::string& what,
                                         size_t repetitions) {
  // A file without a name, which the other process opens through this one.
  base::Fd file(::memfd_create("module", MFD_CLOEXEC));
  if (!file.ok() || !write_all(file.get(), module)) {
    return base::failed("the module cannot be handed to another process");
  }
  const std::string path = "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(file.get());
  std::vector<double> ratios;
  for (size_t i = 0; i < repetitions; ++i) {
    auto peak = number_from_fresh_process(kCompilePeakFlag + path);
    if (!peak) return peak.error();
    ratios.push_back(*peak / static_cast<double>(module.size()));
  }
  const Spread spread = spread_of(ratios);
  return Figure{"peak memory of compile / module: " + what, to_string(spread), "<= 12", spread.median <= 12};
}

}  // namespace wago::harness::bench
