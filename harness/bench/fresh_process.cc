#include "harness/bench/fresh_process.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>

#include "base/process.h"

namespace wago::harness::bench {

base::Result<double> number_from_fresh_process(const std::string& argument) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return base::failed("cannot make a pipe");
  base::Fd read(ends[0]), write(ends[1]);
  auto process = base::Process::spawn(
      {.program = "/proc/self/exe", .argv = {"wago_figures", argument}, .descriptors = {{write.get(), 1}}});
  if (!process) return process.error();
  write.reset();
  char text[64] = {};
  size_t size = 0;
  for (ssize_t got; (got = ::read(read.get(), text + size, sizeof text - 1 - size)) > 0;) {
    size += static_cast<size_t>(got);
  }
  auto ended = process->wait(60'000);
  if (!ended || !ended->ok() || size == 0) {
    return base::failed("wago_figures " + argument + ": the process " +
                        (ended ? base::to_string(*ended) : "does not end"));
  }
  return std::atof(text);
}

}  // namespace wago::harness::bench
