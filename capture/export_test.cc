// The documents for other tools, read back: cpu.pprof by a reader of its own, profile.json as JSON. That
// those tools take them is tested with the tools, in harness/recorder_test.cc.
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/json.h"
#include "capture/export_firefox.h"
#include "capture/export_pprof.h"

namespace wago::capture {
namespace {

// outer (file outer.c) holds inner, inlined, at offset 20; the guest's own compiler inlined "mul" into inner.
Images images() {
  Image module{.name = "m.wasm", .size = 64, .regions = {{RegionKind::Body, 0, 64, 0}}};
  module.functions = {{.index = 0, .name = "outer", .size = 64, .wasm_begin = 100, .wasm_size = 20},
                      {.index = 1, .name = "_Z5inneri", .wasm_begin = 120, .wasm_size = 30}};
  module.functions.pop_back();
  module.functions.push_back(
      {.index = 1, .name = "_Z5inneri", .begin = 60, .size = 4, .wasm_begin = 120, .wasm_size = 30});
  module.functions[0].size = 60;
  module.regions = {{RegionKind::Body, 0, 60, 0}, {RegionKind::Body, 60, 4, 1}};
  module.metadata = {.inline_sites = {{1, 7, kNone}},
                     .positions = {{0, 3, kNone}, {20, 5, 0}},
                     .sites = {{20, SiteKind::BoundsCheck}, {24, SiteKind::None}},
                     .source_frames = {{kNone, 0, 10, kNone}, {1, 0, 3, 2}, {kNone, 0, 12, kNone}},
                     .source_ranges = {{0, 0, 0}, {1, 0, 1}},
                     .texts = {"outer.c", "mul"}};
  Image adapter{.kind = ImageKind::Adapter,
                .name = "(i32) -> (i32)",
                .size = 64,
                .regions = {{RegionKind::EntryAdapter, 0, 40}, {RegionKind::HostAdapter, 40, 24}}};
  return {{module, adapter}, {}};
}

Samples samples() {
  Samples samples;
  samples.period_ns = 1'000'000;
  samples.threads = {{71, "recorder"}, {72, "compile worker 1"}};
  StackTable stacks(samples);
  const Frame main{.side = Side::Host, .symbol = stacks.symbol("_ZN4wago3runEv", "wago-profile")};
  const Frame entry{.side = Side::Helper, .image = 1, .offset = 10};
  const Frame inlined{.side = Side::Guest, .image = 0, .offset = 20};
  const Frame plain{.side = Side::Guest, .image = 0, .offset = 2};
  const Frame kernel{.side = Side::Kernel, .symbol = stacks.symbol("[kernel]", "")};
  const uint32_t deep = stacks.stack(std::vector{main, entry, inlined});
  samples.samples.push_back({5'000'000, 1'000'000, 0, deep});
  samples.samples.push_back({6'000'000, 3'000'000, 0, stacks.stack(std::vector{main, kernel})});
  samples.samples.push_back({6'000'000, 1'000'000, 0, deep});
  samples.samples.push_back({7'000'000, 1'000'000, 1, stacks.stack(std::vector{main, entry, plain})});
  return samples;
}

ExportContext context() {
  return {.workload = "mine",
          .program = "wago 1",
          .event = "cpu-clock:u",
          .start_unix_ns = 1'700'000'000'000'000'000,
          .duration_ns = 10'000'000,
          .start_monotonic_ns = 4'000'000,
          .source_maps = true};
}

// A message: its fields in order, numbers or bytes.
struct Field {
  uint64_t number = 0;
  uint64_t value = 0;
  std::vector<uint8_t> bytes;
};
uint64_t varint(std::span<const uint8_t> bytes, size_t& at) {
  uint64_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    const uint8_t byte = bytes[at++];
    value |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return value;
  }
}
std::vector<Field> fields(std::span<const uint8_t> bytes) {
  std::vector<Field> result;
  for (size_t at = 0; at < bytes.size();) {
    const uint64_t key = varint(bytes, at);
    Field field{.number = key >> 3};
    field.value = varint(bytes, at);
    if ((key & 7) == 2) {
      field.bytes.assign(bytes.begin() + static_cast<ptrdiff_t>(at),
                         bytes.begin() + static_cast<ptrdiff_t>(at + field.value));
      at += field.value;
    }
    result.push_back(field);
  }
  return result;
}
std::vector<uint64_t> packed(const Field& field) {
  std::vector<uint64_t> values;
  for (size_t at = 0; at < field.bytes.size();) values.push_back(varint(field.bytes, at));
  return values;
}
uint64_t value_of(const std::vector<Field>& message, uint64_t number) {
  for (const Field& field : message) {
    if (field.number == number) return field.value;
  }
  return 0;
}

// A profile.proto as text: a line for every sample, location and mapping.
class PprofText {
 public:
  explicit PprofText(const std::vector<uint8_t>& file) {
    auto bytes = base::inflate_if_gzip(file, 1 << 20, "cpu.pprof");
    EXPECT_TRUE(bytes);
    profile_ = fields(*bytes);
    for (const Field& field : profile_) {
      if (field.number == 6) strings_.emplace_back(field.bytes.begin(), field.bytes.end());
    }
  }
  std::vector<std::string> lines() const {
    std::vector<std::string> lines;
    for (const Field& field : profile_) {
      if (field.number > 3) continue;  // not a message, or told by those that name it
      const auto part = fields(field.bytes);
      if (field.number == 1) lines.push_back("type " + string(part, 1) + "/" + string(part, 2));
      if (field.number == 2) lines.push_back(sample(part));
      if (field.number == 3) {
        lines.push_back("mapping " + std::to_string(value_of(part, 1)) + " to " +
                        std::to_string(value_of(part, 3)) + " " + string(part, 5));
      }
    }
    return lines;
  }
  uint64_t number(uint64_t field) const { return value_of(profile_, field); }
  const std::vector<std::string>& strings() const { return strings_; }

