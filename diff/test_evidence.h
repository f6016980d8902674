// Captures for tests, built in memory: the smallest that mean something, to be varied by the test.
#pragma once

#include <algorithm>
#include <iterator>
#include <span>
#include <string>
#include <vector>

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

// A capture with all that collectors and the compiler can say: `main` calls `hot`, which loops and has
// `inner` inlined at offset 69. Ten iterations, ten samples of 100 ns.
//
//   offset  machine code            function    wasm                       source
//        0  push, mov               main        0 local.get 0              mix.c:20
//        4  call hot                            2 call 1                   mix.c:21
//        9  pop, ret                            4 end                      mix.c:22
//       64  xor eax, eax            hot         0 i32.const 0              mix.c:10
//       66  add eax, [rdi+4*rax]                2 i32.load (bounds check)  mix.c:11
//       69  add eax, 1              inner       2 i32.add                  mix.c:3, inlined twice by the
//       guest's
//                                                                          compiler: step.c:7 first
//       72  cmp, jb                 hot         8 br_if 0                  unknown
//       76  ret                                10 end
//      128  lea, ret                inner       0 local.get 0
inline constexpr uint8_t kMixCode[] = {0x55, 0x48, 0x89, 0xe5, 0xe8, 0x37, 0, 0, 0, 0x5d, 0xc3};
inline constexpr uint8_t kHotCode[] = {0x31, 0xc0, 0x03, 0x04, 0x87, 0x83, 0xc0,
                                       0x01, 0x39, 0xf0, 0x72, 0xf6, 0xc3};
inline constexpr uint8_t kInnerCode[] = {0x8d, 0x47, 0x01, 0xc3};

inline capture::Image mix_module() {
  using namespace capture;
  auto function = [](uint32_t index, const char* name, std::span<const uint8_t> code) {
    capture::Function f =
        test_function(index, name, {reinterpret_cast<const char*>(code.data()), code.size()},
                      static_cast<uint32_t>(code.size()));
    f.statistics.machine_instructions = 4;
    return f;
  };
  Image image = test_module(
      {function(0, "main", kMixCode), function(1, "hot", kHotCode), function(2, "inner", kInnerCode)});
  image.name = "mix.wasm";
  image.size = 192;
  for (uint32_t i = 0; i < 3; ++i) {
    const uint32_t size = image.functions[i].size;
    image.regions.push_back({RegionKind::Body, 64 * i, size, i});
    image.regions.push_back({RegionKind::Padding, 64 * i + size, 64 - size});
  }
  CodeMetadata& m = image.metadata;
  m.texts = {"local.get 0", "call 1", "end", "i32.const 0", "i32.load", "i32.add", "br_if 0",
             "mix.c",       "main",   "hot", "step",        "step.c",   "inner"};
  m.inline_sites = {{2, 5, kNone}};
  m.positions = {{0, 0, kNone}, {4, 2, kNone},  {9, 4, kNone},   {64, 0, kNone}, {66, 2, kNone},
                 {69, 2, 0},    {72, 8, kNone}, {76, 10, kNone}, {128, 0, kNone}};
  m.sites = {{0, SiteKind::Frame},
             {4, SiteKind::None},
             {9, SiteKind::Frame},
             {66, SiteKind::BoundsCheck},
             {69, SiteKind::None}};
  m.instructions = {{0, 0, 0}, {0, 2, 1}, {0, 4, 2},  {1, 0, 3}, {1, 2, 4},
                    {1, 5, 1}, {1, 8, 6}, {1, 10, 2}, {2, 0, 0}, {2, 2, 5}};
  m.source_frames = {{8, 7, 20, kNone}, {8, 7, 21, kNone}, {8, 7, 22, kNone}, {9, 7, 10, kNone},
                     {9, 7, 11, kNone}, {12, 7, 3, kNone}, {10, 11, 7, 5}};
  m.source_ranges = {{0, 0, 0}, {0, 2, 1},     {0, 4, 2}, {1, 0, 3},
                     {1, 2, 4}, {1, 8, kNone}, {2, 0, 5}, {2, 2, 6}};
  m.blocks = {{0, 11, 0, 5}, {64, 2, 1, 1}, {66, 10, 1, 4}, {76, 1, 1, 1}, {128, 4, 2, 2}};
  m.block_ranges = {{0, kNone, 0, 5, 3},  {1, kNone, 0, 2, 1},   {2, kNone, 2, 5, 1}, {2, 0, 0, 3, 2},
                    {2, kNone, 8, 10, 1}, {3, kNone, 10, 11, 1}, {4, kNone, 0, 3, 3}};
  return image;
}

