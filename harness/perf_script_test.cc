#include "harness/perf_script.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "harness/perf_control.h"

namespace wago::harness {
namespace {

using capture::Frame;
using capture::Side;

// A module with one function of 100 bytes, there from 100 to 200 and, in another place, from 150; and an
// adapter whose second half leads to host functions.
capture::Images images() {
  capture::Images images;
  capture::Image module;
  module.kind = capture::ImageKind::Module;
  module.size = 100;
  module.regions = {{capture::RegionKind::Body, 0, 100, 0}};
  capture::Image adapter;
  adapter.kind = capture::ImageKind::Adapter;
  adapter.size = 64;
  adapter.regions = {{capture::RegionKind::EntryAdapter, 0, 32}, {capture::RegionKind::HostAdapter, 32, 32}};
  images.images = {module, adapter};
  images.journal = {{capture::JournalAction::Load, 0, 100, 0x1000},
                    {capture::JournalAction::Load, 1, 100, 0x3000},
                    {capture::JournalAction::Load, 0, 150, 0x2000},
                    {capture::JournalAction::Retire, 0, 200, 0x1000}};
  return images;
}

PerfScriptSettings settings() {
  PerfScriptSettings settings;
  settings.pid = 7;
  settings.rate_hz = 1000;
  settings.text_offset = 0x80;
  settings.addresses = {0x1000, 0x3000, 0x2000};
  return settings;
}

struct Read {
  capture::Samples samples;
  std::string error;
  uint64_t lost = 0;
  std::vector<Frame> frames(size_t sample) const {
    return capture::frames_of(samples, samples.samples.at(sample).stack);
  }
  std::string name(const Frame& frame) const { return samples.symbols.at(frame.symbol).name; }
};

Read read(std::string_view text, const PerfScriptSettings& how = settings(), size_t piece = 1) {
  const capture::Images code = images();
  PerfScript script(how, code);
  Read read;
  for (size_t i = 0; i < text.size(); i += piece) {
    if (auto fed = script.feed(text.substr(i, piece)); !fed) {
      read.error = fed.error().message;
      return read;
    }
  }
  if (auto finished = script.finish(); !finished) read.error = finished.error().message;
  read.lost = script.lost();
  read.samples = script.take();
  return read;
}

constexpr std::string_view kTwo =
    "7/7 0.000000120:    1001001 \n"
    "\t              84 fib (/tmp/x (y)/jitted-7-0.so)\n"
    "\t              91 [entry adapter] (i32) -> (i32) (/tmp/x (y)/jitted-7-1.so)\n"
    "\t           bff79 _ZN4wago7harness11Measurement4loopERK (/bin/wago-profile)\n"
    "\t           42220 _start (/bin/wago-profile)\n"
    "\n"
    "7/9 0.000000190:    1001001 \n"
    "\t              3000 [unknown] (//anon)\n"
    "\t              e4 fib (/tmp/jitted-7-2.so)\n"
    "\t            1234 [unknown] (/lib/libc.so.6)\n"
    "\t          123456 [unknown] ([unknown])\n"
    "\n";

TEST(PerfScript, FramesAreJoinedToCodeByPlaceAndTime) {
  for (size_t piece : {size_t{1}, size_t{7}, size_t{4096}}) {
    const Read told = read(kTwo, settings(), piece);
    ASSERT_EQ(told.error, "");
    ASSERT_EQ(told.samples.samples.size(), 2u);
    EXPECT_EQ(told.samples.samples[0].monotonic_ns, 120u);
    EXPECT_EQ(told.samples.samples[0].weight, 1001001u);
    EXPECT_EQ(told.samples.period_ns, 1'000'000u);
    ASSERT_EQ(told.samples.threads.size(), 2u);
    EXPECT_EQ(told.samples.threads[0].name, "recorder");
    EXPECT_EQ(told.samples.threads[1].id, 9u);

    const auto first = told.frames(0);
    ASSERT_EQ(first.size(), 3u) << "the measuring loop is the root";
    EXPECT_EQ(first[0], (Frame{.side = Side::Guest, .image = 0, .offset = 4}));
    EXPECT_EQ(first[1], (Frame{.side = Side::Helper, .image = 1, .offset = 0x10}))
        << "frame pointers lead to behind the call";
    EXPECT_EQ(first[2].side, Side::Host);

    const auto second = told.frames(1);
    ASSERT_EQ(second.size(), 4u);
    EXPECT_EQ(second[0].image, 1u) << "code that perf knows no file of";
    EXPECT_EQ(second[1], (Frame{.side = Side::Guest, .image = 0, .offset = 99}));
    EXPECT_EQ(told.name(second[2]), "libc.so.6+0x1234");
    EXPECT_EQ(told.name(second[3]), "0x123456");
    EXPECT_EQ(second[3].side, Side::Unknown);
    EXPECT_EQ(second[2].side, Side::Unknown) << "who called it is not known";
    EXPECT_EQ(told.samples.truncated_stacks, 1u);
  }
}

TEST(PerfScript, WhatWasTakenOutsideTheTimedWindowsIsReadAndLeftOut) {
  PerfScriptSettings timed = settings();
  const std::vector<capture::IterationBatch> batches = {{80, 20, 20, 1}};
  timed.windows = TimedWindows(batches, 100);
  const capture::Images code = images();
  PerfScript script(timed, code);
  ASSERT_TRUE(script.feed(kTwo).ok());
  ASSERT_TRUE(script.finish().ok());
  EXPECT_EQ(script.samples_read(), 2u);
  const capture::Samples samples = script.take();
  ASSERT_EQ(samples.samples.size(), 1u);
  EXPECT_EQ(samples.samples[0].monotonic_ns, 190u);
  EXPECT_EQ(samples.truncated_stacks, 1u);
}

TEST(PerfScript, TheKernelsLibraryIsTheHosts) {
  const Read told = read("7/7 0.000000120: 1 \n\t be1 [unknown] ([vdso])\n\t 84 fib (/d/jitted-7-0.so)\n\n");
  ASSERT_EQ(told.error, "");
  const auto frames = told.frames(0);
  EXPECT_EQ(told.name(frames[0]), "[vdso]+0xbe1");
}

// At 0x1000 there was code until 200, at 0x2000 from 150.
TEST(PerfScript, AnAddressMeansWhatWasThereThen) {
  auto at = [](const char* time, const char* file) {
    const Read told = read("7/7 0.000000" + std::string(time) + ": 1 \n\t 84 fib (" + file + ")\n\n");
    EXPECT_EQ(told.error, "");
    const Frame frame = told.frames(0)[0];
    return frame.image == 0 && frame.side == Side::Guest;
  };
  EXPECT_FALSE(at("099", "/d/jitted-7-0.so"));
  EXPECT_TRUE(at("100", "/d/jitted-7-0.so"));
  EXPECT_TRUE(at("199", "/d/jitted-7-0.so"));
  EXPECT_FALSE(at("200", "/d/jitted-7-0.so"));
  EXPECT_FALSE(at("149", "/d/jitted-7-2.so"));
  EXPECT_TRUE(at("150", "/d/jitted-7-2.so"));
  EXPECT_FALSE(at("150", "/d/jitted-8-2.so")) << "another process";
  EXPECT_FALSE(at("150", "/d/jitted-7-3.so")) << "a function that the dump does not have";
}

TEST(PerfScript, CallersOfRawStacksAreWherePerfPutsThem) {
  PerfScriptSettings raw = settings();
  raw.raw_stacks = true;
  const Read told = read(kTwo, raw);
  EXPECT_EQ(told.frames(0)[1].offset, 0x11u);
}

TEST(PerfScript, WhatWasLostIsCounted) {
  EXPECT_EQ(read("7/7 0.000000120: PERF_RECORD_LOST lost 12\n" + std::string(kTwo)).lost, 12u);
  EXPECT_EQ(read("  swapper     0 [000]     0.0: PERF_RECORD_LOST_SAMPLES lost 3\n").lost, 3u);
  EXPECT_EQ(read("PERF_RECORD_LOST\n").lost, 1u);
}

TEST(PerfScript, NonsenseIsRefused) {
  for (const char* text : {"hello\n", "7/7\n", "7/7 1:\n", "7/7 1.2: 3\n", "7/7 1.000000001: x\n",
                           "7/7 1.000000001: 5 nothing\n", "99999999999999999999/7 1.000000001: 5\n",
                           "7/7 99999999999999999.000000001: 5\n", "7/7 1.000000001: 5\n\t zz fib (a)\n\n",
                           "7/7 1.000000001: 5\n\t 12 fib a\n\n", "\xff\xfe\n"}) {
    EXPECT_NE(read(text).error, "") << text;
  }
  EXPECT_NE(read(std::string(70'000, 'x')).error, "");
  EXPECT_EQ(read("").error, "");
}

TEST(PerfScript, ThereIsALimitOnSamples) {
  PerfScriptSettings few = settings();
  few.limits.samples = 1;
  EXPECT_NE(read(kTwo, few).error.find("more samples"), std::string::npos);
}

TEST(PerfScript, ADumpTellsWhereItsFunctionsWere) {
  std::string dump(40, '\0');
  dump[8] = 40;
  auto add = [&](uint32_t kind, uint64_t address) {
    std::string record(64, '\0');
    record[0] = static_cast<char>(kind);
    record[4] = 64;
    record.replace(32, 8, reinterpret_cast<const char*>(&address), 8);
    dump += record;
  };
  add(0, 0x1234);
  add(2, 1);
  add(4, 1);
  add(0, 0x777700000000);
  EXPECT_EQ(jitdump_addresses(dump), (std::vector<uint64_t>{0x1234, 0x777700000000}));
  EXPECT_EQ(jitdump_addresses(dump.substr(0, dump.size() - 1)), (std::vector<uint64_t>{0x1234}));
  for (size_t size = 0; size < 40; ++size) EXPECT_TRUE(jitdump_addresses(dump.substr(0, size)).empty());
}

class PerfControlTest : public ::testing::Test {
 protected:
  PerfControlTest() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    ours_ = base::Fd(ends[0]);
    its_ = base::Fd(ends[1]);
  }
  void perf_says(std::string_view text) {
    ASSERT_EQ(::write(its_.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  base::Fd ours_, its_;
};

TEST_F(PerfControlTest, AnAnswerMayEndInANul) {
  PerfControl control(std::move(ours_));
  perf_says({"ack\n\0", 5});
  EXPECT_TRUE(control.command("enable", 1000));
  perf_says("ack\n");
  EXPECT_TRUE(control.command("disable", 1000));
  char told[64] = {};
  ASSERT_GT(::read(its_.get(), told, sizeof told), 0);
  EXPECT_STREQ(told, "enable\ndisable\n");
}

TEST_F(PerfControlTest, SilenceNonsenseAndDeathAreErrors) {
  PerfControl control(std::move(ours_));
  auto error = [&] {
    auto answered = control.command("enable", 50);
    return answered ? "" : answered.error().message;
  };
  EXPECT_EQ(error(), "perf did not acknowledge enable in 50ms");
  perf_says("nack\n");
  EXPECT_EQ(error(), "perf answered nack to enable instead of ack");
  perf_says(std::string(100, 'a'));
  EXPECT_NE(error(), "");
  std::thread dies([&] {
    char told[256];
    ASSERT_GT(::read(its_.get(), told, sizeof told), 0);
    its_.reset();
  });
  EXPECT_NE(error(), "");
  dies.join();
  EXPECT_EQ(error(), "perf is gone: it could not be told to enable");
}

}  // namespace
}  // namespace wago::harness
