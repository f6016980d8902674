#include "runtime/code_map.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <thread>

#include "runtime/abi.h"

namespace wago::runtime {
namespace {

std::shared_ptr<CodeImage> image_of(size_t bytes) {
  auto image = std::make_shared<CodeImage>();
  image->bytes.assign(bytes, 0x90);
  return image;
}

uint64_t address_of(const MappedCode& code, uint64_t offset = 0) {
  return reinterpret_cast<uint64_t>(code.base()) + offset;
}

// The permissions of the mapping around an address, as the kernel prints them: "r-xp".
std::string permissions_at(uint64_t address) {
  FILE* maps = std::fopen("/proc/self/maps", "re");
  char line[512], permissions[8] = "";
  uint64_t low, high;
  while (std::fgets(line, sizeof(line), maps)) {
    char found[8];
    if (std::sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s", &low, &high, found) == 3 && low <= address &&
        address < high) {
      std::strcpy(permissions, found);
    }
  }
  std::fclose(maps);
  return permissions;
}

TEST(CodeMap, CodeIsExecutableAndNotWritable) {
  auto code = MappedCode::map(image_of(10000), nullptr).value();
  EXPECT_EQ(permissions_at(address_of(*code)), "r-xp");
  EXPECT_EQ(permissions_at(address_of(*code, 9999)), "r-xp");
}

TEST(CodeMap, AnImageIsFoundByEveryAddressOfItAndByNoOther) {
  auto code = MappedCode::map(image_of(5000), nullptr).value();
  EXPECT_EQ(find_code(address_of(*code)), code.get());
  EXPECT_EQ(find_code(address_of(*code, 4999)), code.get());
  EXPECT_EQ(find_code(address_of(*code, 5000)), nullptr);
  EXPECT_EQ(find_code(address_of(*code) - 1), nullptr);
  EXPECT_EQ(find_code(0), nullptr);
  EXPECT_EQ(find_code(~uint64_t{0}), nullptr);
  const uint64_t address = address_of(*code);
  code.reset();
  EXPECT_EQ(find_code(address), nullptr);
}

TEST(CodeMap, AnEmptyImageMapsAndIsNeverFound) {
  auto code = MappedCode::map(image_of(0), nullptr).value();
  EXPECT_EQ(find_code(address_of(*code)), nullptr);
}

TEST(CodeMap, OnlyTheExactAddressOfATrapSiteIsOne) {
  auto image = image_of(100);
  image->trap_sites = {{10, base::TrapCode::Unreachable}, {14, base::TrapCode::IntegerOverflow}};
  auto code = MappedCode::map(image, nullptr).value();
  for (uint64_t offset = 0; offset < 100; ++offset) {
    const TrapSite* site = code->trap_site(address_of(*code, offset));
    ASSERT_EQ(site != nullptr, offset == 10 || offset == 14) << offset;
  }
  EXPECT_EQ(code->trap_site(address_of(*code, 14))->code, base::TrapCode::IntegerOverflow);
  EXPECT_EQ(code->trap_site(address_of(*code, 10) + (uint64_t{1} << 32)), nullptr);
}

TEST(CodeMap, CodeOffsetMovesTheImageInsideItsCacheLine) {
  for (uint32_t offset : {0u, 16u, 32u, 48u}) {
    auto code = MappedCode::map(image_of(4096), nullptr, offset).value();
    EXPECT_EQ(address_of(*code) % 64, offset);
    EXPECT_EQ(find_code(address_of(*code, 4095)), code.get());
    EXPECT_EQ(std::memcmp(code->base(), code->image().bytes.data(), 4096), 0);
  }
}

TEST(CodeMap, ThreadFixupsAreAddedToTheirFields) {
  auto image = image_of(16);
  const int32_t addend = 5;
  std::memcpy(image->bytes.data() + 12, &addend, 4);
  image->tls_fixups = {{12}};
  auto code = MappedCode::map(image, nullptr).value();
  int32_t field;
  std::memcpy(&field, code->base() + 12, 4);
  EXPECT_EQ(field, addend + thread_state_tp_offset());
  std::memcpy(&field, image->bytes.data() + 12, 4);
  EXPECT_EQ(field, addend) << "the image itself stays as it was";
}

TEST(CodeMap, LookUpsNeverMissAnImageWhileOthersComeAndGo) {
  auto fixed = MappedCode::map(image_of(64), nullptr).value();
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> missed{0}, looked{0};
  std::thread reader([&] {
    while (!stop) {
      missed += find_code(address_of(*fixed)) != fixed.get();
      ++looked;
    }
  });
  while (looked == 0) std::this_thread::yield();
  for (int round = 0; round < 200; ++round) {
    std::vector<std::unique_ptr<MappedCode>> others;
    for (int i = 0; i < 8; ++i) others.push_back(MappedCode::map(image_of(64), nullptr).value());
  }
  stop = true;
  reader.join();
  EXPECT_EQ(missed, 0u);
}

TEST(CodeObserver, HearsOfWhatIsThereAndOfWhatComesAndGoesWhileItObserves) {
  struct Diary : CodeObserver {
    void loaded(const MappedCode& code) override {
      EXPECT_EQ(find_code(address_of(code)), &code);
      lines.push_back("+" + std::to_string(code.image().bytes.size()));
    }
    void retired(const MappedCode& code) override {
      EXPECT_EQ(find_code(address_of(code)), &code) << "its addresses are not free yet";
      lines.push_back("-" + std::to_string(code.image().bytes.size()));
    }
    std::vector<std::string> lines;
  } diary;
  const auto signature = std::make_shared<const FuncType>();
  auto before = MappedCode::map(image_of(77), nullptr).value();
  observe_code(&diary);
  auto during = MappedCode::map_adapters(image_of(78), signature).value();
  EXPECT_EQ(during->signature(), signature);
  before.reset();
  during.reset();
  auto after = MappedCode::map(image_of(79), nullptr).value();
  observe_code(nullptr);
  after.reset();
  EXPECT_EQ(diary.lines, (std::vector<std::string>{"+77", "+78", "-77", "-78", "+79"}));
}

}  // namespace
}  // namespace wago::runtime
