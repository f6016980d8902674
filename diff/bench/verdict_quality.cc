// wago_verdict_quality: what verdicts are worth, from experiments with a known slowdown.
//
//   wago_verdict_quality [--most-pairs=N] [--margin=P%] EXPERIMENT.wagoexp...
//
// Prints Markdown: for each slowdown that was injected, and for code that was moved, what the verdicts were,
// how often other rules would have claimed a change on as many of the same iterations, and whether intervals
// hold the truth. Controls count as unchanged code. See docs/verdict-quality.md and
// scripts/verdict-quality.sh. Exits with 2 for what cannot be read.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string_view>

#include "diff/bench/trials.h"

namespace {

using namespace wago::diff;
using namespace wago::diff::bench;

constexpr size_t kBlock = 12;  // pairs of an interval whose coverage is counted

struct Level {
  std::vector<Trial> trials;
  Coverage coverage;
};
// What was done to the candidate: slowed down, or set otherwise (a code shift, which is to change nothing).
struct Change {
  long ppm = 0;
  std::string setting;
  auto operator<=>(const Change&) const = default;
};
using Levels = std::map<Change, Level>;

void add(Levels& levels, const wago::capture::ExperimentContents& contents, const TrialOptions& options) {
  for (bool controls : {false, true}) {
    const double truth = controls ? 0 : injected(contents.experiment);
    Change change{std::lround(std::expm1(truth) * 1e6), ""};
    if (!controls) change.setting = contents.experiment.sides[1].setting;
    Level& level = levels[change];
    for (Trial& trial : trials_of(contents, controls, options)) level.trials.push_back(std::move(trial));
    const Coverage coverage = coverage_of(contents, controls, truth, kBlock);
    level.coverage.blocks += coverage.blocks;
    level.coverage.covered += coverage.covered;
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

void print_coverage(const Levels& levels) {
  std::printf("\n| injected | blocks of %zu pairs | 99 %% intervals that hold it |\n|---|---|---|\n", kBlock);
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
  TrialOptions options;
  Levels levels;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    constexpr std::string_view kMostPairs = "--most-pairs=", kMargin = "--margin=";
    if (argument.starts_with(kMostPairs)) {
      options.most_pairs = std::strtoul(argv[i] + kMostPairs.size(), nullptr, 10);
      continue;
    }
    if (argument.starts_with(kMargin)) {
      options.settings.margin = std::strtod(argv[i] + kMargin.size(), nullptr) / 100;
      continue;
    }
    const auto contents = wago::capture::read_experiment(std::string(argument));
    if (!contents) {
      std::fprintf(stderr, "wago_verdict_quality: %s\n", contents.error().to_string().c_str());
      return 2;
    }
    add(levels, *contents, options);
  }
  if (levels.empty() || options.most_pairs < kLooks.front() ||
      options.settings.margin < options.settings.floor) {
    std::fprintf(stderr,
                 "usage: wago_verdict_quality [--most-pairs=N, at least %zu] [--margin=P%%, at least %.2f%%] "
                 "EXPERIMENT.wagoexp...\n",
                 kLooks.front(), 100 * options.settings.floor);
    return 2;
  }
  print_verdicts(levels);
  print_rules(levels);
  print_coverage(levels);
  print_wrong(levels);
  return 0;
}
