// Runs generated modules in configurations that could disagree, and in V8, and compares what can be seen.
//
//   fuzz_differential [--first SEED] [--count N] [--bytes N] [--modules FOLDER] [--node SCRIPT] [--keep
//   FOLDER]
//
// Module SEED is generated from that seed's random bytes (at most `bytes` of them, 1500 unless told). With
// --modules the modules are the *.wasm of a folder instead, which another generator made: valid, and ending
// by themselves. With
// --node, which names differential.mjs, node runs them too; where there is no node, exits with 77. --keep
// writes the modules and what was seen of them to a new folder, instead of a temporary one.

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <unistd.h>

#include "base/files.h"
#include "base/process.h"
#include "ctest/fuzz/choices.h"
#include "ctest/fuzz/generate_module.h"
#include "ctest/fuzz/observe.h"
#include "runtime/module.h"

namespace wago::fuzz {
namespace {

namespace fs = std::filesystem;

struct Options {
  uint64_t first = 0, count = 100;
  size_t max_bytes = 1500;
  std::vector<fs::path> modules;  // in place of generated ones
  std::string node_script;
  std::string keep;
};

std::vector<uint8_t> module_at(const Options& options, uint64_t i) {
  if (!options.modules.empty()) return base::system_files().read(options.modules[i], 64 << 20).value();
  Random random(options.first + i);
  const size_t count = 20 + random.below(options.max_bytes);
  return generate_module(random.bytes(count));
}

std::array<Engine, 4> open_engines() {
  auto open = [](Bounds bounds, bool plain) {
    return Engine::open({.bounds = bounds,
                         .level = plain ? 0 : 1,
                         .spill_everything = plain,
                         .check_allocation = true,
                         .verify_ir = true})
        .value();
  };
  return {open(Bounds::Explicit, true), open(Bounds::Signals, true), open(Bounds::Explicit, false),
          open(Bounds::Signals, false)};
}

// Traps as far as V8's messages tell them apart.
std::string without_fine_traps(std::string text) {
  static constexpr std::pair<std::string_view, std::string_view> kSame[] = {
      {"! invalid-conversion-to-integer", "! integer-overflow"},
      {"! undefined-element", "! table-out-of-bounds"},
      {"! uninitialized-element", "! indirect-call-type-mismatch"},
  };
  for (auto [fine, coarse] : kSame) {
    for (size_t at = 0; (at = text.find(fine, at)) != std::string::npos; at += coarse.size()) {
      text.replace(at, fine.size(), coarse);
    }
  }
  return text;
}

std::string first_difference(const std::string& a, const std::string& b) {
  auto line_at = [](const std::string& text, size_t at) {
    const size_t begin = text.rfind('\n', at == 0 ? 0 : at - 1);
    const size_t from = begin == std::string::npos ? 0 : begin + 1;
    return text.substr(from, text.find('\n', from) - from);
  };
  const size_t at =
      static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
  return "  " + line_at(a, at) + "\n  " + line_at(b, at) + "\n";
}

struct Totals {
  uint64_t compared = 0, exhausted = 0, calls = 0, traps = 0, differences = 0;

