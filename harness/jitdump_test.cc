// Files for collectors outside, as they are written; that perf reads them is tested in ctest/collectors.
#include "harness/jitdump.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>
#include <wago/wago.h>

#include <cstring>
#include <filesystem>
#include <map>

#include "base/clock.h"
#include "base/files.h"
#include "base/testing/scratch_folder.h"
#include "harness/frame_section.h"
#include "harness/perf_map.h"
#include "harness/publish_code.h"
#include "harness/testing/modules.h"
#include "runtime/engine_data.h"
#include "runtime/unwind.h"

namespace wago::harness {
namespace {

class CodeFilesTest : public ::testing::Test {
 protected:
  static Module compile(std::string_view bytes) {
    auto engine = Engine::open();
    auto module = engine->compile(std::vector<uint8_t>(bytes.begin(), bytes.end()));
    EXPECT_TRUE(module);
    return *module;
  }
  static std::string read(const std::string& path) {
    auto bytes = base::system_files().read(path, 1 << 24);
    EXPECT_TRUE(bytes) << path;
    return bytes ? std::string(bytes->begin(), bytes->end()) : "";
  }
  const base::testing::ScratchFolder scratch_;
  const std::string root_ = scratch_.path();
};

template <class T>
T at(std::string_view bytes, size_t offset) {
  T value{};
  EXPECT_LE(offset + sizeof value, bytes.size());
  if (offset + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

struct Loaded {
  uint64_t time = 0, address = 0, index = 0;
  std::string code;
  uint64_t frames_bytes = 0;
  std::vector<std::pair<uint64_t, std::string>> lines;  // address and "file:line"
};

std::map<std::string, Loaded> parse(std::string_view dump) {
  EXPECT_EQ(at<uint32_t>(dump, 0), 0x4a695444u);
  EXPECT_EQ(at<uint32_t>(dump, 4), 1u);
  EXPECT_EQ(at<uint32_t>(dump, 12), 62u);
  EXPECT_EQ(at<uint32_t>(dump, 20), static_cast<uint32_t>(::getpid()));
  std::map<std::string, Loaded> all;
  Loaded next;
  bool closed = false;
  for (size_t offset = at<uint32_t>(dump, 8); offset < dump.size();) {
    EXPECT_FALSE(closed) << "a record after the last";
    const uint32_t kind = at<uint32_t>(dump, offset), size = at<uint32_t>(dump, offset + 4);
    const std::string_view record = dump.substr(offset, size);
    offset += size;
    if (size < 16) {
      ADD_FAILURE() << "a record of " << size << " bytes";
      break;
    }
    if (kind == 3) closed = true;
    if (kind == 4) next.frames_bytes = at<uint64_t>(record, 16);
    if (kind == 2) {
      size_t entry = 32;
      for (uint64_t i = 0; i < at<uint64_t>(record, 24); ++i) {
        const std::string file = record.data() + entry + 16;
        next.lines.emplace_back(at<uint64_t>(record, entry),
                                file + ":" + std::to_string(at<uint32_t>(record, entry + 8)));
        entry += 16 + file.size() + 1;
      }
      EXPECT_LE(entry, record.size());
    }
    if (kind == 0) {
      next.time = at<uint64_t>(record, 8);
      next.address = at<uint64_t>(record, 32);
      EXPECT_EQ(at<uint64_t>(record, 24), next.address);
      next.index = at<uint64_t>(record, 48);
      const std::string name = record.data() + 56;
      next.code = record.substr(56 + name.size() + 1);
      EXPECT_EQ(next.code.size(), at<uint64_t>(record, 40));
      all.emplace(name, next);  // adapters of one type are there once for each engine
      next = {};
    }
  }
  EXPECT_TRUE(closed);
  return all;
}

TEST_F(CodeFilesTest, AJitdumpHoldsTheCodeThatThereIsAndThatComes) {
  const Module before = compile(testing::kArith);
  const uint64_t begun_ns = base::monotonic_ns();
  auto published = publish_code(CodeFile::JitDump, root_);
  ASSERT_TRUE(published) << published.error().to_string();
  EXPECT_EQ((*published)->path(), base::join_path(root_, jitdump_name()));
  const Module after = compile(testing::kState);
  ASSERT_TRUE((*published)->close());
  const uint64_t ended_ns = base::monotonic_ns();
  const auto all = parse(read((*published)->path()));
  for (const Module* module : {&before, &after}) {
    const runtime::CodeImage& image = module->code();
    const auto base_address = reinterpret_cast<uint64_t>(module->data()->code().base());
    for (const runtime::CompiledFunction& function : image.functions) {
      const std::string name = module->decoded().function_name(function.function);
      ASSERT_TRUE(all.contains(name)) << name;
      const Loaded& loaded = all.at(name);
      EXPECT_EQ(loaded.address, base_address + function.begin) << name;
      EXPECT_EQ(loaded.code, std::string(image.bytes.begin() + function.begin,
                                         image.bytes.begin() + function.begin + function.size));
      EXPECT_GE(loaded.time, begun_ns);
      EXPECT_LE(loaded.time, ended_ns);
      EXPECT_EQ(loaded.frames_bytes, frame_section(image, function.begin, function.size).bytes.size())
          << name << ": its frames must come before it";
    }
  }
}

TEST_F(CodeFilesTest, NothingIsWrittenAfterItWasClosed) {
  auto published = publish_code(CodeFile::JitDump, root_);
  ASSERT_TRUE(published);
  ASSERT_TRUE((*published)->close());
  const std::string told = read((*published)->path());
  const Module module = compile(testing::kArith);
  EXPECT_EQ(read((*published)->path()), told);
}

// The instructions of the frame description, carried out, against the rules that it was made from.
struct Rules {
  uint8_t cfa_register = 0;
  uint8_t cfa_offset = 0;
  std::map<uint8_t, uint8_t> saved;  // register -> words below the CFA
};

TEST_F(CodeFilesTest, FramesSayAtEveryByteHowTheyAreLeft) {
  const Module module = compile(testing::kArith);
  const runtime::CodeImage& image = module.code();
  for (const runtime::CompiledFunction& function : image.functions) {
    const FrameSection section = frame_section(image, function.begin, function.size);
    const std::string_view bytes(reinterpret_cast<const char*>(section.bytes.data()), section.bytes.size());
    ASSERT_EQ(bytes.size() % 8, 0u);
    const int64_t behind = (function.size + 7) / 8 * 8;
    // The index says where the frames are, and lists none.
    const size_t index = bytes.size() - section.index_bytes;
    EXPECT_EQ(index + 4 + at<int32_t>(bytes, index + 4), 0u);
    EXPECT_EQ(at<uint32_t>(bytes, index + 8), 0u);
    const size_t frame = 4 + at<uint32_t>(bytes, 0);
    EXPECT_EQ(frame + 4 - at<uint32_t>(bytes, frame + 4), 0u) << "its common entry is the first";
    EXPECT_EQ(static_cast<int64_t>(frame + 8) + at<int32_t>(bytes, frame + 8), -behind);
    EXPECT_EQ(at<uint32_t>(bytes, frame + 12), function.size);

    size_t p = frame + 17;
    const size_t end = frame + 4 + at<uint32_t>(bytes, frame);
    Rules rules;
    uint32_t now = 0;
    auto check_up_to = [&](uint32_t offset) {
      for (; now < offset; ++now) {
        const runtime::UnwindRule rule = runtime::unwind_rule_at(image, function.begin + now);
        const bool entry = rule == runtime::UnwindRule::Entry, pushed = rule == runtime::UnwindRule::Pushed;
        EXPECT_EQ(rules.cfa_register, entry || pushed ? 7 : 6);
        EXPECT_EQ(rules.cfa_offset, entry ? 8 : 16);
        EXPECT_EQ(rules.saved.size(), entry ? 0u : rule == runtime::UnwindRule::Adapter ? 6u : 1u);
        EXPECT_TRUE(entry || rules.saved[6] == 2);
      }
    };
    while (p < end) {
      const auto op = static_cast<uint8_t>(bytes[p++]);
      if (op == 0) continue;
      if (op == 4) {
        check_up_to(now + at<uint32_t>(bytes, p));
        p += 4;
      } else if (op == 0x0c) {
        rules.cfa_register = static_cast<uint8_t>(bytes[p++]);
        rules.cfa_offset = static_cast<uint8_t>(bytes[p++]);
      } else if (op >> 6 == 2) {
        rules.saved[op & 63] = static_cast<uint8_t>(bytes[p++]);
      } else {
        ASSERT_EQ(op >> 6, 3) << static_cast<int>(op);
        rules.saved.erase(op & 63);
      }
    }
    check_up_to(function.size);
    EXPECT_EQ(now, function.size);
  }
}

TEST_F(CodeFilesTest, AMapNamesEveryFunctionByItsPlace) {
  const std::string path = base::join_path(root_, "mine.map");
  auto published = publish_code(CodeFile::PerfMap, path);
  ASSERT_TRUE(published) << published.error().to_string();
  const Module module = compile(testing::kArith);
  ASSERT_TRUE((*published)->close());
  const std::string text = read(path);
  for (const runtime::CompiledFunction& function : module.code().functions) {
    char line[256];
    std::snprintf(line, sizeof line, "%llx %x %s\n",
                  static_cast<unsigned long long>(reinterpret_cast<uint64_t>(module.data()->code().base()) +
                                                  function.begin),
                  function.size, module.decoded().function_name(function.function).c_str());
    EXPECT_NE(text.find(line), std::string::npos) << line;
  }
}

TEST_F(CodeFilesTest, WhatIsThereIsNeverReplacedButThisProcessesOldMap) {
  const std::string path = base::join_path(root_, "mine.map");
  ASSERT_TRUE(base::system_files().create(path, base::as_bytes(std::string_view("precious"))));
  EXPECT_FALSE(publish_code(CodeFile::PerfMap, path));
  EXPECT_EQ(read(path), "precious");

  // /tmp is everybody's: a link there leads nowhere.
  std::filesystem::remove(perf_map_path());
  std::filesystem::create_symlink(path, perf_map_path());
  auto published = publish_code(CodeFile::PerfMap);
  ASSERT_TRUE(published) << published.error().to_string();
  EXPECT_EQ((*published)->path(), perf_map_path());
  EXPECT_TRUE((*published)->close());
  EXPECT_EQ(read(path), "precious");
  EXPECT_FALSE(std::filesystem::is_symlink(perf_map_path()));
  std::filesystem::remove(perf_map_path());
}

TEST_F(CodeFilesTest, AJitdumpHasTheNameByWhichPerfFindsIt) {
  auto refused = publish_code(CodeFile::JitDump, base::join_path(root_, "other.dump"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, base::ErrorKind::Usage);
  EXPECT_TRUE(publish_code(CodeFile::JitDump, base::join_path(root_, jitdump_name())));
  EXPECT_FALSE(publish_code(CodeFile::JitDump, root_)) << "the file is there";
}

TEST_F(CodeFilesTest, AJitdumpThatCannotBeBegunIsNotLeftBehind) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  const rlimit nothing = {0, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &nothing), 0);
  auto refused = publish_code(CodeFile::JitDump, root_);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ::signal(SIGXFSZ, handler);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("cannot write"), std::string::npos) << refused.error().to_string();
  EXPECT_FALSE(std::filesystem::exists(base::join_path(root_, jitdump_name())));
}

TEST(CodePublisher, TheSameCodeInTheSamePlaceIsToldOnce) {
  struct Listing final : CodeSink {
    base::Result<void> write(const PublishedCode& code) override {
      told.push_back(code.image->bytes[0]);
      return {};
    }
    base::Result<void> close() override { return {}; }
    std::vector<uint8_t> told;
  } sink;
  CodePublisher publisher;
  publisher.release(sink);
  uint64_t last = 0;
  for (uint8_t filling : {1, 1, 2, 2, 1}) {
    auto image = std::make_shared<runtime::CodeImage>();
    image->bytes.assign(5000, filling);
    auto module = std::make_shared<runtime::Module>();
    module->bytes = {7};
    auto code = runtime::MappedCode::map(image, module).value();
    const auto address = reinterpret_cast<uint64_t>(code->base());
    if (last != address && last != 0) GTEST_SKIP() << "the kernel did not give the address again";
    last = address;
    publisher.loaded(*code);
  }
  EXPECT_EQ(sink.told, (std::vector<uint8_t>{1, 2, 1}));
}

// A name from a module must not make a second line.
TEST(CodeSymbols, NamesStayInTheirLine) {
  auto module = std::make_shared<runtime::Module>();
  module->function_names = {"evil\n7f0000 1000 libc\x1b[2J"};
  module->function_types = {0};
  auto image = std::make_shared<runtime::CodeImage>();
  image->bytes.assign(64, 0x90);
  image->functions.push_back({.function = 0, .begin = 0, .size = 64});
  const auto symbols = symbols_of({{.image = image, .module = module}, 0x1000});
  ASSERT_EQ(symbols.size(), 1u);
  EXPECT_EQ(symbols[0].name.find('\n'), std::string::npos);
  EXPECT_EQ(symbols[0].name.find('\x1b'), std::string::npos);
  EXPECT_EQ(symbols[0].name.find("evil"), 0u);
}

}  // namespace
}  // namespace wago::harness
