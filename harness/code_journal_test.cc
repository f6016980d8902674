#include "harness/code_journal.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/clock.h"
#include "runtime/module.h"

namespace wago::harness {
namespace {

using runtime::CodeImage;
using runtime::MappedCode;

std::shared_ptr<CodeImage> image_of(size_t bytes, uint8_t filling = 0x90) {
  auto image = std::make_shared<CodeImage>();
  image->bytes.assign(bytes, filling);
  return image;
}

std::shared_ptr<const runtime::Module> module_of(uint8_t byte) {
  auto module = std::make_shared<runtime::Module>();
  module->bytes = {byte};
  return module;
}

std::unique_ptr<MappedCode> mapped(std::shared_ptr<CodeImage> image,
                                   std::shared_ptr<const runtime::Module> module = nullptr) {
  return MappedCode::map(std::move(image), std::move(module)).value();
}

uint64_t address_of(const MappedCode& code) {
  return reinterpret_cast<uint64_t>(code.base());
}

TEST(CodeJournal, AReusedAddressMeansWhatWasThereAtTheTime) {
  CodeJournal journal;
  auto first = mapped(image_of(5000, 1), module_of(1));
  const uint64_t address = address_of(*first);
  const uint64_t during_first = base::monotonic_ns();
  first.reset();
  const uint64_t between = base::monotonic_ns();
  auto second = mapped(image_of(4500, 2), module_of(2));
  if (address_of(*second) != address) GTEST_SKIP() << "the kernel did not give the address again";
  const uint64_t during_second = base::monotonic_ns();
  journal.stop();

  auto then = journal.find(address + 100, during_first);
  ASSERT_TRUE(then);
  EXPECT_EQ(journal.codes()[then->code].image->bytes[0], 1);
  EXPECT_EQ(then->offset, 100u);
  EXPECT_EQ(journal.codes()[then->code].module->bytes[0], 1);
  EXPECT_FALSE(journal.find(address + 100, between));
  auto now = journal.find(address + 100, during_second);
  ASSERT_TRUE(now);
  EXPECT_EQ(journal.codes()[now->code].image->bytes[0], 2);
  EXPECT_TRUE(journal.find(address + 4999, during_first));
  EXPECT_FALSE(journal.find(address + 4999, during_second)) << "beyond the second image";
  EXPECT_FALSE(journal.find(address - 1, during_first));
}

TEST(CodeJournal, BeginsWithTheCodeThatIsRunningAlready) {
  auto before = mapped(image_of(100), module_of(1));
  CodeJournal journal;
  journal.loaded(*before);  // told once more by whoever mapped it
  before.reset();
  journal.stop();
  std::vector<bool> loads;
  for (const JournalRecord& record : journal.records()) {
    if (journal.codes()[record.code].image->bytes.size() == 100) loads.push_back(record.load);
  }
  EXPECT_EQ(loads, (std::vector<bool>{true, false}));
}

TEST(CodeJournal, EqualCodeIsHeldOnceHoweverOftenItIsMapped) {
  CodeJournal journal;
  std::vector<std::unique_ptr<MappedCode>> alive;
  for (int i = 0; i < 10; ++i) alive.push_back(mapped(image_of(64), module_of(1)));
  alive.push_back(mapped(image_of(64), module_of(2)));
  for (const FuncType& type : {FuncType(), FuncType{{ValueType::I32}, {}}, FuncType()}) {
    alive.push_back(MappedCode::map_adapters(image_of(64), std::make_shared<const FuncType>(type)).value());
  }
  alive.clear();
  journal.stop();
  EXPECT_EQ(journal.codes().size(), 4u) << "another module or signature is other code";
  EXPECT_EQ(journal.records().size(), 28u);
  uint64_t now = 0;
  for (const JournalRecord& record : journal.records()) {
    EXPECT_GE(record.monotonic_ns, now);
    now = record.monotonic_ns;
  }
}

TEST(CodeJournal, WhatExceedsABoundIsCountedAndNeverNamed) {
  CodeJournal journal({.records = 3, .code_bytes = 1 << 20});
  auto first = mapped(image_of(64, 1)), second = mapped(image_of(64, 2)), third = mapped(image_of(64, 3));
  auto lost = mapped(image_of(64, 4));
  const uint64_t address = address_of(*first);
  EXPECT_FALSE(journal.find(address_of(*lost), base::monotonic_ns()));
  EXPECT_TRUE(journal.find(address, base::monotonic_ns()));
  first.reset();  // its retirement is lost, and it is retired all the same
  EXPECT_FALSE(journal.find(address, base::monotonic_ns()));
  second.reset(), third.reset(), lost.reset();
  journal.stop();
  EXPECT_EQ(journal.records().size(), 3u);
  EXPECT_EQ(journal.lost_records(), 4u);

  CodeJournal small({.records = 100, .code_bytes = 100});
  auto fits = mapped(image_of(90, 5)), too_much = mapped(image_of(11, 6)), again = mapped(image_of(90, 5));
  small.stop();
  EXPECT_GE(small.lost_records(), 1u);
  EXPECT_TRUE(small.find(address_of(*again), base::monotonic_ns()));
  EXPECT_FALSE(small.find(address_of(*too_much), base::monotonic_ns()));
}

TEST(CodeJournal, FollowsCodeOfManyThreads) {
  CodeJournal journal;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < 200; ++i) mapped(image_of(64 + static_cast<size_t>(t)));
    });
  }
  for (std::thread& thread : threads) thread.join();
  journal.stop();
  EXPECT_EQ(journal.lost_records(), 0u);
  int balance = 0;
  for (const JournalRecord& record : journal.records()) balance += record.load ? 1 : -1;
  EXPECT_EQ(journal.records().size(), 1600u);
  EXPECT_EQ(balance, 0);
}

}  // namespace
}  // namespace wago::harness