  void count(const Observation& seen) {
    ++compared;
    exhausted += seen.exhausted;
    for (size_t at = 0; (at = seen.text.find('\n', at)) != std::string::npos; ++at) {
      const char first = at + 1 < seen.text.size() ? seen.text[at + 1] : 0;
      calls += first == '=' || first == '!';
      traps += first == '!';
    }
  }
  void differ(uint64_t seed, const char* what, const std::string& a, const std::string& b) {
    ++differences;
    std::printf("module %llu: %s\n%s", static_cast<unsigned long long>(seed), what,
                first_difference(a, b).c_str());
  }
};

// What all configurations of ours see of one module; they must agree.
Observation observe_all(std::span<const Engine> engines, uint64_t seed, std::span<const uint8_t> module,
                        Totals& totals) {
  static constexpr const char* kNames[] = {"", "signals", "explicit, optimised", "signals, optimised"};
  Observation first = observe(engines[0], module);
  for (size_t i = 1; i < engines.size(); ++i) {
    const Observation other = observe(engines[i], module);
    if (first.exhausted || other.exhausted) continue;
    if (first.text != other.text) totals.differ(seed, kNames[i], first.text, other.text);
  }
  totals.count(first);
  return first;
}

bool write(const fs::path& path, std::span<const uint8_t> bytes) {
  const auto done = base::system_files().create(path, bytes);
  if (!done) std::printf("%s\n", done.error().to_string().c_str());
  return done.ok();
}

bool run_node(const std::string& node, const Options& options, const fs::path& folder) {
  auto process =
      base::Process::spawn({.program = node, .argv = {node, options.node_script, folder.string()}});
  if (!process) return std::printf("%s\n", process.error().to_string().c_str()), false;
  const base::Ended ended = *process->wait(-1);
  if (!ended.ok()) std::printf("node %s\n", base::to_string(ended).c_str());
  return ended.ok();
}

int compare_with_node(const Options& options, const fs::path& folder, std::span<const Observation> seen,
                      Totals& totals) {
  for (uint64_t i = 0; i < seen.size(); ++i) {
    const auto bytes = base::system_files().read(folder / (std::to_string(i) + ".seen"), uint64_t{1} << 20);
    if (!bytes) return std::printf("%s\n", bytes.error().to_string().c_str()), 1;
    const std::string theirs(base::as_text(*bytes));
    if (seen[i].exhausted || theirs.find("! stack-exhausted") != std::string::npos) continue;
    const std::string ours = without_fine_traps(seen[i].text);
    if (ours != theirs) totals.differ(options.first + i, "V8", ours, theirs);
  }
  return 0;
}

int run(const Options& options) {
  const std::optional<std::string> node = base::find_program("node");
  if (!options.node_script.empty() && !node) {
    std::printf("skipped: there is no node to compare with\n");
    return 77;
  }
  const std::array<Engine, 4> engines = open_engines();
  const bool keeps_files = !options.keep.empty() || !options.node_script.empty();
  const fs::path folder = !options.keep.empty()
                              ? fs::path(options.keep)
                              : fs::temp_directory_path() / ("wago-differential-" + std::to_string(getpid()));
  if (keeps_files) fs::create_directory(folder);
  Totals totals;
  std::vector<Observation> seen;
  for (uint64_t i = 0; i < options.count; ++i) {
    const std::vector<uint8_t> module = module_at(options, i);
    if (keeps_files) {
      const std::string plan = plan_of(**runtime::decode_module(module));
      const std::string name = (folder / std::to_string(i)).string();
      if (!write(name + ".wasm", module) || !write(name + ".plan", base::as_bytes(plan))) return 1;
    }
    seen.push_back(observe_all(engines, options.first + i, module, totals));
    if (!options.keep.empty() &&
        !write(folder / (std::to_string(i) + ".ours"), base::as_bytes(seen.back().text))) {
      return 1;
    }
  }
  int status = 0;
  if (!options.node_script.empty()) {
    status = run_node(*node, options, folder) ? compare_with_node(options, folder, seen, totals) : 1;
  }
  if (keeps_files && options.keep.empty()) fs::remove_all(folder);
  auto number = [](uint64_t value) { return static_cast<unsigned long long>(value); };
  std::printf(
      "%llu modules, %llu calls, %llu of them trapped, %llu modules exhausted the stack, %llu differences\n",
      number(totals.compared), number(totals.calls), number(totals.traps), number(totals.exhausted),
      number(totals.differences));
  return status != 0 || totals.differences > 0 ? 1 : 0;
}

std::vector<fs::path> modules_in(const fs::path& folder) {
  std::vector<fs::path> modules;
  for (const fs::directory_entry& it : fs::directory_iterator(folder)) {
    if (it.path().extension() == ".wasm") modules.push_back(it.path());
  }
  std::sort(modules.begin(), modules.end());
  return modules;
}

std::optional<Options> parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string flag = argv[i], value = argv[i + 1];
    if (flag == "--first") {
      options.first = std::strtoull(value.c_str(), nullptr, 10);
    } else if (flag == "--count") {
      options.count = std::strtoull(value.c_str(), nullptr, 10);
    } else if (flag == "--bytes") {
      options.max_bytes = std::strtoull(value.c_str(), nullptr, 10);
    } else if (flag == "--modules") {
      options.modules = modules_in(value);
      options.count = options.modules.size();
    } else if (flag == "--node") {
      options.node_script = value;
    } else if (flag == "--keep") {
      options.keep = value;
    } else {
      return std::nullopt;
    }
  }
  if (argc % 2 == 0) return std::nullopt;
  return options;
}

}  // namespace
}  // namespace wago::fuzz

int main(int argc, char** argv) {
  const auto options = wago::fuzz::parse(argc, argv);
  if (!options) {
    std::fprintf(stderr,
                 "usage: fuzz_differential [--first SEED] [--count N] [--bytes N] [--modules FOLDER] [--node "
                 "SCRIPT] [--keep FOLDER]\n");
    return 2;
  }
  return wago::fuzz::run(*options);
}
