// wago_figures: measures the project's figures and prints them as a table.
//
//   wago_figures [startup] [call] [host-call] [recorder] [trap] [instance] [compile]
//                [collectors] [interruption] [counted] [corpus]
//                    all of them when none is named
//     --catalog=FILE   the corpus; again for more
//     --module=FILE    a real module for the compile rate and for counting instances
//     --wago=FILE      the program `wago`
//     --fib=FILE       a module that exports fib, for the whole-process figures
//     --node=FILE --node-side=FILE
//     --quick          few repetitions
//     --check          1 when a figure is not reached
//   Ends with 1 when a group that was asked for could not be measured.
//   wago_figures --count-instances=FILE | --compile-peak=FILE
//                    one number: bytes that an instance of this module holds, or that compiling it takes at
//                    most; the groups [instance] and [compile] ask for them in processes of their own
#include <cstdio>
#include <optional>
#include <set>
#include <string_view>

#include "base/text.h"
#include "harness/bench/figures.h"
#include "harness/machine.h"
#include "harness/recorder.h"

namespace {

using namespace wago::harness::bench;
using wago::base::Result;

enum Needs : unsigned { kNothing = 0, kCatalog = 1, kProgram = 2, kNodeSide = 4 };

struct Group {
  std::string_view name;
  Result<std::vector<Figure>> (*measure)(const FigureOptions&);
  unsigned needs = kNothing;
};
// In the order in which they are measured.
constexpr Group kGroups[] = {
    // First: a process that has grown takes longer to start others.
    {"startup", startup_figures, kProgram},
    {"call", call_figures},
    {"host-call", host_call_figures},
    {"recorder", recorder_figures},
    {"trap", trap_figures},
    {"instance", instance_figures},
    {"compile", compile_figures},
    // Last: these bind the process to one CPU.
    {"collectors", collector_figures, kCatalog},
    {"interruption", interruption_figures, kCatalog},
    {"counted", counted_figures, kCatalog},
    {"corpus", corpus_figures, kCatalog | kNodeSide}};

struct Arguments {
  FigureOptions options;
  std::set<std::string_view> groups;
  bool check = false;
};

bool parse(int argc, char** argv, Arguments& arguments) {
  FigureOptions& options = arguments.options;
  for (int i = 1; i < argc; ++i) {
    std::string_view argument = argv[i];
    auto value = [&](std::string_view flag, std::string& into) {
      if (!argument.starts_with(flag)) return false;
      into = argument.substr(flag.size());
      return true;
    };
    std::string catalog;
    if (value("--catalog=", catalog)) {
      options.catalogs.push_back(catalog);
    } else if (argument == "--quick") {
      options.quick = true;
    } else if (argument == "--check") {
      arguments.check = true;
    } else if (!value("--module=", options.module) && !value("--wago=", options.wago) &&
               !value("--fib=", options.startup_module) && !value("--node-side=", options.node_script) &&
               !value("--node=", options.node)) {
      bool known = false;
      for (const Group& group : kGroups) known |= group.name == argument;
      if (!known) {
        std::fprintf(stderr, "wago_figures: %s is not a figure or a flag\n", argv[i]);
        return false;
      }
      arguments.groups.insert(argument);
    }
  }
  return true;
}

// The flags that a group cannot do without and that were not given; empty: none.
std::string missing_flags(const Group& group, const FigureOptions& options) {
  std::string missing;
  auto need = [&](unsigned which, const std::string& value, const char* flag) {
    if ((group.needs & which) == 0 || !value.empty()) return;
    missing += (missing.empty() ? "" : " and ") + std::string(flag);
  };
  need(kCatalog, options.catalogs.empty() ? "" : options.catalogs.front(), "--catalog=FILE");
  need(kProgram, options.wago, "--wago=FILE");
  need(kProgram, options.startup_module, "--fib=FILE");
  need(kNodeSide, options.node_script, "--node-side=FILE");
  return missing;
}

// What this process was started for by another of this program (fresh_process.h).
std::optional<Result<double>> asked_number(std::string_view argument) {
  auto path_behind = [&](std::string_view flag) { return std::string(argument.substr(flag.size())); };
  if (argument.starts_with(kCountInstancesFlag)) return bytes_per_instance(path_behind(kCountInstancesFlag));
  if (argument.starts_with(kCompilePeakFlag)) return compile_peak_bytes(path_behind(kCompilePeakFlag));
  return std::nullopt;
}

}  // namespace

int main(int argc, char** argv) {
  if (auto code = wago::harness::record_child_main(argc, argv)) return *code;
  if (auto number = argc == 2 ? asked_number(argv[1]) : std::nullopt) {
    if (!*number) {
      std::fprintf(stderr, "wago_figures: %s\n", number->error().to_string().c_str());
      return 1;
    }
    std::printf("%.0f\n", **number);
    return 0;
  }
  Arguments arguments;
  if (!parse(argc, argv, arguments)) return 2;
  std::vector<std::vector<std::string>> rows = {{"figure", "median [quartiles] n", "wanted", ""}};
  bool all_reached = true, all_measured = true;
  for (const Group& group : kGroups) {
    if (!arguments.groups.empty() && !arguments.groups.contains(group.name)) continue;
    if (std::string missing = missing_flags(group, arguments.options); !missing.empty()) {
      std::fprintf(stderr, "wago_figures: %s: give %s, as scripts/figures.sh does\n",
                   std::string(group.name).c_str(), missing.c_str());
      all_measured = false;
      continue;
    }
    auto figures = group.measure(arguments.options);
    if (!figures) {
      std::fprintf(stderr, "wago_figures: %s: %s\n", std::string(group.name).c_str(),
                   figures.error().to_string().c_str());
      all_measured = false;
      continue;
    }
    for (const Figure& figure : *figures) {
      all_reached &= figure.reached;
      std::string verdict = figure.wanted.empty() && figure.reached ? ""
                            : figure.reached                        ? "reached"
                                                                    : "MISSED";
      rows.push_back({figure.name, figure.measured, figure.wanted, verdict});
    }
  }
  const auto& machine = wago::harness::machine();
  std::printf("%s, %llu logical CPUs, %s\n\n%s", machine.cpu_model.c_str(),
              static_cast<unsigned long long>(machine.logical_cpus), machine.os_version.c_str(),
              wago::base::columns(rows).c_str());
  return !all_measured || (arguments.check && !all_reached) ? 1 : 0;
}
