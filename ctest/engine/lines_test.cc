// Traps with lines: DWARF 4 and 5 as clang writes it, and what is left when it is damaged.
#include <fstream>
#include <iterator>

#include "engine_fixture.h"
#include "runtime/module.h"
#include "runtime/source_lines.h"

namespace wago::engine_test {
namespace {

std::vector<uint8_t> module_bytes(int dwarf_version) {
  const std::string path =
      std::string(WAGO_SOURCE_DIR) + "/ctest/engine/debug/lines" + std::to_string(dwarf_version) + ".wasm";
  std::ifstream in(path, std::ios::binary);
  std::vector<uint8_t> bytes((std::istreambuf_iterator<char>(in)), {});
  WAGO_CHECK_MSG(!bytes.empty(), path.c_str());
  return bytes;
}

class Lines : public EngineTest {
 protected:
  Instance instantiate_bytes(std::vector<uint8_t> bytes) {
    return linker_.instantiate(engine_.compile(std::move(bytes)).value()).value();
  }
  // With wasm pcs and our own inlining, which the levels differ in, replaced.
  static std::string lines_of(const Trap& trap) {
    std::string text = trap.to_string();
    for (size_t at; (at = text.find(", inlined)")) != std::string::npos;) text.erase(at, 9);
    return text;
  }
};
INSTANTIATE_TEST_SUITE_P(Configurations, Lines, ::testing::ValuesIn(configurations()), name_of);

TEST_P(Lines, TrapShowsSourceWithWhatTheCompilerInlined) {
  for (int version : {4, 5}) {
    Instance instance = instantiate_bytes(module_bytes(version));
    EXPECT_EQ(call(instance, "report", {10, 3})[0], ((10 / 3 + 1) * 3) ^ 5u);
    EXPECT_EQ(lines_of(trap_of(instance, "report", {10, 0})),
              "wago: trap: integer divide by zero\n"
              "  at stats::divide(int, int) (inlined in func[0]) lines.cc:5:14\n"
              "  at stats::average(int, int) (inlined in func[0]) lines.cc:9:14\n"
              "  at stats::summarize(int, int) (func[0], wasm pc 0x5) lines.cc:14:10\n"
              "  at report (func[1], wasm pc 0x5) lines.cc:22:10\n")
        << "DWARF " << version;
  }
}

TEST_P(Lines, FramesSayWhatTheyKnowToPrograms) {
  Instance instance = instantiate_bytes(module_bytes(5));
  const Trap trap = trap_of(instance, "report", {1, 0});
  ASSERT_EQ(trap.frames.size(), 2u);
  const std::vector<SourceFrame> source = trap.frames[0].source();
  ASSERT_EQ(source.size(), 3u);
  EXPECT_EQ(source[0], (SourceFrame{"_ZN5statsL6divideEii", "lines.cc", "/src", 5, 14}));
  EXPECT_EQ(source[2], (SourceFrame{"_ZN5stats9summarizeEii", "lines.cc", "/src", 14, 10}));
}

TEST_P(Lines, RecursionIsShownOnce) {
  Instance instance = instantiate_bytes(module_bytes(4));
  const Trap trap = trap_of(instance, "descend", {30});
  EXPECT_EQ(trap.frames.size(), 31u);
  const std::string text = trap.to_string();
  EXPECT_NE(text.find("lines.cc:26:19\n"), std::string::npos) << text;
  EXPECT_NE(text.find("lines.cc:27:10\n  (the frame above is repeated 29 times more)\n"), std::string::npos)
      << text;
}

TEST_P(Lines, OutliveTheirInstance) {
  Trap trap;
  {
    Engine engine = Engine::open(GetParam()).value();
    Instance instance = Linker(engine).instantiate(engine.compile(module_bytes(4)).value()).value();
    trap = trap_of(instance, "report", {1, 0});
  }
  EXPECT_EQ(trap.frames[1].source().at(0).line, 22u);
}

// Whatever stands in the debug sections, the module runs and traps as before, and nothing is printed.
TEST_P(Lines, DamagedDebugInformationCostsLinesOnly) {
  for (int version : {4, 5}) {
    const std::vector<uint8_t> whole = module_bytes(version);
    auto decoded = runtime::decode_module(whole).value();
    ::testing::internal::CaptureStderr();
    ::testing::internal::CaptureStdout();
    for (const runtime::CustomSection& section : decoded->customs) {
      if (!section.name.starts_with(".debug_")) continue;
      for (uint8_t byte : {0x00, 0x7f, 0xff}) {
        std::vector<uint8_t> damaged = whole;
        std::fill_n(damaged.begin() + section.begin, section.size, byte);
        Instance instance = instantiate_bytes(damaged);
        const Trap trap = trap_of(instance, "report", {10, 0});
        EXPECT_EQ(trap.code, TrapCode::IntegerDivideByZero);
        ASSERT_EQ(trap.frames.size(), 2u);
        EXPECT_NE(trap.to_string().find("at report (func[1]"), std::string::npos);
      }
    }
    EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  }
}

TEST_P(Lines, ModuleWithoutThemHasNone) {
  ModuleBuilder module;
  const uint32_t type = module.type({}, {});
  module.export_("f", ExternKind::Function, module.function(type, {}, Code().op(Opcode::Unreachable).end()));
  const Trap trap = trap_of(instantiate(module), "f", {});
  EXPECT_TRUE(trap.frames.at(0).source().empty());
  EXPECT_EQ(trap.frames.at(0).debug_info, nullptr);
}

}  // namespace
}  // namespace wago::engine_test
