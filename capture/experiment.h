// An experiment: two sides of every workload measured together, in pairs. A directory like a capture's,
// private to its owner, in which
//
//   experiment.json   what is compared, on what, how far it has come
//   pairs.jsonl       one pair a line, in the order in which they were measured; only ever appended to
//   captures/         ordinary captures of each side, for what is exact: captures/WORKLOAD.SIDE.wagoprof
//   explain/          what `profile explain` recorded of them later: explain/WORKLOAD.SIDE.PART.wagoprof
//
// An experiment that was interrupted is continued by the same command: pairs that are whole stay, a last line
// that is torn is cut off. Nothing of a pair is summed up or thrown away: every verdict can be reached again
// with other settings.
//
// Invariants, checked by the reader: pairs name workloads of experiment.json, none twice in a round; there
// are not fewer than it says; both sides of a pair have as many turns; offsets are 0, 16, 32 or 48.
//
// Since version 2 both files are sealed, so that what was edited, or put together of several experiments, is
// no evidence: the last member of experiment.json, and of every line, is the SHA-256 of the text before it. A
// line's begins with the line before, and the first's with the experiment's start and seed. It is no
// signature: whoever wants to forge one can compute it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/build_info.h"
#include "base/files.h"
#include "base/result.h"
#include "capture/schema.h"

namespace wago::capture {

inline constexpr const char* kExperimentFile = "experiment.json";
inline constexpr const char* kPairsFile = "pairs.jsonl";
inline constexpr uint64_t kExperimentVersion = 2;
inline constexpr uint64_t kOldestExperimentVersion = 1;

enum class ExperimentSide : uint8_t { Baseline, Candidate };
inline constexpr std::array kExperimentSides = {ExperimentSide::Baseline, ExperimentSide::Candidate};
// Of what is kept by side.
constexpr size_t index_of(ExperimentSide side) {
  return static_cast<size_t>(side);
}
std::string_view spelling(ExperimentSide side);  // "baseline", "candidate"

// What ran on a side.
struct SideRecord {
  std::string program;  // file name of the runner, without its folder
  std::string program_version;
  std::string revision;
  base::Dirty dirty = base::Dirty::Unknown;
  std::string runner_id;  // build id: equal means the same program
  uint64_t protocol = 0;  // version of the worker protocol that was spoken
  std::string setting;    // what was set on this side alone, as it was given; empty: nothing
  bool sanitized = false;
  uint64_t slowdown_ppm = 0;  // injected, of a self-test
  bool operator==(const SideRecord&) const = default;
};

enum class WorkloadState : uint8_t {
  Measured,
  Failed,  // a side crashed, hung, trapped or returned a wrong result: `diagnostic` says which
};

// Where code begins in its first cache line: pairs take turns with 0, 16, 32 and 48 bytes.
inline constexpr size_t kCodeOffsets = 4;

struct ExperimentWorkload {
  std::string id;
  std::string catalog;
  std::vector<std::string> labels;
  bool control = false;  // the baseline on both sides
  std::string contract_sha256;
  std::array<std::string, 2> module_sha256;  // by ExperimentSide
  std::array<std::string, 2> code_sha256;
  uint64_t calls_per_iteration = 1;
  uint64_t iteration_ns = 0;  // as estimated before the first pair
  WorkloadState state = WorkloadState::Measured;
  std::string diagnostic;
  std::array<std::string, 2>
      captures;  // paths in the experiment, by ExperimentSide; empty: none was recorded
  bool operator==(const ExperimentWorkload&) const = default;
};

struct Experiment {
  uint64_t version = kExperimentVersion;
  bool complete = false;  // stopped by its rule or its budget, not by a signal or a failure
  std::vector<std::string> diagnostics;
  std::array<SideRecord, 2> sides;
  std::string target;
  std::string cpu_model;
  std::string os_version;
  uint64_t logical_cpus = 0;
  uint64_t start_unix_ns = 0;
  uint64_t budget_ns = 0;
  uint64_t elapsed_ns = 0;
  uint64_t pairs = 0;  // there were at least so many when this was written
  uint64_t seed = 0;   // of all that is drawn at random
  std::vector<ExperimentWorkload> workloads;
  bool operator==(const Experiment&) const = default;
};

// Of one side in one turn.
struct Turn {
  uint64_t start_ns = 0;  // monotonic
  uint64_t wall_ns = 0;
  uint64_t cpu_ns = 0;  // thread-CPU time
  uint32_t voluntary_switches = 0;
  uint32_t involuntary_switches = 0;
  bool operator==(const Turn&) const = default;
};

// Where the processes of a pair have what was put at an address on purpose.
struct Addresses {
  uint64_t stack = 0;                 // its beginning; it grows downwards
  uint64_t memory = 0;                // the first linear memory; others behind it
  std::array<uint64_t, 2> code = {};  // and what is compiled later, behind it; by ExperimentSide
  bool operator==(const Addresses&) const = default;
};

// A fresh process of each side, alive at the same time on the same CPU.
struct Pair {
  uint32_t workload = 0;  // index into Experiment::workloads
  uint32_t round = 0;
  uint32_t code_offset = 0;                         // of both sides, one of kCodeOffsets
  ExperimentSide first = ExperimentSide::Baseline;  // whose turn was the first
  // Whose process was started, loaded and warmed up before the other's.
  ExperimentSide loaded_first = ExperimentSide::Baseline;
  uint32_t padding_bytes = 0;  // of the environment, the same on both sides
  // Nothing: wherever the kernel had put things, elsewhere on either side.
  std::optional<Addresses> addresses;
  uint32_t cpu = 0;  // that both were bound to
  uint64_t iterations_per_turn = 1;
  bool sliced = false;  // long iterations: both ran freely and the kernel alternated; else turn by turn
  std::array<std::vector<Turn>, 2> turns;  // by ExperimentSide; warm-up excluded
  bool operator==(const Pair&) const = default;
};

struct ExperimentLimits {
  uint64_t manifest_bytes = uint64_t{64} << 20;
  uint64_t pairs_bytes = uint64_t{4} << 30;
  uint64_t pairs = 1'000'000;
  uint64_t turns = 1'000'000;  // of one side of a pair
  uint64_t workloads = 100'000;
};

std::string to_json_text(const Experiment& experiment);
base::Result<Experiment> parse_experiment(std::string_view text, const std::string& file,
                                          const ExperimentLimits& limits = {});

// The lines of an experiment's pairs, each sealed with the one before.
class PairLines {
 public:
  explicit PairLines(const Experiment& experiment);
  // The next line, its end included.
  std::string next(const Pair& pair);
  // Whether this, without its end, is the next one as it was written.
  bool is_next(std::string_view line);

