// From the engine's code images to a capture's: the one place where the vocabulary of measurement meets the
// compiler's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "capture/images.h"
#include "harness/subject.h"

namespace wago::harness {

// The module's image and the adapters that calls of it go through (those of its exported and imported
// functions, by signature). `loaded_ns` is when they were, for the journal.
base::Result<capture::Images> describe_code(const Subject& subject, uint64_t loaded_ns);

// code.bin: the same images' bytes, relocated fields masked.
base::Result<std::vector<uint8_t>> code_bytes(const Subject& subject);

}  // namespace wago::harness
