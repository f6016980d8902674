#include "harness/perf_data.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "base/testing/scratch_folder.h"

namespace wago::harness {
namespace {

void append(std::string& text, auto value) {
  text.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string record(uint32_t type, uint16_t bytes) {
  std::string text;
  append(text, type);
  append(text, uint16_t{2});
  append(text, bytes);
  text.resize(bytes, 'x');
  return text;
}

std::string file_of(const std::string& data) {
  std::string text = "PERFILE2";
  text.resize(40, '\0');
  append(text, uint64_t{104});
  append(text, uint64_t{data.size()});
  text.resize(104, '\0');
  return text + data + "features";
}

class PerfData : public ::testing::Test {
 protected:
  base::Result<uint64_t> count(const std::string& bytes) {
    const std::string path = folder_.file("perf.data");
    std::ofstream(path, std::ios::binary) << bytes;
    return count_perf_samples(path);
  }
  base::testing::ScratchFolder folder_;
};

TEST_F(PerfData, SamplesAreToldFromOtherRecords) {
  EXPECT_EQ(*count(file_of("")), 0u);
  EXPECT_EQ(*count(file_of(record(9, 40) + record(10, 72) + record(9, 8) + record(68, 16))), 2u);
  EXPECT_EQ(*count(file_of(record(10, 65528) + record(9, 65528))), 1u);
}

TEST_F(PerfData, DamageIsSaid) {
  EXPECT_FALSE(count(""));
  EXPECT_FALSE(count("PERFFILE" + std::string(200, '\0')));
  EXPECT_FALSE(count(file_of(record(9, 40)).substr(0, 120)));
  EXPECT_FALSE(count(file_of(record(9, 40) + record(9, 4)))) << "shorter than its own header";
  std::string beyond = file_of(record(9, 40));
  const uint64_t more = 41;
  std::memcpy(beyond.data() + 48, &more, sizeof more);
  EXPECT_FALSE(count(beyond));
  EXPECT_FALSE(count_perf_samples(folder_.file("none")));
}

}  // namespace
}  // namespace wago::harness
