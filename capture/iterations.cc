#include "capture/iterations.h"

#include <cstring>

namespace wago::capture {

namespace {

constexpr char kMagic[8] = {'W', 'A', 'G', 'O', 'I', 'T', 'E', 'R'};
constexpr size_t kHeaderBytes = 32;
constexpr uint32_t kRecordBytes = 40;
// A longer record would be another format.
constexpr uint32_t kMaxRecordBytes = 4096;

// x86-64 and AArch64 as we use it are little-endian, as is the format.
template <class T>
void store(uint8_t* at, T value) {
  std::memcpy(at, &value, sizeof value);
}
template <class T>
T load(const uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

base::Error malformed(const std::string& file, std::string what) {
  return base::usage_error("not a file of iterations: " + std::move(what), {.file = file});
}

}  // namespace

std::vector<uint8_t> encode_iterations(std::span<const IterationBatch> batches) {
  std::vector<uint8_t> bytes(kHeaderBytes + batches.size() * kRecordBytes);
  std::memcpy(bytes.data(), kMagic, sizeof kMagic);
  store<uint32_t>(bytes.data() + 8, kIterationsVersion);
  store<uint32_t>(bytes.data() + 12, kRecordBytes);
  store<uint64_t>(bytes.data() + 16, batches.size());
  uint8_t* at = bytes.data() + kHeaderBytes;
  for (const IterationBatch& batch : batches) {
    store(at, batch.start_ns);
    store(at + 8, batch.wall_ns);
    store(at + 16, batch.cpu_ns);
    store(at + 24, batch.iterations);
    at += kRecordBytes;
  }
  return bytes;
}

base::Result<std::vector<IterationBatch>> decode_iterations(std::span<const uint8_t> bytes,
                                                            const std::string& file, const Limits& limits) {
  if (bytes.size() < kHeaderBytes || std::memcmp(bytes.data(), kMagic, sizeof kMagic) != 0) {
    return malformed(file, "it does not begin with the magic WAGOITER");
  }
  auto version = load<uint32_t>(bytes.data() + 8);
  if (auto known = check_version(version, file, kIterationsVersion, kIterationsVersion); !known)
    return known.error();
  auto record_bytes = load<uint32_t>(bytes.data() + 12);
  if (record_bytes < kRecordBytes || record_bytes > kMaxRecordBytes) {
    return malformed(file, "records of " + std::to_string(record_bytes) + " bytes");
  }
  auto count = load<uint64_t>(bytes.data() + 16);
  if (count > limits.iteration_records) {
    return base::usage_error("has " + std::to_string(count) + " records, over the limit iteration_records (" +
                                 std::to_string(limits.iteration_records) + ")",
                             {.file = file});
  }
  if (count > (bytes.size() - kHeaderBytes) / record_bytes ||
      bytes.size() != kHeaderBytes + count * record_bytes) {
    return malformed(file, "its length does not match its " + std::to_string(count) + " records");
  }
  if (load<uint64_t>(bytes.data() + 24) != 0) return malformed(file, "reserved bytes of its header are set");
  std::vector<IterationBatch> batches(count);
  const uint8_t* at = bytes.data() + kHeaderBytes;
  for (IterationBatch& batch : batches) {
    batch = {load<uint64_t>(at), load<uint64_t>(at + 8), load<uint64_t>(at + 16), load<uint64_t>(at + 24)};
    if (load<uint64_t>(at + 32) != 0) return malformed(file, "reserved bytes of a record are set");
    at += record_bytes;
    if (batch.iterations == 0) return malformed(file, "a batch of no iterations");
  }
  return batches;
}

}  // namespace wago::capture
