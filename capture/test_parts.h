// For tests: the parts of a small capture that agree with one another, to be varied by the test.
#pragma once

#include <string>
#include <vector>

#include "base/sha256.h"
#include "capture/capture.h"

namespace wago::capture::testing {

struct Parts {
  Manifest manifest;
  Images images;
  std::vector<IterationBatch> iterations;
};

// fib, one function: 100 iterations of two calls in two batches, 1000 ns wall and 900 ns CPU each.
inline Parts consistent_parts() {
  Parts parts;
  Image image{.name = "fib.wasm", .size = 16, .regions = {{RegionKind::Body, 0, 16, 0}}};
  image.functions = {{.index = 0, .name = "fib", .signature = "(i32) -> (i32)", .size = 16}};
  parts.images = {{image}, {{JournalAction::Load, 0, 1, 0}}};
  parts.iterations = {{0, 60'000, 54'000, 60}, {70'000, 40'000, 36'000, 40}};
  Manifest& m = parts.manifest;
  m.complete = true;
  m.workload = "fib";
  m.module_name = "fib.wasm";
  m.module_bytes = 64;
  m.module_sha256 = m.contract_sha256 = base::to_hex(base::Digest{});
  m.code_sha256 = base::to_hex(code_sha256(parts.images));
  m.calls_per_iteration = 2;
  m.requested_iterations = m.completed_iterations = 100;
  m.completed_invocations = 200;
  m.execution_duration_ns = 100'000;
  m.execution_cpu_ns = 90'000;
  m.phases = {{base::Phase::Compile, 0, 0, 5'000, 64, "bytes"},
              {base::Phase::Execute, 0, 0, 200'000, 200, "invocations"}};
  m.files = {{kImagesFile, 1, {}}, {kIterationsFile, 1, {}}};
  return parts;
}

// Writes them as a recorder does, the list of files included.
inline base::Result<void> write(const Parts& parts, const std::string& directory, base::Files& files) {
  Manifest first = parts.manifest;
  first.complete = false;
  first.files.clear();
  auto writer = CaptureWriter::create(directory, first, files);
  if (!writer) return writer.error();
  auto images = writer->write(kImagesFile, base::as_bytes(to_json_text(parts.images)));
  if (!images) return images;
  auto iterations = writer->write(kIterationsFile, encode_iterations(parts.iterations));
  if (!iterations) return iterations;
  return writer->finish(first);
}

}  // namespace wago::capture::testing
