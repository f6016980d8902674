#include <wago/wago.h>

#include <cmath>
#include <cstdio>

#include "base/clock.h"
#include "base/files.h"
#include "base/testing/scratch_folder.h"
#include "harness/bench/figures.h"
#include "harness/bench/turns.h"
#include "harness/publish_code.h"
#include "runtime/module.h"

namespace wago::harness::bench {

namespace {

using Bytes = std::vector<uint8_t>;

void put_u32(Bytes& out, uint32_t value) {
  do {
    uint8_t low = value & 0x7f;
    value >>= 7;
    out.push_back(value ? low | 0x80 : low);
  } while (value);
}

uint32_t take_u32(const Bytes& in, size_t& at) {
  uint32_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    uint8_t byte = in.at(at++);
    value |= static_cast<uint32_t>(byte & 0x7f) << shift;
    if (!(byte & 0x80)) return value;
  }
}

// A module with every function of `source` repeated, so that code of real shapes reaches a given size. The
// copies are never called; they are compiled like the rest. Precondition: `source` is valid.
Bytes repeat_functions(const runtime::Module& source, uint32_t copies) {
  const Bytes& in = source.bytes;
  Bytes out(in.begin(), in.begin() + 8);
  size_t at = 8;
  while (at < in.size()) {
    uint8_t id = in.at(at++);
    uint32_t size = take_u32(in, at);
    Bytes content;
    bool types = id == 3, code = id == 10;
    if (types || code) {
      size_t items = at;
      put_u32(content, take_u32(in, items) * copies);
      for (uint32_t i = 0; i < copies; ++i) {
        content.insert(content.end(), in.begin() + static_cast<long>(items),
                       in.begin() + static_cast<long>(at + size));
      }
    } else {
      content.assign(in.begin() + static_cast<long>(at), in.begin() + static_cast<long>(at + size));
    }
    // Names and debug information would no longer fit.
    if (id != 0) {
      out.push_back(id);
      put_u32(out, static_cast<uint32_t>(content.size()));
      out.insert(out.end(), content.begin(), content.end());
    }
    at += size;
  }
  return out;
}

// One function of about `bytes` bytes: loads, stores, arithmetic, branches over locals, in blocks of ten
// instructions.
Bytes one_function(uint32_t bytes) {
  const Bytes block = {
      0x02, 0x40,                                // block
      0x20, 0x00, 0x20, 0x01, 0x6a, 0x22, 0x02,  // local.tee 2 (local 0 + local 1)
      0x41, 0x11, 0x6c, 0x21, 0x01,              // local 1 = that * 17
      0x20, 0x02, 0x41, 0x03, 0x71, 0x45,        // (local 2 & 3) == 0
      0x0d, 0x00,                                // br_if 0
      0x41, 0x10, 0x20, 0x01, 0x36, 0x02, 0x00,  // i32.store
      0x41, 0x10, 0x28, 0x02, 0x00, 0x21, 0x00,  // local 0 = i32.load
      0x0b,                                      // end
  };
  Bytes body = {0x01, 0x01, 0x7f};  // one local, i32
  while (body.size() + block.size() < bytes) body.insert(body.end(), block.begin(), block.end());
  body.insert(body.end(), {0x20, 0x01, 0x0b});
  Bytes code = {0x01};
  put_u32(code, static_cast<uint32_t>(body.size()));
  code.insert(code.end(), body.begin(), body.end());
  Bytes out = {0,    'a',  's', 'm',  1, 0, 0, 0, 1, 7, 1, 0x60, 2,
               0x7f, 0x7f, 1,   0x7f, 3, 2, 1, 0, 5, 3, 1, 0,    1};
  out.push_back(10);
  put_u32(out, static_cast<uint32_t>(code.size()));
  out.insert(out.end(), code.begin(), code.end());
  return out;
}

struct Timed {
  double seconds = 0;
  double code_bytes = 0;
  double rate() const { return code_bytes / seconds / 1e6; }
};

base::Result<Timed> compile_once(const wago::Engine& engine, const Bytes& bytes) {
  Bytes copy = bytes;
  uint64_t before = base::thread_cpu_ns();
  auto module = engine.compile(std::move(copy));
  uint64_t took = base::thread_cpu_ns() - before;
  if (!module) return module.error();
  Timed timed{static_cast<double>(took) / 1e9, 0};
  for (const auto& body : module->decoded().bodies) timed.code_bytes += body.size;
  return timed;
}

// Megabytes of function bodies a second, decoding and validation included.
base::Result<Spread> rate_of(const wago::Engine& engine, const Bytes& bytes, size_t repetitions) {
  std::vector<double> rates;
  for (size_t i = 0; i < repetitions; ++i) {
    auto timed = compile_once(engine, bytes);
    if (!timed) return timed.error();
    rates.push_back(timed->rate());
  }
  return spread_of(rates);
}

// Megabytes of the whole module a second, decoded and validated.
base::Result<Spread> validation_rate_of(const Bytes& bytes, size_t repetitions) {
  std::vector<double> rates;
  for (size_t i = 0; i < repetitions; ++i) {
    Bytes copy = bytes;
    const uint64_t before = base::thread_cpu_ns();
    auto valid = wago::validate(std::move(copy));
    const uint64_t took = base::thread_cpu_ns() - before;
    if (!valid) return valid.error();
    rates.push_back(static_cast<double>(bytes.size()) * 1e3 / static_cast<double>(took));
  }
  return spread_of(rates);
}

base::Result<Bytes> module_of_about(const wago::Engine& engine, const FigureOptions& options,
                                    double code_bytes) {
  auto path = largest_corpus_module(options);
  if (!path) return path.error();
  auto source = base::system_files().read(*path, uint64_t{1} << 30);
  if (!source) return source.error();
  auto decoded = runtime::decode_module(*source);
  if (!decoded) return decoded.error();
  double each = 0;
  for (const auto& body : (*decoded)->bodies) each += body.size;
  (void)engine;
  return repeat_functions(**decoded, static_cast<uint32_t>(std::max(1.0, std::round(code_bytes / each))));
}

// How the time per byte changes when the input grows 16 times: 1 is linear, 16 is quadratic.
base::Result<Figure> growth(const wago::Engine& engine, const std::string& name, const Bytes& small,
                            const Bytes& large, size_t pairs) {
  std::optional<base::Error> error;
  auto per_byte = [&](const Bytes& bytes) {
    auto timed = compile_once(engine, bytes);
    if (!timed) {
      error = timed.error();
      return 1.0;
    }
    return timed->seconds / timed->code_bytes;
  };
  Paired paired = measure_pairs(
      pairs, 1, [&] { return per_byte(large); }, [&] { return per_byte(small); });
  if (error) return *error;
  return Figure{name, to_string(paired.ratio), "<= 1.5", paired.ratio.median <= 1.5};
}

uint64_t process_cpu_ns() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(t.tv_nsec);
}

