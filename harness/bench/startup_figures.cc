#include <fcntl.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/process.h"
#include "harness/bench/figures.h"

namespace wago::harness::bench {

namespace {

// Milliseconds from before the process exists until it has ended well; its output is thrown away.
double run_process(const std::string& program, const std::vector<std::string>& argv,
                   std::optional<base::Error>& error) {
  base::Fd nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  uint64_t before = base::monotonic_ns();
  auto process =
      base::Process::spawn({.program = program, .argv = argv, .descriptors = {{nowhere.get(), 1}}});
  if (!process) {
    error = process.error();
    return 1;
  }
  auto ended = process->wait(60'000);
  uint64_t took = base::monotonic_ns() - before;
  if (!ended || !ended->ok()) {
    error = base::failed(program + " " + (ended ? base::to_string(*ended) : "does not end"));
  }
  return static_cast<double>(took) / 1e6;
}

}  // namespace

base::Result<std::vector<Figure>> startup_figures(const FigureOptions& options) {
  const std::vector<std::string> ours = {"wago", "run", "--invoke", "fib", options.startup_module, "20"};
  // The module's path is an argument, so that no character of it needs care.
  const std::vector<std::string> theirs = {
      "node", "-e",
      "const m = new WebAssembly.Module(require('fs').readFileSync(process.argv[1]));"
      "if (new WebAssembly.Instance(m).exports.fib(20) !== 6765) process.exit(1);",
      options.startup_module};
  std::optional<base::Error> error;
  const size_t pairs = options.quick ? 5 : 40;
  auto node = base::find_program(options.node);
  auto us = [&] { return run_process(options.wago, ours, error); };
  auto them = [&] { return run_process(*node, theirs, error); };
  Paired paired = measure_pairs(pairs, 2, us, node ? std::function<double()>(them) : us);
  if (error) return *error;
  std::vector<Figure> figures = {
      {"wago run fib 20, whole process, ms", to_string(paired.a), "<= 10", paired.a.median <= 10}};
  if (node) {
    figures.push_back({"node, same module, whole process, ms", to_string(paired.b), ""});
    figures.push_back({"wago run / node", to_string(paired.ratio), "<= 0.25", paired.ratio.median <= 0.25});
  } else {
    figures.push_back({"wago run / node", "skipped: there is no " + options.node + " here", ""});
  }
  return figures;
}

}  // namespace wago::harness::bench
