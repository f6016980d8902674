// Captures for tests, built in memory: the smallest that mean something, to be varied by the test.
#pragma once

#include <string>

#include "base/sha256.h"
#include "diff/evidence.h"

namespace wago::diff {

inline base::Digest digest_of(std::string_view text) {
  return base::sha256({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

inline capture::Function test_function(uint32_t index, std::string name, std::string_view code,
                                       uint32_t bytes = 64) {
  capture::Function function;
  function.index = index;
  function.name = std::move(name);
  function.signature = "(i32) -> (i32)";
  function.begin = 64 * index;
  function.size = bytes;
  function.wasm_size = bytes / 2;
  function.sha256 = digest_of(code);
  function.statistics.machine_instructions = bytes / 4;
  return function;
}

inline capture::Image test_module(std::vector<capture::Function> functions) {
  capture::Image image;
  image.name = "fib.wasm";
  std::string all;
  for (const capture::Function& function : functions) all += base::to_hex(function.sha256) + function.name;
  image.sha256 = digest_of(all);
  image.functions = std::move(functions);
  return image;
}

inline capture::Image test_adapter(std::string signature, std::string_view code) {
  capture::Image image;
  image.kind = capture::ImageKind::Adapter;
  image.name = std::move(signature);
  image.sha256 = digest_of(code);
  return image;
}

// fib, two functions: 100 iterations of 1000 ns wall and 900 ns CPU, each one invocation.
inline Evidence test_evidence(std::string path = "a.wagoprof") {
  Evidence evidence;
  evidence.path = std::move(path);
  capture::Manifest& manifest = evidence.manifest;
  manifest.complete = true;
  manifest.revision = "0123456789abcdef0123456789abcdef01234567";
  manifest.dirty = base::Dirty::Clean;
  manifest.runner_id = "runner-1";
  manifest.workload = "fib";
  manifest.module_name = "fib.wasm";
  manifest.module_sha256 = "11";
  manifest.contract_sha256 = "22";
  manifest.code_sha256 = "33";
  manifest.target = "x86_64-linux-gnu";
  manifest.cpu_model = "Test CPU";
  manifest.os_version = "Linux 6.1.0";
  manifest.logical_cpus = 2;
  manifest.warmup_iterations = 5;
  manifest.requested_iterations = manifest.completed_iterations = manifest.completed_invocations = 100;
  manifest.execution_duration_ns = 100'000;
  manifest.phases = {{base::Phase::Compile, 0, 0, 5'000'000, 1000, "bytes"},
                     {base::Phase::Execute, 0, 0, 120'000, 100, "invocations"}};
  evidence.images.images = {
      test_module({test_function(0, "fib", "fib code"), test_function(1, "main", "main code")}),
      test_adapter("(i32) -> (i32)", "adapter code")};
  for (int i = 0; i < 10; ++i)
    evidence.iterations.push_back({static_cast<uint64_t>(i) * 10'000, 10'000, 9'000, 10});
  return evidence;
}

}  // namespace wago::diff
