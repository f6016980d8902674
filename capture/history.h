// What is kept of experiments once they are over: of every workload the ratio of its two sides, with what the
// verdict rested on. Ratios only: both sides of one ran together, and that stays true for years, which no
// time in nanoseconds does.
//
// A version is the name of what ran on a side: a revision, or what it was called when it was added. Versions
// and the ratios between them are a graph; diff/history.h makes series of it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace wago::capture {

struct HistorySide {
  std::string version;
  std::string revision;   // of the program
  std::string program;    // file name of the runner, without its folder
  std::string runner_id;  // equal means the same program
  bool operator==(const HistorySide&) const = default;
};

// A workload of an experiment. Ratios are candidate over baseline, as natural logarithms.
struct HistoryResult {
  std::string catalog;
  std::string workload;
  std::vector<std::string> labels;
  std::string contract_sha256;
  bool control = false;  // the baseline on both sides: measures the machine
  std::string finding;   // as diff spells it
  bool gated = false;    // held over all workloads of the experiment
  uint64_t pairs = 0;    // that the ratio rests on; 0: there is none
  uint64_t cold_pairs = 0;
  double log_ratio = 0;
  std::optional<double> log_low;  // of the interval; nothing: one pair has none
  std::optional<double> log_high;
  std::optional<double> log_error;  // standard error
  double p_value = 1;
  double holm = 1;
  bool layout_sensitive = false;
  std::optional<bool> same_code;                // nothing: not known
  std::optional<double> baseline_instructions;  // machine instructions of an iteration, exact
  std::optional<double> candidate_instructions;
  bool operator==(const HistoryResult&) const = default;
};

struct HistoryExperiment {
  std::string identity;  // what tells it from all others, and stays the same when it is continued
  std::string name;      // of its directory
  uint64_t start_unix_ns = 0;
  std::array<HistorySide, 2> sides;  // by ExperimentSide
  std::string target;
  std::string cpu_model;
  std::string os_version;
  uint64_t logical_cpus = 0;
  double confidence = 0;  // of the intervals
  double floor = 0;       // with which the findings were made
  double margin = 0;
  std::vector<HistoryResult> results;
  bool operator==(const HistoryExperiment&) const = default;
};

}  // namespace wago::capture
