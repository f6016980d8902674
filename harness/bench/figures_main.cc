// wago_figures: measures the project's figures and prints them as a table.
//
//   wago_figures [startup] [call] [host-call] [recorder] [trap] [instance] [compile]
//                [interruption] [corpus]
//                    all of them when none is named
//     --catalog=FILE   the corpus; again for more
//     --module=FILE    a real module for the compile rate and for counting instances
//     --wago=FILE      the program `wago`
//     --fib=FILE       a module that exports fib, for the whole-process figures
//     --node=FILE --node-side=FILE
//     --quick          few repetitions
//     --check          1 when a figure is not reached
//   wago_figures --count-instances=FILE
//                    bytes that an instance of this module holds; used by [instance], in a process of its own
#include <cstdio>
#include <set>
#include <string_view>

#include "base/text.h"
#include "harness/bench/figures.h"
#include "harness/machine.h"

namespace {

using namespace wago::harness::bench;
using wago::base::Result;

struct Group {
  std::string_view name;
  Result<std::vector<Figure>> (*measure)(const FigureOptions&);
};
// In the order in which they are measured.
constexpr Group kGroups[] = {
    // First: a process that has grown takes longer to start others.
    {"startup", startup_figures},
    {"call", call_figures},
    {"host-call", host_call_figures},
    {"recorder", recorder_figures},
    {"trap", trap_figures},
    {"instance", instance_figures},
    {"compile", compile_figures},
    // Last: these bind the process to one CPU.
    {"interruption", interruption_figures},
    {"corpus", corpus_figures}};

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

int count_instances(const std::string& module) {
  auto bytes = bytes_per_instance(module);
  if (!bytes) {
    std::fprintf(stderr, "wago_figures: %s\n", bytes.error().to_string().c_str());
    return 1;
  }
  std::printf("%.0f\n", *bytes);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr std::string_view kCount = "--count-instances=";
  if (argc == 2 && std::string_view(argv[1]).starts_with(kCount)) {
    return count_instances(argv[1] + kCount.size());
  }
  Arguments arguments;
  if (!parse(argc, argv, arguments)) return 2;
  std::vector<std::vector<std::string>> rows = {{"figure", "median [quartiles] n", "wanted", ""}};
  bool all_reached = true;
  for (const Group& group : kGroups) {
    if (!arguments.groups.empty() && !arguments.groups.contains(group.name)) continue;
    auto figures = group.measure(arguments.options);
    if (!figures) {
      std::fprintf(stderr, "wago_figures: %s: %s\n", std::string(group.name).c_str(),
                   figures.error().to_string().c_str());
      all_reached = false;
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
  return arguments.check && !all_reached ? 1 : 0;
}
