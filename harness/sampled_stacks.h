// What a sampler saw -> a capture's samples: addresses joined to the code that was there at the time, native
// ones named, and every frame put on its side (see stack_sides.h).
#pragma once

#include "capture/samples.h"
#include "harness/code_images.h"
#include "harness/sampler.h"
#include "harness/timed_windows.h"

namespace wago::harness {

// Those taken in `windows`.
capture::Samples describe_samples(const Sampler& sampler, const CodeJournal& journal,
                                  const DescribedCode& code, const TimedWindows& windows = {});

// The clock's name, as a capture's `event` has it.
const char* sampled_event(const Sampler& sampler);

// What a reader must know of them: that there are none and why, a clock that is not the one asked for, a rate
// that was not reached, samples that were lost. Sentences.
std::vector<std::string> sampling_diagnostics(const Sampler& sampler, const capture::Samples& samples);

}  // namespace wago::harness
