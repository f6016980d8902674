#include "harness/code_images.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/testing/scratch_folder.h"

namespace wago::harness {
namespace {

using capture::CodeMetadata;
using capture::SiteKind;

capture::Workload workload(const std::string& module, const std::string& name, std::vector<uint64_t> args) {
  capture::Workload workload;
  workload.id = name;
  workload.module_path = std::string(WAGO_SOURCE_DIR) + "/" + module;
  workload.calls = {{.export_name = name, .args = std::move(args), .want = std::vector<uint64_t>{0}}};
  return workload;
}

capture::Images images_of(const capture::Workload& workload, const RecordSettings& settings = {}) {
  auto subject = Subject::load(workload, settings);
  EXPECT_TRUE(subject) << subject.error().to_string();
  auto code = describe_code(**subject, 1);
  EXPECT_TRUE(code) << code.error().to_string();
  const capture::Images& images = code->images;
  uint64_t bytes = 0;
  for (const capture::Image& image : images.images) bytes += image.size;
  EXPECT_EQ(code_bytes(*code).size(), bytes);
  auto read = capture::parse_images(to_json_text(images), "images.json");
  EXPECT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(*read, images);
  return images;
}

// (module (func $inner (export "one") (export "inner") (export "two") (result i32) (i32.const 1)))
TEST(CodeImages, NamesOfExportsThatAreNotTheFunctionsOwn) {
  constexpr std::string_view kBytes(
      "\x00\x61\x73\x6d\x01\x00\x00\x00\x01\x05\x01\x60\x00\x01\x7f\x03\x02\x01\x00\x07\x15\x03"
      "\x03one\x00\x00\x05inner\x00\x00\x03two\x00\x00\x0a\x06\x01\x04\x00\x41\x01\x0b\x00\x0f\x04"
      "name\x01\x08\x01\x00\x05inner",
      67);
  const base::testing::ScratchFolder scratch;
  ASSERT_TRUE(base::system_files().create(scratch.file("named.wasm"), base::as_bytes(kBytes)));
  capture::Workload named = workload("", "one", {});
  named.module_path = scratch.file("named.wasm");
  const capture::Images images = images_of(named);
  EXPECT_EQ(images.images[0].functions[0].name, "inner");
  const std::vector<capture::ExportedName> wanted = {{0, "one"}, {0, "two"}};
  EXPECT_EQ(images.images[0].exports, wanted);
}

// What is written is read: names that only differ beyond what a capture keeps of them are one row.
TEST(CodeImages, NamesOfExportsThatAreCutAlikeAreThereOnce) {
  auto leb = [](size_t value) {
    std::string bytes;
    for (int i = 0; i < 4; ++i) bytes += static_cast<char>((value >> 7 * i & 0x7f) | 0x80);
    return bytes + static_cast<char>(value >> 28);
  };
  const std::string common(capture::Limits().name_bytes, 'x');
  std::string exports = leb(3);
  for (const std::string& name : {std::string("one"), common + "1", common + "2"})
    exports += leb(name.size()) + name + std::string("\0\0", 2);
  std::string bytes("\0asm\1\0\0\0\1\5\1\x60\0\1\x7f\3\2\1\0\7", 20);
  bytes += leb(exports.size()) + exports;
  bytes += std::string("\x0a\6\1\4\0\x41\1\x0b\0\x0f\4name\1\x08\1\0\5inner", 25);
  const base::testing::ScratchFolder scratch;
  ASSERT_TRUE(base::system_files().create(scratch.file("cut.wasm"), base::as_bytes(bytes)));
  capture::Workload cut = workload("", "one", {});
  cut.module_path = scratch.file("cut.wasm");
  const capture::Images images = images_of(cut);
  const std::vector<capture::ExportedName> wanted = {{0, "one"}, {0, common}};
  EXPECT_EQ(images.images[0].exports, wanted);
  EXPECT_TRUE(capture::check(images));
}

TEST(CodeImages, WithoutSourceMapsOnlyCallsAndTrapsHavePositions) {
  const CodeMetadata metadata = images_of(workload("corpora/fib.wasm", "fib", {1})).images[0].metadata;
  EXPECT_EQ(metadata.positions.size(), 3u);  // two calls, and the check of the stack
  EXPECT_TRUE(metadata.sites.empty() && metadata.instructions.empty() && metadata.unwind_rows.empty());
}

TEST(CodeImages, SourceMapsNameInstructionsAndSitesAndChangeNoCode) {
  const capture::Images without = images_of(workload("corpora/fib.wasm", "fib", {1}));
  const capture::Images with =
      images_of(workload("corpora/fib.wasm", "fib", {1}), {.source_maps = true, .unwind_maps = true});
  EXPECT_EQ(capture::code_sha256(with), capture::code_sha256(without));
  const CodeMetadata& metadata = with.images[0].metadata;
  auto text_at = [&](uint32_t wasm_pc) {
    for (const capture::WasmInstruction& it : metadata.instructions) {
      if (it.wasm_pc == wasm_pc) return metadata.texts[it.text];
    }
    return std::string("none");
  };
  std::vector<std::string> texts;
  for (const capture::Position& p : metadata.positions) texts.push_back(text_at(p.wasm_pc));
  EXPECT_NE(std::find(texts.begin(), texts.end(), "i32.add"), texts.end());
  EXPECT_EQ(std::count(texts.begin(), texts.end(), "call 0"), 2);
  auto has = [&](SiteKind kind) {
    return std::any_of(metadata.sites.begin(), metadata.sites.end(),
                       [&](const capture::EmittedSite& site) { return site.kind == kind; });
  };
  EXPECT_TRUE(has(SiteKind::Frame) && has(SiteKind::StackCheck) && has(SiteKind::Spill));
  EXPECT_FALSE(has(SiteKind::BoundsCheck));
  EXPECT_EQ(metadata.sites[0], (capture::EmittedSite{0, SiteKind::Frame}));
  EXPECT_GE(metadata.unwind_rows.size(), 4u);
  EXPECT_EQ(metadata.unwind_rows[0], (capture::UnwindRow{0, capture::UnwindRule::Entry}));
  EXPECT_TRUE(std::any_of(with.images[1].metadata.unwind_rows.begin(),
                          with.images[1].metadata.unwind_rows.end(),
                          [](const auto& row) { return row.rule == capture::UnwindRule::Adapter; }));
}

TEST(CodeImages, SourceLinesComeWithWhatTheGuestsCompilerInlined) {
  const capture::Images images =
      images_of(workload("ctest/engine/debug/lines5.wasm", "report", {10, 3}), {.source_maps = true});
  const CodeMetadata& metadata = images.images[0].metadata;
  std::set<std::vector<std::string>> chains;
  for (const capture::SourceRange& range : metadata.source_ranges) {
    std::vector<std::string> chain;
    for (uint32_t at = range.frame; at != capture::kNone; at = metadata.source_frames[at].caller) {
      const capture::SourceFrame& frame = metadata.source_frames[at];
      chain.push_back(metadata.texts[frame.function] + " " + metadata.texts[frame.file] + ":" +
                      std::to_string(frame.line));
    }
    chains.insert(chain);
  }
  EXPECT_TRUE(chains.contains({"_ZN5statsL6divideEii lines.cc:5", "_ZN5statsL7averageEii lines.cc:9",
                               "_ZN5stats9summarizeEii lines.cc:14"}));
}

TEST(CodeImages, AJournalGivesTheRealHistoryOfTheSameImages) {
  const capture::Workload fib = workload("corpora/fib.wasm", "fib", {1});
  CodeJournal journal;
  auto subject = Subject::load(fib);
  ASSERT_TRUE(subject);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE((*subject)->compile());
  journal.stop();
  auto code = describe_code(**subject, 1, &journal);
  ASSERT_TRUE(code);
  EXPECT_EQ(code->images.images, images_of(fib).images);
  int module_loads = 0, module_retires = 0;
  for (const capture::JournalEntry& entry : code->images.journal) {
    EXPECT_NE(entry.address, 0u);
    if (entry.image != 0) continue;
    ++(entry.action == capture::JournalAction::Load ? module_loads : module_retires);
  }
  EXPECT_EQ(module_loads, 4);
  EXPECT_EQ(module_retires, 3);
  EXPECT_TRUE(capture::check(code->images));
}

}  // namespace
}  // namespace wago::harness
