#include "capture/iterations.h"

#include <gtest/gtest.h>

namespace wago::capture {
namespace {

const std::vector<IterationBatch> kBatches = {
    {0, 1000, 990, 10}, {1010, 2000, 1980, 20}, {UINT64_MAX, 1, 0, 1}};

TEST(Iterations, DecodeWhatWasEncoded) {
  auto bytes = encode_iterations(kBatches);
  EXPECT_EQ(bytes.size(), 32u + 3 * 40u);
  EXPECT_EQ(*decode_iterations(bytes, "f"), kBatches);
  EXPECT_TRUE(decode_iterations(encode_iterations({}), "f")->empty());
}

TEST(Iterations, TheFormatIsWhatTheDocumentationSays) {
  auto bytes = encode_iterations(std::vector<IterationBatch>{{0x0102, 0x0304, 0x0506, 0x0708}});
  const std::vector<uint8_t> expected = {
      'W', 'A', 'G', 'O', 'I', 'T', 'E', 'R', 1, 0, 0, 0, 40, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0,
      0,   0,   0,   0,   0,   0,   0,   0,   2, 1, 0, 0, 0,  0, 0, 0, 4, 3, 0, 0, 0, 0, 0, 0,
      6,   5,   0,   0,   0,   0,   0,   0,   8, 7, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(bytes, expected);
}

TEST(Iterations, LongerRecordsOfALaterProgramAreReadAsFarAsTheyAreKnown) {
  auto bytes = encode_iterations(std::span(kBatches).first(2));
  bytes[12] = 48;
  bytes.insert(bytes.begin() + 32 + 40, 8, 0xee);
  bytes.insert(bytes.end(), 8, 0xee);
  EXPECT_EQ(*decode_iterations(bytes, "f"),
            std::vector<IterationBatch>(kBatches.begin(), kBatches.begin() + 2));
}

TEST(Iterations, EveryTruncationAndExtensionIsRefused) {
  auto bytes = encode_iterations(kBatches);
  for (size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(decode_iterations(std::span(bytes).first(length), "f")) << length;
  }
  bytes.push_back(0);
  EXPECT_FALSE(decode_iterations(bytes, "f"));
}

TEST(Iterations, HostileHeadersAreRefused) {
  auto with = [](size_t at, uint8_t value) {
    auto bytes = encode_iterations(kBatches);
    bytes[at] = value;
    auto result = decode_iterations(bytes, "it.bin");
    return result ? std::string("accepted") : result.error().to_string();
  };
  EXPECT_EQ(with(0, 'X'), "it.bin: not a file of iterations: it does not begin with the magic WAGOITER");
  EXPECT_EQ(with(8, 2).rfind("it.bin: schema version 2 is too new", 0), 0u);
  EXPECT_EQ(with(8, 0).rfind("it.bin: schema version 0 is too old", 0), 0u);
  EXPECT_EQ(with(12, 0), "it.bin: not a file of iterations: records of 0 bytes");
  EXPECT_EQ(with(16, 4), "it.bin: not a file of iterations: its length does not match its 4 records");
  EXPECT_EQ(with(23, 0xff).find("over the limit iteration_records (20000000)") == std::string::npos, false);
  EXPECT_EQ(with(24, 1), "it.bin: not a file of iterations: reserved bytes of its header are set");
  EXPECT_EQ(with(32 + 39, 1), "it.bin: not a file of iterations: reserved bytes of a record are set");
  EXPECT_EQ(with(32 + 24, 0), "it.bin: not a file of iterations: a batch of no iterations");
}

}  // namespace
}  // namespace wago::capture
