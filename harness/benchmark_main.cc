#include "harness/benchmark_main.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "harness/benchmark_entries.h"

namespace wago::harness {

namespace {

using base::Phase;

// Takes the values of `flag` out of argv; the first one replaces what `values` held.
void take(std::string_view flag, int& argc, char** argv, std::vector<std::string>& values) {
  bool found = false;
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    std::string_view argument = argv[i];
    if (!argument.starts_with(flag)) {
      argv[kept++] = argv[i];
      continue;
    }
    if (!found) values.clear();
    found = true;
    values.emplace_back(argument.substr(flag.size()));
  }
  argc = kept;
  argv[argc] = nullptr;
}

base::Result<std::vector<Phase>> parse_phases(const std::vector<std::string>& words) {
  std::vector<Phase> phases;
  for (const std::string& word : words) {
    auto phase = base::parse<Phase>(word);
    if (!phase || std::count(std::begin(kBenchmarkPhases), std::end(kBenchmarkPhases), *phase) == 0) {
      return base::usage_error("phase '" + word +
                               "' has no entries; compile, reload, instantiate and execute have");
    }
    phases.push_back(*phase);
  }
  if (phases.empty()) phases.assign(std::begin(kBenchmarkPhases), std::end(kBenchmarkPhases));
  return phases;
}

base::Result<void> register_all(const std::vector<std::string>& catalogs,
                                const std::vector<std::string>& words) {
  auto phases = parse_phases(words);
  if (!phases) return phases.error();
  if (catalogs.empty()) return base::usage_error("name a catalog: --wago_catalog=FILE");
  for (const std::string& catalog : catalogs) {
    if (auto registered = register_benchmarks(catalog, *phases); !registered) return registered;
  }
  return {};
}

}  // namespace

int benchmark_main(int argc, char** argv, std::vector<std::string> catalogs,
                   std::vector<std::string> phases) {
  take("--wago_catalog=", argc, argv, catalogs);
  take("--wago_phase=", argc, argv, phases);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  if (auto registered = register_all(catalogs, phases); !registered) {
    std::fprintf(stderr, "%s: %s\n", argv[0], registered.error().to_string().c_str());
    return base::exit_code(registered.error().kind);
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return any_benchmark_failed() ? 1 : 0;
}

}  // namespace wago::harness