 private:
  bool sealed_;
  std::string before_;  // the seal of the last line
};

struct PairsRead {
  std::vector<Pair> pairs;
  uint64_t whole_bytes = 0;  // of the lines that are whole; what follows is a torn one
  PairLines lines;           // to go on with
};
// Errors name the line.
base::Result<PairsRead> parse_pairs(std::string_view text, const Experiment& experiment,
                                    const std::string& file, const ExperimentLimits& limits = {});

// Captures by which a finding is explained.
inline constexpr const char* kExplainDirectory = "explain";
enum class ExplainPart : uint8_t { Exact, Sampled };  // code and counts; where the time goes
// "fib.baseline.exact.wagoprof"
std::string explain_capture(const std::string& workload, ExperimentSide side, ExplainPart part);

// The workload of that name that is no control. Errors (Usage): there is none, with those that there are.
base::Result<size_t> find_workload(const Experiment& experiment, std::string_view id,
                                   const std::string& file);

// Whether `path` is the directory of an experiment rather than of a capture.
bool is_experiment(const std::string& path, base::Files& files = base::system_files());

struct ExperimentContents {
  Experiment experiment;
  std::vector<Pair> pairs;
};
base::Result<ExperimentContents> read_experiment(const std::string& path,
                                                 base::Files& files = base::system_files(),
                                                 const ExperimentLimits& limits = {});

}  // namespace wago::capture
