// The recording process's side of backend `perf`: what code there is goes to the dump, and perf's events are
// on during the measured phase.
#pragma once

#include <memory>
#include <string>

#include "harness/code_sink.h"
#include "harness/collector.h"
#include "harness/jitdump.h"
#include "harness/perf_control.h"

namespace wago::harness {

class PerfPhase final : public Collector {
 public:
  explicit PerfPhase(base::Fd control) : control_(std::move(control)) {}

  // Follows the code from now on; to be told by the journal.
  CodePublisher& publisher() { return publisher_; }
  // The dump, in the capture; from here on what is loaded goes there.
  base::Result<void> open(const std::string& directory);
  base::Result<void> begin_phase() override;
  base::Result<void> end_phase() override;
  void use(wago::Instance& /*instance*/) override {}
  // No code comes any more.
  base::Result<void> close() { return publisher_.finish(); }

 private:
  PerfControl control_;
  std::unique_ptr<JitDump> dump_;
  CodePublisher publisher_;
};

}  // namespace wago::harness
