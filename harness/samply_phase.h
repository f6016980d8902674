// The recording process's side of backend `samply`: what code there is goes to a jitdump in the capture, from
// which samply has the names.
//
// samply finds the dump when the process maps it, and looks through it once it is done. A process that it
// attached to while that waited is not seen before its first tick, which is when the dump is made: it is
// mapped once more when the measured phase is over, and samples of before have their names all the same.
#pragma once

#include <memory>
#include <string>

#include "harness/collector.h"
#include "harness/publish_code.h"

namespace wago::harness {

class SamplyPhase final : public Collector {
 public:
  // Code that is loaded from now on is in the dump.
  static base::Result<std::unique_ptr<SamplyPhase>> open(const std::string& directory) {
    auto dump = publish_code(CodeFile::JitDump, directory);
    if (!dump) return dump.error();
    return std::unique_ptr<SamplyPhase>(new SamplyPhase(*std::move(dump)));
  }
  base::Result<void> begin_phase() override { return {}; }
  base::Result<void> end_phase() override { return dump_->show_again(); }
  void use(wago::Instance& /*instance*/) override {}
  // No code comes any more.
  base::Result<void> close() { return dump_->close(); }

 private:
  explicit SamplyPhase(std::unique_ptr<PublishedCodeFile> dump) : dump_(std::move(dump)) {}

  std::unique_ptr<PublishedCodeFile> dump_;
};

}  // namespace wago::harness
