#include "harness/perf_phase.h"

namespace wago::harness {

base::Result<void> PerfPhase::open(const std::string& directory) {
  auto dump = JitDump::create(directory);
  if (!dump) return dump.error();
  dump_ = *std::move(dump);
  publisher_.release(*dump_);
  return {};
}

base::Result<void> PerfPhase::begin_phase() {
  if (auto enabled = control_.command("enable", kPerfAnswerMs); !enabled) return enabled;
  return dump_->map_again();
}

base::Result<void> PerfPhase::end_phase() {
  return control_.command("disable", kPerfAnswerMs);
}

}  // namespace wago::harness
