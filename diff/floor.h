// The floor of verdicts: changes up to it are not told from none. It is learned from what controls, the same
// program on both sides, moved by in experiments of the past on the same kind of processor.
//
//   f = max(0.25 %, q)   q: the 95 % quantile of |change| of those controls, where there are 20 or more
//
// Of controls of as many pairs as the first look has, or more: what fewer scatter by is what verdicts, which
// rest on more, have in their intervals already.
//
// Who names a floor has the one that was named. A pure function of what a history holds: the same history
// gives the same floor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "capture/history.h"
#include "diff/verdict.h"

namespace wago::base {
class Json;
}

namespace wago::diff {

inline constexpr size_t kControlsToLearn = 20;
inline constexpr double kControlQuantile = 0.95;
inline constexpr uint64_t kControlPairs = kLooks.front();

// What past controls teach of one kind of processor.
struct PastControls {
  size_t controls = 0;          // of kControlPairs or more
  std::optional<double> moved;  // the quantile of |change|; nothing: they are too few
};
PastControls past_controls(std::span<const capture::HistoryExperiment> experiments, std::string_view target,
                           std::string_view cpu_model);

enum class FloorFrom : uint8_t { Default, Given, History };

struct Floor {
  double value = VerdictSettings().floor;
  FloorFrom from = FloorFrom::Default;
  std::string history;  // the store that was asked; empty: none was
  PastControls past;
};
// "0.25 %, the default", "0.41 %, learned: 95 % of 43 controls of 8 pairs or more on this kind of processor
// in perf.wagohist moved by no more"
std::string to_text(const Floor& floor);
base::Json to_json(const Floor& floor);

// How an experiment is read.
struct ReadSettings {
  VerdictSettings verdicts;
  bool floor_given = false;
  bool margin_given = false;
  std::string history;  // the store that the floor is learned from; empty: none
  std::shared_ptr<const std::vector<capture::HistoryExperiment>> past;  // of the store
};
struct ReadBy {
  VerdictSettings verdicts;
  Floor floor;
};
// With the floor of a processor. A margin that nobody gave is raised to it, since nothing is "same" more
// sharply than that. Error (Usage): the margin given is below it.
base::Result<ReadBy> read_by(const ReadSettings& settings, std::string_view target,
                             std::string_view cpu_model);

}  // namespace wago::diff