 private:
  std::string string(const std::vector<Field>& message, uint64_t field) const {
    return strings_.at(value_of(message, field));
  }
  std::vector<Field> with_id(uint64_t kind, uint64_t id) const {
    for (const Field& field : profile_) {
      if (field.number == kind && value_of(fields(field.bytes), 1) == id) return fields(field.bytes);
    }
    ADD_FAILURE() << "no " << kind << " with id " << id;
    return {};
  }
  std::string sample(const std::vector<Field>& part) const {
    std::string text;
    for (const Field& field : part) {
      if (field.number == 1) {
        for (uint64_t id : packed(field)) text += location(with_id(4, id)) + " ";
      }
      if (field.number == 2) {
        for (uint64_t value : packed(field)) text += std::to_string(value) + " ";
      }
      if (field.number == 3) {
        const auto label = fields(field.bytes);
        text += string(label, 1) + "=" + string(label, 2) + " ";
      }
    }
    return text;
  }
  std::string location(const std::vector<Field>& part) const {
    std::string text =
        "m" + std::to_string(value_of(part, 2)) + "@" + std::to_string(value_of(part, 3)) + "[";
    for (const Field& field : part) {
      if (field.number != 4) continue;
      const auto line = fields(field.bytes);
      const auto function = with_id(5, value_of(line, 1));
      text += string(function, 2) + "|" + string(function, 3) + "|" + string(function, 4) + ":" +
              std::to_string(value_of(line, 2)) + ";";
    }
    return text + "]";
  }

