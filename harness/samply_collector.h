// The recorder's side of backend `samply`: `samply record` attached to the recording process before it loads
// the module, which writes its own document when that process has ended. The names of compiled code it takes
// from the jitdump that the recording process keeps in the capture.
//
// samply samples all of the process from then on, compilation and warm-up included, and cannot be
// switched: its document says where time went, and no cost of the measured phase is taken from it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/process.h"
#include "base/result.h"
#include "harness/collector_program.h"

namespace wago::harness {

inline constexpr const char* kSamplyFile = "samply.json.gz";

// `samply --version` without its first word; an error (Unmeasurable) where there is no samply.
base::Result<std::string> samply_version();

class SamplyCollector {
 public:
  // Attaches samply and waits until it samples. Errors (Unmeasurable) say why it does not work here and which
  // setting would change that.
  static base::Result<std::unique_ptr<SamplyCollector>> start(CollectorSettings settings);

  // Why samply is no longer there, while it should be.
  std::optional<base::Error> ended() { return program_.ended(*record_, "samply record"); }
  // The recording process has ended: samply writes what it has. Answers what a reader must know of it, in
  // sentences. Errors: it does not, or what it writes is no document.
  base::Result<std::vector<std::string>> finish();

 private:
  explicit SamplyCollector(CollectorSettings settings);

  CollectorProgram program_;
  std::optional<base::Process> record_;
};

}  // namespace wago::harness
