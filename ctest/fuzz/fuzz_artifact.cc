// Fuzzes the reader of artifacts: any bytes are a sentence or a consistent artifact. Inputs are taken as they
// are, and with size and hash put right, so that mutations get past the header.

#include <cstdint>
#include <cstring>
#include <vector>

#include "base/check.h"
#include "base/sha256.h"
#include "runtime/abi.h"
#include "runtime/artifact.h"

namespace {

using namespace wago;
using namespace wago::runtime;

constexpr size_t kVersionAt = 8, kSizeAt = 16, kHashAt = 24, kHeaderBytes = 56;

const CodeTarget& target() {
  static const CodeTarget target{"x86_64-linux", "x86-64-v3"};
  return target;
}

void read(const std::vector<uint8_t>& bytes) {
  CompileSettings settings;
  auto artifact = read_artifact(bytes, settings, target());
  if (!artifact) return;
  // What was accepted is written as it was read.
  WAGO_CHECK(write_artifact(*artifact, settings, target()) == bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<uint8_t> bytes(data, data + size);
  read(bytes);
  if (size < kHeaderBytes) return 0;
  const uint32_t versions[] = {kArtifactVersion, kAbiVersion};
  const uint64_t whole = size;
  std::memcpy(bytes.data(), "WAGOART\n", 8);
  std::memcpy(bytes.data() + kVersionAt, versions, sizeof versions);
  std::memcpy(bytes.data() + kSizeAt, &whole, sizeof whole);
  const base::Digest digest = base::sha256(std::span(bytes).subspan(kHeaderBytes));
  std::copy(digest.begin(), digest.end(), bytes.begin() + kHashAt);
  read(bytes);
  return 0;
}
