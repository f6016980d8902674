// What the experiments of a history say together: where versions lie, and where a workload changed.
//
// A series is one workload on one kind of processor: experiments that share its name, its contract, target
// and processor model. Versions are in the order of time; one that was measured late, between two others,
// lies between them: a version comes after every baseline that it was measured against. Levels are ratios to
// an anchor, by way of all experiments (diff/levels.h); where both sides ran the same code, the ratio is one,
// exactly.
//
// Changes are where levels shift for good (diff/change_points.h), by more than the floor and by more than the
// errors of the two neighbours allow. That is a proposal: it is confirmed, or refuted, by an experiment of
// the two neighbours.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "capture/experiment.h"
#include "capture/history.h"
#include "diff/signed_rank.h"

namespace wago::base {
class Json;
}

namespace wago::diff {

struct Report;

inline constexpr double kHistoryConfidence = 0.99;  // of the intervals of levels

// Equal: the same experiment, or a copy of it, however far each was continued.
std::string identity_of(const capture::Experiment& experiment);

// What is kept of an experiment. `versions` name its sides; a side without a name is called after its
// revision. Errors: an experiment that is not finished or says nothing, and sides that are no two versions;
// `flags` are those by which the user names the sides of it.
inline constexpr std::array<std::string_view, 2> kHistoryNames = {"--baseline-as", "--candidate-as"};
base::Result<capture::HistoryExperiment> history_entry(
    const Report& report, const std::array<std::optional<std::string>, 2>& versions = {},
    const std::array<std::string_view, 2>& flags = kHistoryNames);

// The result of one experiment, as a link between two versions.
struct HistoryLink {
  size_t baseline = 0;  // indexes into the series' points
  size_t candidate = 0;
  size_t experiment = 0;  // index into History::experiments
  size_t result = 0;      // index into its results
};

// Changes are ratios minus one: +0.01 is 1 % slower than the anchor.
struct HistoryLevel {
  double change = 0;
  Interval interval;
};

struct HistoryPoint {
  std::string version;
  uint64_t first_unix_ns = 0;         // when it was measured first
  std::optional<HistoryLevel> level;  // nothing: no experiment leads to it from the anchor
};

enum class ChangeState : uint8_t { Proposed, Confirmed, Refuted };
std::string_view spelling(ChangeState state);  // "proposed", "confirmed", "refuted"

struct HistoryChange {
  size_t before = 0;  // index into points: the last version of the old level
  size_t point = 0;   // the first of the new one
  double change = 0;  // of the new level against the old one
  double p_value = 1;
  ChangeState state = ChangeState::Proposed;
  std::optional<size_t> link;  // what confirmed or refuted it: index into links
};

struct HistorySeries {
  std::string catalog;
  std::string workload;
  std::vector<std::string> labels;  // as the last experiment had them
  std::string contract_sha256;
  std::string target;
  std::string cpu_model;
  size_t anchor = 0;  // index into points
  double floor = 0;   // of changes
  std::vector<HistoryPoint> points;
  std::vector<HistoryLink> links;  // in the order of time
  std::vector<HistoryChange> changes;
};

struct HistoryOptions {
  std::optional<std::string> anchor;  // a version; nothing, or not in a series: its first one
  double floor = 0.0025;              // at least; past controls on the same processor may raise it
};

struct History {
  std::string path;  // of the store, as the user named it
  std::vector<capture::HistoryExperiment> experiments;
  std::vector<std::string> versions;  // in the order of time
  std::vector<std::string> remarks;   // sentences: what about that order is doubtful
  std::vector<HistorySeries> series;  // by catalog, workload, processor
};

// Experiments as read_history() gives them. Errors: an anchor that no experiment has.
base::Result<History> history_of(const std::string& path, std::vector<capture::HistoryExperiment> experiments,
                                 const HistoryOptions& options = {});

// Those of one workload, which is named alone or behind its catalog: "fib", "bundled/fib".
base::Result<std::vector<const HistorySeries*>> series_of(const History& history,
                                                          const std::string& workload);

// Where what a confirmation needs is kept; empty: written as it would be if kept by name.
struct ConfirmationPaths {
  std::string catalog;  // a file
  std::string runners;  // a directory: VERSION/wago-profile, or the modules of VERSION
};
// The experiment that confirms or refutes a change, and its addition to the history: one line for a shell.
std::string confirmation_command(const History& history, const HistorySeries& series,
                                 const HistoryChange& change, const ConfirmationPaths& paths);

// profile history list, show and changes: a model, two views.
std::string list_text(const History& history);
base::Json list_json(const History& history);
std::string series_text(const History& history, const HistorySeries& series, bool colour = false);
base::Json series_json(const History& history, const HistorySeries& series);
std::string changes_text(const History& history, const ConfirmationPaths& paths, bool colour = false);
base::Json changes_json(const History& history, const ConfirmationPaths& paths);

// The series as a picture: an SVG element in the colours of the report's document.
std::string history_svg(const HistorySeries& series);

}  // namespace wago::diff