  std::vector<Field> profile_;
  std::vector<std::string> strings_;
};

TEST(Pprof, HoldsStacksWithInlinedLinesAddressesAndLabels) {
  const PprofText pprof(to_pprof(context(), images(), samples()));
  const std::string root = "m3@0[wago::run()|_ZN4wago3runEv|wago-profile:0;] ";
  const std::string entry = "m2@0[entry-adapter (i32) -> (i32)|entry-adapter|(i32) -> (i32):0;] ";
  const std::string inlined =
      "m1@125[mul|mul|outer.c:3;inner(int)|_Z5inneri|outer.c:12;outer|outer|outer.c:10;] ";
  EXPECT_EQ(
      pprof.lines(),
      (std::vector<std::string>{
          "type samples/count", "type cpu/nanoseconds",
          inlined + entry + root + "1 1000000 thread=recorder kind=guest site=bounds-check ",
          "m0@0[[kernel]|[kernel]|:0;] " + root + "3 3000000 thread=recorder kind=kernel ",
          inlined + entry + root + "1 1000000 thread=recorder kind=guest site=bounds-check ",
          "m1@103[outer|outer|outer.c:10;] " + entry + root + "1 1000000 thread=compile worker 1 kind=guest ",
          "mapping 1 to 150 m.wasm", "mapping 2 to 0 (i32) -> (i32)", "mapping 3 to 0 wago-profile"}));
  EXPECT_EQ(pprof.number(9), 1'700'000'000'000'000'000u);
  EXPECT_EQ(pprof.number(10), 10'000'000u);
  EXPECT_EQ(pprof.number(12), 1'000'000u);
}

// Names are a stranger's, and `go tool pprof -top` prints them as it finds them.
TEST(Pprof, NamesCannotSteerATerminal) {
  Images hostile = images();
  hostile.images[0].name = "m\x1b[2J.wasm";
  hostile.images[0].functions[0].name =
      "out\x07"
      "er\nflat  flat%";
  hostile.images[0].metadata.texts[0] = "o\x1b]0;.c";
  Samples sampled = samples();
  sampled.threads[0].name = "rec\rorder";
  ExportContext about = context();
  about.workload = "mi\x9bne";
  const PprofText pprof(to_pprof(about, hostile, sampled));
  const std::vector<std::string> lines = pprof.lines();
  EXPECT_EQ(lines[5],
            "m1@103[out\\x07er\\x0aflat  flat%|out\\x07er\\x0aflat  flat%|o\\x1b]0;.c:10;] "
            "m2@0[entry-adapter (i32) -> (i32)|entry-adapter|(i32) -> (i32):0;] "
            "m3@0[wago::run()|_ZN4wago3runEv|wago-profile:0;] "
            "1 1000000 thread=compile worker 1 kind=guest ");
  EXPECT_EQ(lines[6], "mapping 1 to 150 m\\x1b[2J.wasm");
  for (const std::string& text : pprof.strings()) {
    for (const char c : text) EXPECT_TRUE(c >= 0x20 && c < 0x7f) << text;
  }
}

TEST(Pprof, SamplesOfAnotherUnitAndNoSamplesAreProfilesToo) {
  Samples cycles = samples();
  cycles.unit = "cycles";
  EXPECT_EQ(PprofText(to_pprof(context(), images(), cycles)).lines()[1], "type cycles/count");
  EXPECT_EQ(PprofText(to_pprof(context(), images(), Samples())).lines().size(), 2u);
}

// The names on a sample's stack, root first, with what its frames say.
std::string stack_text(const base::Json& thread, const base::Json& libs, size_t sample) {
  auto at = [&](const char* table, const char* column, uint64_t row) -> const base::Json& {
    return thread.find(table)->find(column)->items()[row];
  };
  auto string = [&](const base::Json& index) {
    return thread.find("stringArray")->items()[*index.to_u64()].as_string();
  };
  std::string text;
  const base::Json* stack = &at("samples", "stack", sample);
  while (!stack->is_null()) {
    const uint64_t frame = *at("stackTable", "frame", *stack->to_u64()).to_u64();
    const uint64_t function = *at("frameTable", "func", frame).to_u64();
    std::string one = string(at("funcTable", "name", function));
    const base::Json& address = at("frameTable", "address", frame);
    if (address.to_u64()) one += "@" + std::to_string(*address.to_u64());
    one += "/" + std::to_string(*at("frameTable", "inlineDepth", frame).to_u64());
    if (at("frameTable", "line", frame).to_u64()) {
      one += " " + string(at("funcTable", "fileName", function)) + ":" +
             std::to_string(*at("frameTable", "line", frame).to_u64());
    }
    if (auto resource = at("funcTable", "resource", function).to_u64()) {
      const uint64_t lib = *at("resourceTable", "lib", *resource).to_u64();
      one += " in " + libs.items()[lib].find("name")->as_string();
    }
    one += " (" + std::to_string(*at("frameTable", "category", frame).to_u64()) + ")";
    text = one + "\n" + text;
    stack = &at("stackTable", "prefix", *stack->to_u64());
  }
  return text;
}

TEST(Firefox, HoldsThreadsWithStacksWeightsAndCategories) {
  const std::string text = to_firefox(context(), images(), samples());
  auto document = base::parse_json(text, "profile.json");
  ASSERT_TRUE(document) << document.error().to_string();
  EXPECT_EQ(document->find("meta")->find("preprocessedProfileVersion")->to_u64(), 47u);
  EXPECT_EQ(document->find("meta")->find("categories")->items()[0].find("name")->as_string(), "Guest");
  const auto threads = document->find("threads")->items();
  ASSERT_EQ(threads.size(), 2u);
  EXPECT_EQ(threads[1].find("name")->as_string(), "compile worker 1");
  EXPECT_EQ(threads[0].find("samples")->find("length")->to_u64(), 3u);
  const base::Json& libs = *document->find("libs");
  EXPECT_EQ(stack_text(threads[0], libs, 0),
            "wago::run()/0 in wago-profile (2)\n"
            "entry-adapter (i32) -> (i32)/0 in (i32) -> (i32) (1)\n"
            "outer@125/0 outer.c:10 in m.wasm (0)\n"
            "inner(int)@125/1 outer.c:12 in m.wasm (0)\n"
            "mul@125/2 outer.c:3 in m.wasm (0)\n");
  EXPECT_EQ(stack_text(threads[0], libs, 1), "wago::run()/0 in wago-profile (2)\n[kernel]/0 (3)\n");
  EXPECT_EQ(stack_text(threads[0], libs, 2), stack_text(threads[0], libs, 0));
  EXPECT_EQ(threads[0].find("stackTable")->find("length")->to_u64(), 6u) << "each once";
  EXPECT_DOUBLE_EQ(threads[0].find("samples")->find("weight")->items()[1].as_double(), 3.0);
  EXPECT_DOUBLE_EQ(threads[0].find("samples")->find("time")->items()[0].as_double(), 1.0);
}

}  // namespace
}  // namespace wago::capture
