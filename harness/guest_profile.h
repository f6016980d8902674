// Where the time of guests goes that run in this process, as a document of the Firefox Profiler: what backend
// `guest` has, without a workload, its checks and its capture.
//
// Started before anything is compiled, since it follows what code there is; one at a time in a process, and
// not while a recording is made. run() and finish() once each, in this order, on one thread. Source lines and
// what was inlined are known of engines that have source maps.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "harness/code_journal.h"
#include "harness/sampler.h"

namespace wago::harness {

struct GuestProfileDocument {
  std::string json;
  uint64_t samples = 0;
  std::vector<std::string> diagnostics;  // what a reader must know; sentences
};

class GuestProfile {
 public:
  // Errors (Unmeasurable): there is nothing here to sample by.
  static base::Result<std::unique_ptr<GuestProfile>> start(SamplerSettings settings);

  // Calls `guest`, sampled; the root of its stacks is this function. If sampling is refused (Unmeasurable),
  // `guest` is not called.
  base::Result<void> run(const std::function<void()>& guest);

  // `name`: of modules that have none, and of the profile. Errors (Unmeasurable): not all that worked could
  // be sampled.
  base::Result<GuestProfileDocument> finish(const std::string& name);

 private:
  explicit GuestProfile(std::unique_ptr<Sampler> sampler) : sampler_(std::move(sampler)) {}

  std::unique_ptr<Sampler> sampler_;
  CodeJournal journal_;
  base::Result<void> ended_;
  uint64_t start_unix_ns_ = 0;
  uint64_t start_monotonic_ns_ = 0;
  uint64_t duration_ns_ = 0;
};

}  // namespace wago::harness
