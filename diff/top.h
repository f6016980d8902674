// `profile top`: where the time of a capture went, as far as the capture knows.
//
// With samples: what each function, line, kind of time or emitted site cost per completed unit of work.
// Without samples or counts it knows how long phases and iterations took, and says plainly that it does not
// know where inside them. What the compiler counted per function is shown apart, labelled as what it is:
// properties of the code, not hot spots.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "diff/disassemble.h"
#include "diff/elapsed.h"
#include "diff/evidence.h"
#include "diff/executed.h"
#include "diff/hot_spots.h"

namespace wago::base {
class Json;
}

namespace wago::diff {

struct PhaseTime {
  std::string phase;
  bool measured = false;
  uint64_t elapsed_ns = 0;           // from its start to its end
  std::optional<uint64_t> timed_ns;  // of it, inside the timed windows; nothing: it was not measured
  uint64_t completed_work = 0;
  std::string work_unit;
};

// A function as the compiler left it.
struct StaticFunction {
  uint32_t index = 0;
  std::string name;  // raw
  std::string signature;
  uint32_t bytes = 0;
  uint32_t wasm_bytes = 0;
  capture::FunctionStatistics statistics;
};

struct TopOptions {
  size_t limit = 20;  // entries listed
  Grouping by = Grouping::Function;
  Disassemble disassemble;  // needed for counts by line or site, see executed.h
};

struct Top {
  std::string capture;
  std::string workload;
  std::string module_name;
  std::string revision;
  std::string dirty;
  std::string backend;
  std::string mode;
  std::string measured_phase;
  std::string machine;                          // "processor, kernel, N logical cores"
  std::string settings;                         // "bounds signals, level 1"
  std::string samples;                          // the sentence about native samples
  std::optional<HotSpots> hot_spots;            // at most TopOptions::limit rows
  uint64_t hot_spot_count = 0;                  // all of them
  std::optional<uint64_t> work_behind_samples;  // see hot_spots.h
  uint64_t warmup_iterations = 0;
  std::vector<PhaseTime> phases;
  Elapsed elapsed;
  double items_per_second = 0;  // 0: the workload does not state its items
  double bytes_per_second = 0;
  std::optional<Executed> executed;       // at most TopOptions::limit rows
  uint64_t executed_count = 0;            // all of them
  std::optional<uint64_t> work;           // units of work behind the counts
  std::vector<StaticFunction> functions;  // largest first, at most TopOptions::limit
  uint64_t function_count = 0;            // all of them
  uint64_t unnamed_functions = 0;         // those that are only numbered
  uint64_t code_bytes = 0;                // of the functions
  std::vector<std::string> notes;         // diagnostics and losses of the capture
};

Top top_of(const Evidence& evidence, const TopOptions& options = {});

std::string to_text(const Top& top);
base::Json to_json(const Top& top);

}  // namespace wago::diff
