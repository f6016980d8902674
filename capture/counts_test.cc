#include "capture/counts.h"

#include <gtest/gtest.h>

namespace wago::capture {
namespace {

Images images() {
  Image module{.name = "fib", .size = 64};
  module.metadata.blocks = {{0, 10, 0, 3}, {10, 6, 0, 2}};
  return {{module, Image{.kind = ImageKind::Adapter}}, {}};
}

TEST(Counts, ReadBackAsWritten) {
  const Counts counts{{{~uint64_t{0}, 7}, {}}};
  auto parsed = parse_counts(to_json_text(counts), "counts.json", images());
  ASSERT_TRUE(parsed) << parsed.error().to_string();
  EXPECT_EQ(*parsed, counts);
}

TEST(Counts, BelongToTheImagesOfTheirCapture) {
  auto sentence = [](Counts counts) {
    auto parsed = parse_counts(to_json_text(counts), "c.json", images());
    return parsed ? std::string("accepted") : parsed.error().to_string();
  };
  EXPECT_EQ(sentence({{{1}}}), "c.json: entered[0]: has 1 counts, where the image has 2 blocks");
  EXPECT_EQ(sentence({{{1, 2}, {3}}}), "c.json: entered[1]: has 1 counts, where the image has 0 blocks");
  EXPECT_EQ(sentence({{{1, 2}}}), "c.json: entered: counts fewer images than there are");
  EXPECT_EQ(sentence({{{1, 2}, {}, {}}}), "c.json: entered[2]: counts an image that is not there");
}

TEST(Counts, UnfinishedBlocksAreLeftInsideOfThemselves) {
  Images code = images();
  code.images[0].metadata.block_ranges = {{0, kNone, 1, 3, 1}, {0, kNone, 3, 8, 2}};
  const Counts counts{{{5, 7}, {}}, {{0, 0, 4, 1, 1, 3}, {0, 0, 10, 3, 2, 2}}};
  auto parsed = parse_counts(to_json_text(counts), "counts.json", code);
  ASSERT_TRUE(parsed) << parsed.error().to_string();
  EXPECT_EQ(*parsed, counts);

  auto sentence = [&](Unfinished row) {
    auto refused = parse_counts(to_json_text({{{5, 7}, {}}, {row}}), "c.json", code);
    return refused ? std::string("accepted") : refused.error().to_string();
  };
  EXPECT_EQ(sentence({0, 0, 10, 3, 2, 5}), "accepted");
  EXPECT_EQ(sentence({0, 0, 10, 3, 2, 6}), "c.json: unfinished leaves a block more often than it is entered");
  EXPECT_EQ(sentence({0, 0, 11, 3, 2, 1}), "c.json: unfinished[0] leaves a block outside of it");
  EXPECT_EQ(sentence({0, 0, 4, 4, 1, 1}), "c.json: unfinished[0] leaves a block outside of it");
  EXPECT_EQ(sentence({0, 1, 9, 0, 0, 1}), "c.json: unfinished[0] leaves a block outside of it");
  EXPECT_EQ(sentence({0, 0, 4, 1, 3, 1}), "c.json: unfinished[0] has more ranges than its block");
  EXPECT_EQ(sentence({0, 2, 4, 1, 1, 1}), "c.json: unfinished[0] names a block that has no count");
  EXPECT_EQ(sentence({1, 0, 4, 1, 1, 1}), "c.json: unfinished[0] names a block that has no count");
}

}  // namespace
}  // namespace wago::capture
