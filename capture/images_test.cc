#include "capture/images.h"

#include <gtest/gtest.h>

namespace wago::capture {
namespace {

using base::DecisionKind;

Images example() {
  Image module;
  module.name = "fib";
  module.size = 192;
  module.sha256.fill(1);
  module.regions = {{RegionKind::Body, 0, 100, 1},
                    {RegionKind::TrapStubs, 100, 20, 1},
                    {RegionKind::Padding, 120, 8},
                    {RegionKind::Body, 128, 64, 2}};
  Function fib{.index = 1,
               .name = "fib\n",
               .signature = "(i32) -> (i32)",
               .begin = 0,
               .size = 120,
               .wasm_begin = 40,
               .wasm_size = 30};
  fib.sha256.fill(2);
  fib.statistics.machine_instructions = 31;
  fib.statistics.blocks = 4;
  Function add{.index = 2, .name = "add", .signature = "(i32, i32) -> (i32)", .begin = 128, .size = 64};
  module.functions = {fib, add};
  module.exports = {{1, "run"}, {1, "start"}, {2, "sum of two"}};
  module.metadata = {
      .inline_sites = {{2, 5, kNone}, {2, 7, 0}},
      .positions = {{0, 0, kNone}, {12, 5, kNone}, {16, 1, 0}, {130, 0, kNone}},
      .sites = {{4, SiteKind::StackCheck}, {20, SiteKind::Reload}},
      .decisions = {{1, DecisionKind::Inlined, 5, kNone, 2},
                    {1, DecisionKind::Hoisted, 1, 0},
                    {2, DecisionKind::NotInlinedLarge, 7, kNone, 1}},
      .origins = {{1, 20, 3}, {2, 5, 0}},
      .instructions = {{1, 0, 0}, {1, 5, 1}, {2, 1, 0}},
      .source_frames = {{2, 3, 10, kNone}, {kNone, 3, 7, 0}},
      .source_ranges = {{1, 0, 0}, {1, 5, 1}, {2, 0, kNone}},
      .unwind_rows = {{0, UnwindRule::Entry}, {1, UnwindRule::Pushed}, {4, UnwindRule::Framed}},
      .blocks = {{0, 40, 1, 12}, {40, 0, 1, 0}, {128, 20, 2, 5}},
      .block_ranges = {{0, kNone, 0, 5, 3}, {0, 0, 0, 4, 2}, {1, kNone, 9, 10, 1}},
      .texts = {"local.get 0", "call 2", "main", "fib.c"}};
  Image adapter{.kind = ImageKind::Adapter,
                .name = "(i32) -> (i32)",
                .size = 64,
                .regions = {{RegionKind::EntryAdapter, 0, 40}, {RegionKind::HostAdapter, 40, 24}}};
  return {{module, adapter},
          {{JournalAction::Load, 1, 10, 0x7000},
           {JournalAction::Load, 0, 20, 0x8000},
           {JournalAction::Load, 0, 25, 0x9000},
           {JournalAction::Retire, 0, 30, 0x8000},
           {JournalAction::Load, 0, 31, 0x8000}}};
}

TEST(Images, ReadBackAsWritten) {
  auto images = parse_images(to_json_text(example()), "images.json");
  ASSERT_TRUE(images) << images.error().to_string();
  EXPECT_EQ(*images, example());
}

TEST(Images, BrokenInvariantsAreNamed) {
  auto sentence = [](auto change) {
    Images images = example();
    change(images);
    auto parsed = parse_images(to_json_text(images), "images.json");
    return parsed ? std::string("accepted") : parsed.error().to_string();
  };
  EXPECT_EQ(sentence([](Images& i) { i.images[0].regions[1].begin = 101; }),
            "images.json: image 0 has regions that do not tile it at offset 100");
  EXPECT_EQ(sentence([](Images& i) { i.images[0].regions.pop_back(); }),
            "images.json: image 0 has regions that end at 128, not at its size");
  EXPECT_EQ(sentence([](Images& i) { i.images[0].functions[1].size = 65; }),
            "images.json: image 0 has function 2 beyond its end");
  EXPECT_EQ(sentence([](Images& i) { i.images[0].functions[1].begin = ~0u; }),
            "images.json: image 0 has function 2 beyond its end");
  EXPECT_EQ(sentence([](Images& i) { std::swap(i.images[0].functions[0], i.images[0].functions[1]); }),
            "images.json: image 0 has functions out of order");
  EXPECT_EQ(sentence([](Images& i) { i.images[0].exports[2].function = 0; }),
            "images.json: image 0 has exports out of order");
  EXPECT_EQ(sentence([](Images& i) { i.images[0].exports[2].function = 3; }),
            "images.json: image 0 exports function 3, which it does not have");
  EXPECT_EQ(sentence([](Images& i) { i.images[0].exports[1].name = "run"; }),
            "images.json: image 0 has the same export of function 1 twice");
  EXPECT_EQ(sentence([](Images& i) { i.images[0].exports[2].name = "run"; }), "accepted");
  EXPECT_EQ(sentence([](Images& i) {
              i.images[1].exports = {{0, "run"}};
            }),
            "images.json: image 1 is an adapter and has exports");
  EXPECT_EQ(sentence([](Images& i) { i.journal[0].image = 2; }),
            "images.json: the journal names an image that is not there");
  EXPECT_EQ(sentence([](Images& i) { i.journal[1].monotonic_ns = 1; }),
            "images.json: the journal's times fall");
  const std::string twice =
      "images.json: image 0 is loaded twice, or retired without being loaded, in the journal";
  EXPECT_EQ(sentence([](Images& i) { i.journal[2].address = 0x8000; }), twice);
  EXPECT_EQ(sentence([](Images& i) { i.journal[3].address = 0x7000; }), twice);
  EXPECT_EQ(sentence([](Images& i) { i.journal[3] = i.journal[2]; }), twice);
}

TEST(Images, BrokenMetadataIsNamed) {
  auto sentence = [](auto change) {
    Images images = example();
    change(images.images[0].metadata);
    auto parsed = parse_images(to_json_text(images), "i.json");
    return parsed ? std::string("accepted") : parsed.error().to_string();
  };
  EXPECT_EQ(sentence([](CodeMetadata& m) { m.inline_sites[0].parent = 0; }),
            "i.json: image 0 has inline sites before their parents");
  EXPECT_EQ(sentence([](CodeMetadata& m) { m.positions[1].offset = 17; }),
            "i.json: image 0 has positions out of order");
  EXPECT_EQ(sentence([](CodeMetadata& m) { m.positions[3].offset = 193; }),
            "i.json: image 0 has positions out of order");
  EXPECT_EQ(sentence([](CodeMetadata& m) { m.positions[3].inline_site = 2; }),
            "i.json: image 0 has a position that names an inline site that is not there");
  EXPECT_EQ(sentence([](CodeMetadata& m) { m.source_frames[1].caller = 1; }),
            "i.json: image 0 has source frames before their callers");
  EXPECT_EQ(sentence([](CodeMetadata& m) { m.source_ranges[0].frame = 2; }),
            "i.json: image 0 has a source range that names a frame that is not there");
  EXPECT_EQ(sentence([](CodeMetadata& m) { m.instructions[2].text = 4; }),
            "i.json: image 0 has a wasm instruction that names a text that is not there");
  EXPECT_EQ(sentence([](CodeMetadata& m) { m.blocks[2].size = 65; }),
            "i.json: image 0 has a block beyond its end");
  EXPECT_EQ(sentence([](CodeMetadata& m) { m.block_ranges[2].block = 3; }),
            "i.json: image 0 has a block range that names a block or an inline site that is not there");
  EXPECT_EQ(sentence([](CodeMetadata& m) { m.block_ranges[0].wasm_begin = 6; }),
            "i.json: image 0 has a block range that ends before it begins");
  EXPECT_EQ(sentence([](CodeMetadata& m) { m.decisions[1].inline_site = 2; }),
            "i.json: image 0 has a decision that names an inline site that is not there");
  EXPECT_EQ(sentence([](CodeMetadata& m) { m.decisions[2].function = 0; }),
            "i.json: image 0 has decisions out of order");
  EXPECT_EQ(sentence([](CodeMetadata& m) { m.decisions[0].inline_site = 1; }),
            "i.json: image 0 has decisions out of order");
  EXPECT_EQ(sentence([](CodeMetadata& m) { m.origins[1].function = 1; }),
            "i.json: image 0 has origins of functions out of order");
}

TEST(Images, DecisionsOfOneFunctionAreFound) {
  const CodeMetadata m = example().images[0].metadata;
  EXPECT_EQ(decisions_of(m, 1).size(), 2u);
  EXPECT_EQ(decisions_of(m, 2).front(), m.decisions[2]);
  EXPECT_TRUE(decisions_of(m, 0).empty() && decisions_of(m, 3).empty());
  EXPECT_EQ(origin_of(m, 2), &m.origins[1]);
  EXPECT_EQ(origin_of(m, 3), nullptr);
}

TEST(Images, DamagedMetadataTablesNameTheirPlace) {
  auto sentence = [](std::string from, std::string to) {
    std::string text = to_json_text(example());
    std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
    text.replace(text.find(from), from.size(), to);
    auto parsed = parse_images(text, "i.json");
    return parsed ? std::string("accepted") : parsed.error().to_string();
  };
  EXPECT_EQ(sentence("\"wasm_pc\":[0,5,1,0]", "\"wasm_pc\":[0,5,1]"),
            "i.json: images[0].metadata.positions.wasm_pc: must be as long as offset");
  EXPECT_EQ(sentence("\"wasm_pc\":[0,5,1,0]", "\"wasm_pc\":[0,\"x\",1,0]"),
            "i.json: images[0].metadata.positions: row 1 of column wasm_pc must be an integer from 0 to "
            "4294967294");
  EXPECT_EQ(sentence("\"rule\":[0,1,2]", "\"rule\":[0,1,4]"),
            "i.json: images[0].metadata.unwind_rows: row 2 of column rule must be an integer from 0 to 3");
  EXPECT_EQ(sentence("\"spill\"", "\"spilt\""),
            "i.json: images[0].metadata.site_kinds: are not the words of this schema version");
  EXPECT_EQ(sentence("\"hoisted\"", "\"lifted\""),
            "i.json: images[0].metadata.decision_kinds[16]: is no decision that this program knows");
  EXPECT_EQ(sentence("\"decision_kinds\"", "\"kinds\""),
            "i.json: images[0].metadata.decision_kinds: must be there with decisions");
  EXPECT_EQ(sentence(",\"unused\"]", "]"), "accepted");  // of a program that did not know it yet
  EXPECT_EQ(sentence("\"kind\":[0,16,1]", "\"kind\":[0,19,1]"),
            "i.json: images[0].metadata.decisions: row 1 of column kind must be an integer from 0 to 18");
  Limits limits;
  limits.metadata_rows = 3;
  auto parsed = parse_images(to_json_text(example()), "i.json", limits);
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().to_string(),
            "i.json: images[0].metadata.positions.offset: exceeds the limit metadata_rows (3)");
}

TEST(Images, APositionHoldsUntilTheNext) {
  const std::vector<Position> positions = {{4, 1, kNone}, {8, 2, kNone}};
  EXPECT_EQ(position_at(positions, 3), nullptr);
  EXPECT_EQ(position_at(positions, 4), &positions[0]);
  EXPECT_EQ(position_at(positions, 7), &positions[0]);
  EXPECT_EQ(position_at(positions, 100), &positions[1]);
}

TEST(Images, DamagedRowsNameTheirPath) {
  auto sentence = [](std::string from, std::string to) {
    std::string text = to_json_text(example());
    text.replace(text.find(from), from.size(), to);
    auto parsed = parse_images(text, "i.json");
    return parsed ? std::string("accepted") : parsed.error().to_string();
  };
  EXPECT_EQ(sentence("\"body\"", "\"flesh\"")
                .rfind("i.json: images[0].regions[0]: column kind must be one of body, ", 0),
            0u);
  EXPECT_EQ(sentence("\"add\"", "7"), "i.json: images[0].functions[1]: column name must be a string");
  EXPECT_EQ(sentence("\"version\": 1", "\"version\": 2").rfind("i.json: schema version 2 is too new", 0), 0u);
  EXPECT_EQ(sentence("\"spills\"", "\"spoils\""),
            "i.json: function_columns: are not the columns of this schema version");
  EXPECT_EQ(sentence("[\"load\", 1, 10, 28672]", "[\"load\", 1]"),
            "i.json: journal[0]: must have 4 columns, not 2");
}

TEST(Images, LimitsAreNamed) {
  std::string text = to_json_text(example());
  auto sentence = [&](Limits limits) { return parse_images(text, "i.json", limits).error().to_string(); };
  EXPECT_EQ(sentence({.images = 1}), "i.json: images: has 2 entries, over the limit of 1");
  EXPECT_EQ(sentence({.functions = 1}), "i.json: images[0].functions: has 2 entries, over the limit of 1");
  EXPECT_NE(sentence({.name_bytes = 3}).find("limit name_bytes (3)"), std::string::npos);
  EXPECT_EQ(within_limit("long", 3), "lon");
  EXPECT_EQ(within_limit("l\xc3\xb6ng", 2), "l") << "whole characters";
  EXPECT_NE(sentence({.decoded_bytes = 10}).find("limit bytes (10)"), std::string::npos);
}

TEST(CodeHash, ChangesWithCodeAndNotWithNamesOrPlaces) {
  Images other = example();
  other.images[0].functions[0].name = "renamed";
  other.images[0].functions[0].begin = 0;
  other.journal.clear();
  EXPECT_EQ(code_sha256(other), code_sha256(example()));
  other.images[0].functions[0].sha256[0] ^= 1;
  EXPECT_NE(code_sha256(other), code_sha256(example()));
  other = example();
  other.images[1].sha256[0] ^= 1;
  EXPECT_NE(code_sha256(other), code_sha256(example()));
}

}  // namespace
}  // namespace wago::capture
