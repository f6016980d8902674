#include "capture/images.h"

#include <gtest/gtest.h>

namespace wago::capture {
namespace {

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
  Image adapter{.kind = ImageKind::Adapter,
                .name = "(i32) -> (i32)",
                .size = 64,
                .regions = {{RegionKind::EntryAdapter, 0, 40}, {RegionKind::HostAdapter, 40, 24}}};
  return {{module, adapter},
          {{JournalAction::Load, 1, 10, 0x7000},
           {JournalAction::Load, 0, 20, 0x8000},
           {JournalAction::Retire, 0, 30, 0}}};
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
  EXPECT_EQ(sentence([](Images& i) { i.journal[0].image = 2; }),
            "images.json: the journal names an image that is not there");
  EXPECT_EQ(sentence([](Images& i) { i.journal[1].monotonic_ns = 1; }),
            "images.json: the journal's times fall");
  EXPECT_EQ(sentence([](Images& i) { i.journal[1].image = 1; }),
            "images.json: image 1 is loaded twice, or retired without being loaded, in the journal");
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