// Whatever threads do it.
base::Result<double> compile_cpu_ns(const wago::Engine& engine, const Bytes& bytes) {
  Bytes copy = bytes;
  const uint64_t before = process_cpu_ns();
  auto module = engine.compile(std::move(copy));
  if (!module) return module.error();
  return static_cast<double>(process_cpu_ns() - before);
}

// Compiling with source maps, and the dump complete, over compiling.
base::Result<Figure> dump_figure(const wago::Engine& engine, const Bytes& bytes, const std::string& what,
                                 size_t pairs) {
  auto mapped = Engine::open({.source_maps = true});
  if (!mapped) return mapped.error();
  const base::testing::ScratchFolder scratch;
  auto dumped = [&]() -> base::Result<double> {
    const uint64_t before = process_cpu_ns();
    auto dump = publish_code(CodeFile::JitDump, scratch.path());
    if (!dump) return dump.error();
    if (auto compiled = compile_cpu_ns(*mapped, bytes); !compiled) return compiled.error();
    if (auto closed = (*dump)->close(); !closed) return closed.error();
    const auto took = static_cast<double>(process_cpu_ns() - before);
    std::filesystem::remove((*dump)->path());
    return took;
  };
  std::optional<base::Error> error;
  auto turn = [&](base::Result<double> took) {
    if (!took) error = took.error();
    return took ? *took : 1.0;
  };
  const Paired paired = measure_pairs(
      pairs, 1, [&] { return turn(dumped()); }, [&] { return turn(compile_cpu_ns(engine, bytes)); });
  if (error) return *error;
  return Figure{"compile with a jitdump and source maps / without: " + what, to_string(paired.ratio),
                "<= 1.15", paired.ratio.median <= 1.15};
}

}  // namespace

base::Result<std::string> largest_corpus_module(const FigureOptions& options) {
  auto workloads = workloads_of(options.catalogs);
  if (!workloads) return workloads.error();
  std::string largest;
  size_t largest_bytes = 0;
  for (const capture::Workload& workload : *workloads) {
    auto bytes = base::system_files().read(workload.module_path, uint64_t{1} << 30);
    if (!bytes) return bytes.error();
    if (bytes->size() <= largest_bytes) continue;
    largest_bytes = bytes->size();
    largest = workload.module_path;
  }
  if (largest.empty()) return base::usage_error("name a catalog, for its modules");
  return largest;
}

base::Result<std::vector<Figure>> compile_figures(const FigureOptions& options) {
  auto engine = Engine::open();
  if (!engine) return engine.error();
  Bytes real;
  if (options.module.empty()) {
    auto built = module_of_about(*engine, options, 1e6);
    if (!built) return built.error();
    real = std::move(*built);
  } else {
    auto read = base::system_files().read(options.module, uint64_t{1} << 30);
    if (!read) return read.error();
    real = std::move(*read);
  }
  const size_t n = options.quick ? 3 : 15;
  auto rate = rate_of(*engine, real, n);
  if (!rate) return rate.error();
  std::string what =
      options.module.empty() ? "corpus functions repeated to 1 MB" : base::base_name(options.module);
  auto validation = validation_rate_of(real, n);
  if (!validation) return validation.error();
  std::vector<Figure> figures = {
      {"decode and validate, MB of module a second: " + what, to_string(*validation), ">= 100",
       validation->median >= 100},
      {"compile, MB of code a second: " + what, to_string(*rate), ">= 2", rate->median >= 2}};
  auto peak = compile_peak_figure(real, what, n);
  if (!peak) return peak.error();
  figures.push_back(*peak);
  auto dump = dump_figure(*engine, real, what, n);
  if (!dump) return dump.error();
  figures.push_back(*dump);

  auto one = growth(*engine, "time a byte, one function of 2 MB / of 128 KB", one_function(128 << 10),
                    one_function(2 << 20), n);
  if (!one) return one.error();
  figures.push_back(*one);
  auto small = module_of_about(*engine, options, 128e3), large = module_of_about(*engine, options, 2e6);
  if (!small || !large) return figures;
  auto many = growth(*engine, "time a byte, module of 2 MB / of 128 KB", *small, *large, n);
  if (!many) return many.error();
  figures.push_back(*many);
  return figures;
}

}  // namespace wago::harness::bench