inline capture::Image mix_adapter() {
  capture::Image image = test_adapter("(i32) -> (i32)", "adapter code");
  image.size = 64;
  image.regions = {{capture::RegionKind::EntryAdapter, 0, 64, capture::kNoFunction}};
  return image;
}

inline std::vector<uint8_t> mix_code() {
  std::vector<uint8_t> code(256);
  std::copy(std::begin(kMixCode), std::end(kMixCode), code.begin());
  std::copy(std::begin(kHotCode), std::end(kHotCode), code.begin() + 64);
  std::copy(std::begin(kInnerCode), std::end(kInnerCode), code.begin() + 128);
  return code;
}

// Three samples in `hot`, two of them at its load; two in `inner` inlined there; one in a helper that a
// recursive `main` called; one each in the host, in the kernel and nowhere known; one in the padding of the
// module's image.
inline capture::Samples mix_samples() {
  using namespace capture;
  Samples samples;
  samples.period_ns = 100;
  samples.truncated_stacks = 1;
  samples.threads = {{4711, "recorder"}, {4712, "compile worker 1"}};
  StackTable table(samples);
  auto native = [&](Side side, const char* name, const char* binary) {
    return capture::Frame{side, kNone, 0, table.symbol(name, binary)};
  };
  const capture::Frame root = native(Side::Host, "main", "wago-profile");
  const capture::Frame adapter = {Side::Helper, 1, 8, kNone};
  const capture::Frame caller = {Side::Guest, 0, 8, kNone};
  auto guest = [](uint32_t offset) { return capture::Frame{Side::Guest, 0, offset, kNone}; };
  uint64_t now_ns = 1000;
  auto add = [&](std::vector<capture::Frame> root_first, uint32_t thread = 0) {
    samples.samples.push_back({now_ns += 100, 100, thread, table.stack(root_first)});
  };
  add({root, adapter, caller, guest(66)});
  add({root, adapter, caller, guest(66)});
  add({root, adapter, caller, guest(72)});
  add({root, adapter, caller, guest(69)});
  add({root, adapter, caller, guest(69)});
  add({root, adapter, caller, caller, native(Side::Helper, "memory_grow", "wago-profile")});
  add({root});
  add({root, native(Side::Kernel, "[kernel]", "")}, 1);
  add({native(Side::Unknown, "0x7f0012345678", "")});
  add({root, adapter, guest(200 - 64)});
  return samples;
}

inline Evidence mix_evidence(std::string path = "mix.wagoprof") {
  Evidence evidence = test_evidence(std::move(path));
  capture::Manifest& manifest = evidence.manifest;
  manifest.workload = "mix";
  manifest.module_name = "mix.wasm";
  manifest.backend = base::Backend::Pprof;
  manifest.event = "cpu-clock";
  manifest.requested_rate_hz = 1000;
  manifest.effective_settings.source_maps = true;
  manifest.effective_settings.include_code = true;
  manifest.phases[1].completed_work = 10;
  evidence.images.images = {mix_module(), mix_adapter()};
  evidence.samples = mix_samples();
  evidence.code = mix_code();
  return evidence;
}

// The same, counted: how often each block of the module was entered.
inline Evidence counted_mix(std::vector<uint64_t> entered, std::string path) {
  Evidence evidence = mix_evidence(std::move(path));
  evidence.samples.reset();
  evidence.manifest.backend = base::Backend::Count;
  evidence.counts = capture::Counts{};
  evidence.counts->entered = {std::move(entered), {}};
  return evidence;
}

}  // namespace wago::diff
