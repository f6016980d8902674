// wago_verdict_quality: what verdicts are worth, from experiments with a known slowdown.
//
//   wago_verdict_quality [--most-pairs=N | --as-run] [--margin=P%] [--block=N] EXPERIMENT.wagoexp...
//
// Prints Markdown: for each slowdown that was injected, and for code that was moved, what the verdicts were,
// how often other rules would have claimed a change on as many of the same iterations, and whether intervals
// of blocks of so many pairs (12) hold the truth. With --as-run the experiments are suites that chose
// themselves how many pairs each workload needs: each workload is one trial, and each suite one more.
// Controls count as unchanged code. See docs/verdict-quality.md and scripts/verdict-quality.sh. Exits with 2
// for what cannot be read.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string_view>

#include "diff/bench/trials.h"

namespace {

using namespace wago::diff;
using namespace wago::diff::bench;

struct Level {
  std::vector<Trial> trials;
  std::vector<Suite> suites;
  Coverage coverage;
};
struct Options {
  TrialOptions trials;
  size_t block = 12;  // pairs of an interval whose coverage is counted
};
// What was done to the candidate: slowed down, or set otherwise (a code shift, which is to change nothing).
struct Change {
  long ppm = 0;
  std::string setting;
  auto operator<=>(const Change&) const = default;
};
using Levels = std::map<Change, Level>;

void add(Levels& levels, const wago::capture::ExperimentContents& contents, const Options& options) {
  for (bool controls : {false, true}) {
    const double truth = controls ? 0 : injected(contents.experiment);
    Change change{std::lround(std::expm1(truth) * 1e6), ""};
    if (!controls) change.setting = contents.experiment.sides[1].setting;
    Level& level = levels[change];
    for (Trial& trial : trials_of(contents, controls, options.trials))
      level.trials.push_back(std::move(trial));
    const Coverage coverage = coverage_of(contents, controls, truth, options.block);
    level.coverage.blocks += coverage.blocks;
    level.coverage.covered += coverage.covered;
    if (!controls) level.suites.push_back(suite_of(contents, options.trials.settings));
  }
}

std::string share(size_t hits, size_t of) {
  if (of == 0) return "";
  const Interval interval = wilson(hits, of);
  char text[80];
  std::snprintf(text, sizeof text, "%.1f %% [%.1f, %.1f]",
                100.0 * static_cast<double>(hits) / static_cast<double>(of), 100 * interval.low,
                100 * interval.high);
  return text;
}

std::string name_of(const Change& change) {
  if (change.ppm == 0) return change.setting.empty() ? "none" : "none, " + change.setting;
  char text[32];
  std::snprintf(text, sizeof text, "%+.3g %%", static_cast<double>(change.ppm) / 1e4);
  return text + (change.setting.empty() ? "" : ", " + change.setting);
}

size_t count(const std::vector<Trial>& trials, Finding finding) {
  size_t n = 0;
  for (const Trial& trial : trials) n += trial.finding == finding;
  return n;
}

void print_verdicts(const Levels& levels) {
  std::printf(
      "| injected | trials | regressed | improved | same | layout-sensitive | inconclusive | pairs, mean | "
      "seconds, mean |\n"
      "|---|---|---|---|---|---|---|---|---|\n");
  for (const auto& [change, level] : levels) {
    double pairs = 0, seconds = 0;
    for (const Trial& trial : level.trials) {
      pairs += static_cast<double>(trial.pairs);
      seconds += trial.seconds;
    }
    const size_t n = level.trials.size();
    std::printf("| %s | %zu |", name_of(change).c_str(), n);
    for (Finding finding : {Finding::Regressed, Finding::Improved, Finding::Same, Finding::LayoutSensitive,
                            Finding::Inconclusive}) {
      std::printf(" %s |", share(count(level.trials, finding), n).c_str());
    }
    std::printf(" %.1f | %.1f |\n", pairs / static_cast<double>(n), seconds / static_cast<double>(n));
  }
}

// A finding of this project is held against the others' where they could be judged as well.
void print_rules(const Levels& levels) {
  std::printf("\n| rule |");
  for (const auto& [change, level] : levels) {
    std::printf(change.ppm == 0 ? " claims a change: %s |" : " finds %s |", name_of(change).c_str());
  }
  std::printf("\n|---|");
  for (size_t i = 0; i < levels.size(); ++i) std::printf("---|");
  std::printf("\n");
  auto row = [&](std::string_view name, auto claim) {
    std::printf("| %.*s |", static_cast<int>(name.size()), name.data());
    for (const auto& [change, level] : levels) {
      size_t hits = 0, of = 0;
      for (const Trial& trial : level.trials) {
        if (!trial.others_judged) continue;
        ++of;
        hits += change.ppm == 0 ? claim(trial) != Claim::None : claim(trial) == Claim::Slower;
      }
      std::printf(" %s |", share(hits, of).c_str());
    }
    std::printf("\n");
  };
  for (size_t i = 0; i < other_rules().size(); ++i) {
    row(other_rules()[i].name, [&](const Trial& trial) { return trial.others.at(i); });
  }
  row("**seesaw pairs**", [](const Trial& trial) {
    return trial.finding == Finding::Regressed  ? Claim::Slower
           : trial.finding == Finding::Improved ? Claim::Faster
                                                : Claim::None;
  });
}

// Whole experiments: what a gate would have said.
void print_suites(const Levels& levels) {
  std::printf(
      "\n| injected | experiments | with a finding | environment invalid | budget spent first | seconds, "
      "mean "
      "| seconds, most |\n|---|---|---|---|---|---|---|\n");
  for (const auto& [change, level] : levels) {
    const std::vector<Suite>& suites = level.suites;
    if (suites.empty()) continue;  // of controls alone
    double seconds = 0, most = 0;
    for (const Suite& suite : suites) {
      seconds += suite.seconds;
      most = std::max(most, suite.seconds);
    }
    auto those = [&](auto holds) {
      return share(static_cast<size_t>(std::ranges::count_if(suites, holds)), suites.size());
    };
    std::printf("| %s | %zu | %s | %s | %s | %.0f | %.0f |\n", name_of(change).c_str(), suites.size(),
                those([](const Suite& suite) { return suite.claims > 0; }).c_str(),
                those([](const Suite& suite) { return suite.invalid; }).c_str(),
                those([](const Suite& suite) { return suite.unfinished; }).c_str(),
                seconds / static_cast<double>(suites.size()), most);
  }
}

void print_coverage(const Levels& levels, size_t block) {
  std::printf("\n| injected | blocks of %zu pairs | 99 %% intervals that hold it |\n|---|---|---|\n", block);
  for (const auto& [change, level] : levels) {
    std::printf("| %s | %zu | %s |\n", name_of(change).c_str(), level.coverage.blocks,
                share(level.coverage.covered, level.coverage.blocks).c_str());
  }
}

// What went wrong, by workload: claims where nothing changed, and verdicts against the truth.
void print_wrong(const Levels& levels) {
  std::map<std::string, size_t> wrong;
  for (const auto& [change, level] : levels) {
    for (const Trial& trial : level.trials) {
      const bool claimed = trial.finding == Finding::Regressed || trial.finding == Finding::Improved;
      const bool denied = change.ppm > 10'000 && trial.finding == Finding::Same;
      if ((change.ppm == 0 && claimed) || trial.finding == Finding::Improved || denied) {
        ++wrong[trial.workload + ": " + std::string(spelling(trial.finding)) + " at " + name_of(change)];
      }
    }
  }
  std::printf("\nWrong verdicts: %s\n", wrong.empty() ? "none." : "");
  for (const auto& [what, times] : wrong) std::printf("* %s, %zu times\n", what.c_str(), times);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  TrialOptions& trials = options.trials;
  std::vector<std::string> paths;
  bool usage = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    auto number = [&](std::string_view flag) { return std::strtod(argv[i] + flag.size(), nullptr); };
    constexpr std::string_view kMostPairs = "--most-pairs=", kMargin = "--margin=", kBlock = "--block=";
    if (argument == "--as-run") {
      trials.as_run = true;
    } else if (argument.starts_with(kMostPairs)) {
      trials.most_pairs = static_cast<size_t>(std::max(0.0, number(kMostPairs)));
    } else if (argument.starts_with(kBlock)) {
      options.block = static_cast<size_t>(std::max(0.0, number(kBlock)));
    } else if (argument.starts_with(kMargin)) {
      trials.settings.margin = number(kMargin) / 100;
    } else if (argument.starts_with("--")) {
      usage = true;
    } else {
      paths.emplace_back(argument);
    }
  }
  if (usage || paths.empty() || trials.most_pairs < kLooks.front() || options.block < kLooks.front() ||
      trials.settings.margin < trials.settings.floor) {
    std::fprintf(
        stderr,
        "usage: wago_verdict_quality [--most-pairs=N, at least %zu | --as-run] [--margin=P%%, at least "
        "%.2f%%] [--block=N, at least %zu] EXPERIMENT.wagoexp...\n",
        kLooks.front(), 100 * trials.settings.floor, kLooks.front());
    return 2;
  }
  Levels levels;
  for (const std::string& path : paths) {
    const auto contents = wago::capture::read_experiment(path);
    if (!contents) {
      std::fprintf(stderr, "wago_verdict_quality: %s\n", contents.error().to_string().c_str());
      return 2;
    }
    add(levels, *contents, options);
  }
  print_verdicts(levels);
  trials.as_run ? print_suites(levels) : print_rules(levels);
  print_coverage(levels, options.block);
  print_wrong(levels);
  return 0;
}
