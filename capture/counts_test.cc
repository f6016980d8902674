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
  EXPECT_EQ(sentence({{{1, 2}, {}, {}}}), "c.json: entered[2]: counts an image that is not there");
}

}  // namespace
}  // namespace wago::capture
