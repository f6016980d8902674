// The phases of a workload, one Work each (see docs/recording.md for what an iteration of each is and what is
// checked).
#pragma once

#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "capture/manifest.h"
#include "harness/measure.h"
#include "harness/progress.h"
#include "harness/subject.h"

namespace wago::harness {

struct Recorded {
  std::vector<capture::PhaseRecord> phases;  // in the order they ran
  LoopResult loop;                           // of the measured phase
  uint64_t invocations = 0;                  // calls in it
};

// What an iteration of the phase that the workload measures does, made ready: for who has a loop of his own.
// `subject` and `clock` must outlive it.
std::variant<std::unique_ptr<Work>, RunFailure> make_work(const Subject& subject, base::Clock& clock);

// Runs the workload's life up to and through its measured phase. `recorded` holds what was done so far even
// when the status says why it stopped. `collector`, if there is one, is on during the measured phase.
RunStatus record_phases(const Subject& subject, base::Clock& clock, ProgressPage& progress,
                        Recorded& recorded, Collector* collector = nullptr);

}  // namespace wago::harness
