// The specification's suite against the first half of the compiler, without machine code: every function of
// every valid module builds and keeps the IR's invariants, and the IR of modules that need nothing from
// outside computes what the suite expects, which is what makes evaluate.h trustworthy. Needs the suite:
// WAGO_SPEC_DIR, or where it lies beside the project.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "base/json.h"
#include "codegen/build/build.h"
#include "codegen/ir/parse.h"
#include "codegen/ir/print.h"
#include "codegen/ir/verify.h"
#include "codegen/passes/passes.h"
#include "codegen/testing/machine.h"

namespace wago::codegen {
namespace {

namespace fs = std::filesystem;
using testing::Machine;
using testing::Outcome;

class BuildSpec : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* named = std::getenv("WAGO_SPEC_DIR");
    folder_ = named != nullptr && *named != '\0' ? fs::path(named)
                                                 : fs::path(WAGO_SOURCE_DIR) / "../shared/spec/core-2.0";
    if (!fs::is_directory(folder_)) {
      GTEST_SKIP() << "the specification's suite is not there: WAGO_SPEC_DIR names its folder";
    }
  }

  static std::vector<uint8_t> read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  fs::path folder_;
  IrBuilder builder_;
  PassPipeline passes_;
  IrFunction function_;
};

TEST_F(BuildSpec, EveryFunctionVerifies) {
  uint32_t functions = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
    if (entry.path().extension() != ".wasm") continue;
    auto module = runtime::decode_module(read(entry.path()));
    if (!module) continue;  // the decoder's tests see to it that this is right
    for (const base::Bounds bounds : {base::Bounds::Signals, base::Bounds::Explicit}) {
      for (const int level : {0, 1}) {
        runtime::CompileSettings settings;
        settings.bounds = bounds;
        settings.level = level;
        for (uint32_t i = 0; i < (*module)->bodies.size(); ++i) {
          ASSERT_TRUE(builder_.build(**module, i, settings, function_).ok()) << entry.path();
          const std::string text = print(function_);
          ASSERT_EQ(verify(function_), "") << entry.path() << "\n" << text;
          auto parsed = parse(text);
          ASSERT_TRUE(parsed.ok()) << parsed.error().message << "\n" << text;
          ASSERT_EQ(print(parsed->ir), text) << entry.path();
          passes_.run(**module, settings, function_);
          ASSERT_EQ(verify(function_, {true}), "") << entry.path() << "\n" << print(function_);
          ++functions;
        }
      }
    }
  }
  EXPECT_GT(functions, 10000u);
}

// A value as the suite spells it: decimal bits, or which NaNs will do.
bool matches(const base::Json& expected, uint64_t got) {
  const std::string& type = expected.find("type")->as_string();
  const std::string& value = expected.find("value")->as_string();
  if (value.substr(0, 4) != "nan:") return std::strtoull(value.c_str(), nullptr, 10) == got;
  return type == "f32" ? std::isnan(std::bit_cast<float>(static_cast<uint32_t>(got)))
                       : std::isnan(std::bit_cast<double>(got));
}

bool needs_nothing(const runtime::Module& m) {
  return m.imports.empty() && m.tables.empty() && m.memories.empty() && m.globals.empty();
}

TEST_F(BuildSpec, ModulesOnTheirOwnComputeWhatIsExpected) {
  uint32_t compared = 0;
  for (const auto& entry : fs::directory_iterator(folder_)) {
    if (entry.path().extension() != ".json") continue;
    const std::vector<uint8_t> bytes = read(entry.path());
    auto suite = base::parse_json(std::string(bytes.begin(), bytes.end()), entry.path().string());
    ASSERT_TRUE(suite.ok()) << suite.error().to_string();
    std::shared_ptr<const runtime::Module> module;
    for (const base::Json& command : suite->find("commands")->items()) {
      const std::string& type = command.find("type")->as_string();
      if (type == "module") {
        auto decoded = runtime::decode_module(read(folder_ / command.find("filename")->as_string()));
        module = decoded && needs_nothing(**decoded) ? *decoded : nullptr;
        continue;
      }
      if (module == nullptr || (type != "assert_return" && type != "assert_trap")) continue;
      const base::Json& action = *command.find("action");
      if (action.find("type")->as_string() != "invoke" || action.find("module") != nullptr) continue;
      const runtime::Export* exported = module->find_export(action.find("field")->as_string());
      ASSERT_NE(exported, nullptr);
      std::vector<uint64_t> args;
      for (const base::Json& arg : action.find("args")->items()) {
        args.push_back(std::strtoull(arg.find("value")->as_string().c_str(), nullptr, 10));
      }
      for (const int level : {0, 1}) {
        runtime::CompileSettings settings;
        settings.level = level;
        ASSERT_TRUE(builder_.build(*module, exported->index, settings, function_).ok());
        passes_.run(*module, settings, function_);
        Machine machine(8);
        machine.module = module.get();
        const Outcome outcome = testing::interpret_ir(function_, args, machine);
        const std::string where = entry.path().filename().string() + ":" +
                                  std::to_string(command.find("line")->to_u64().value_or(0)) + ": " +
                                  to_string(outcome);
        if (type == "assert_trap") {
          EXPECT_EQ(outcome.kind, Outcome::Kind::Trapped) << where;
          EXPECT_EQ(base::sentence(outcome.trap).substr(0, 10),
                    command.find("text")->as_string().substr(0, 10))
              << where;
        } else {
          ASSERT_EQ(outcome.kind, Outcome::Kind::Returned) << where;
          const auto expected = command.find("expected")->items();
          ASSERT_EQ(outcome.values.size(), expected.size()) << where;
          for (size_t i = 0; i < expected.size(); ++i) {
            EXPECT_TRUE(matches(expected[i], outcome.values[i])) << where << "\n" << print(function_);
          }
        }
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 20000u);
}

}  // namespace
}  // namespace wago::codegen
