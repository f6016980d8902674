// iterations.bin: what every timed batch of iterations took.
//
// Little-endian. Header of 32 bytes: magic "WAGOITER", u32 version, u32 bytes per record, u64 number of
// records, u64 reserved (0). Then the records, each of 40 bytes: u64 start, u64 wall, u64 cpu, u64
// iterations, u64 reserved (0). A newer version may lengthen records; a reader skips what it does not know.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "capture/schema.h"

namespace wago::capture {

// `iterations` complete iterations, timed together so that the clock is not what is measured.
struct IterationBatch {
  uint64_t start_ns = 0;  // monotonic, from the start of the measured phase
  uint64_t wall_ns = 0;   // monotonic, of the whole batch
  uint64_t cpu_ns = 0;    // thread-CPU time of the whole batch; 0 where it was not kept
  uint64_t iterations = 0;
  bool operator==(const IterationBatch&) const = default;
};

inline constexpr uint32_t kIterationsVersion = 1;

std::vector<uint8_t> encode_iterations(std::span<const IterationBatch> batches);
base::Result<std::vector<IterationBatch>> decode_iterations(std::span<const uint8_t> bytes,
                                                            const std::string& file,
                                                            const Limits& limits = {});

}  // namespace wago::capture
