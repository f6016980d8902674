// What a collector is to the recording process: something that is switched on for the measured phase, and
// that has files to add to the capture afterwards.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace wago {
class Instance;
}

namespace wago::harness {

class Collector {
 public:
  virtual ~Collector() = default;
  // Of one that has others inside it the innermost, else itself. Its begin_phase() is the one that is called,
  // and by who measures: a sampler takes its caller for the root of stacks.
  virtual Collector& innermost() { return *this; }
  // Both on the thread that does the work, as near to the edges of the measured phase as can be; warm-up is
  // over. What they refuse fails the recording.
  virtual base::Result<void> begin_phase() = 0;
  virtual base::Result<void> end_phase() = 0;
  // Around each batch of iterations that is timed: what lies between is their preparation and checks. For who
  // can tell what falls outside by its time, nothing.
  virtual void begin_window() {}
  virtual void end_window() {}
  // Before the phase: the instance whose functions it calls, where there is one for all of it. None can leave
  // this out, so that one that has another inside it does not forget to pass it on.
  virtual void use(wago::Instance& instance) = 0;
};

}  // namespace wago::harness
