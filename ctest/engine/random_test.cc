// Random functions on random arguments: machine code must return what an interpreter of the specification
// does, or trap as it does, and leave the same memory and globals. Without floats, whose NaNs the
// specification leaves open.
#include <cstdlib>
#include <cstring>

#include "codegen/testing/assemble.h"
#include "codegen/testing/machine.h"
#include "codegen/testing/random_wasm.h"
#include "engine_fixture.h"

namespace wago::engine_test {
namespace {

using codegen::testing::Machine;
using codegen::testing::Outcome;

class Random : public EngineTest {
 protected:
  void compare(uint64_t seed) {
    codegen::testing::RandomOptions options;
    options.floats = false;
    options.indirect_calls = false;
    const std::string text = codegen::testing::random_wasm(seed, options);
    auto bytes = codegen::testing::assemble(text);
    ASSERT_TRUE(bytes.ok()) << bytes.error().to_string() << text;
    auto module = engine_.compile(*bytes);
    ASSERT_TRUE(module.ok()) << module.error().to_string() << text;
    for (const auto& args : codegen::testing::kRandomArguments) {
      Machine machine(65536);
      machine.module = &module->decoded();
      machine.globals = {0, 0, 0, 0, 42};
      machine.fuel = 20'000;
      const Outcome expected = codegen::testing::interpret_wasm(module->decoded(), 0, args, machine);
      if (expected.kind == Outcome::Kind::OutOfFuel) continue;
      Instance instance = linker_.instantiate(*module).value();
      Function function = instance.function("0").value();
      std::vector<Slot> results(function.type().results.size());
      const CallResult got = function.call(args, results);
      ++compared_;
      if (got.ok()) {
        ASSERT_EQ(expected.kind, Outcome::Kind::Returned) << "seed " << seed << "\n" << text;
        ASSERT_EQ(results, expected.values) << "seed " << seed << "\n" << text;
      } else {
        ASSERT_EQ(expected.kind, Outcome::Kind::Trapped)
            << "seed " << seed << " " << got.trap().message << "\n"
            << text;
        ASSERT_EQ(got.trap().code, expected.trap) << "seed " << seed << "\n" << text;
      }
      ASSERT_EQ(std::memcmp(instance.memory("memory").value().bytes().data(), machine.memory.data(), 65536),
                0)
          << "seed " << seed << "\n"
          << text;
      for (uint32_t i = 0; i < 2; ++i) {
        Slot value = 0;
        instance.global("global" + std::to_string(i)).value().get({&value, 1});
        ASSERT_EQ(value, machine.globals[i]) << "seed " << seed << "\n" << text;
      }
    }
  }

  uint64_t compared_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Configurations, Random, ::testing::ValuesIn(configurations()), name_of);

// WAGO_RANDOM_FUNCTIONS is how many, WAGO_RANDOM_SEED the first.
TEST_P(Random, FunctionsDoWhatTheirBytesSay) {
  const char* count = std::getenv("WAGO_RANDOM_FUNCTIONS");
  const uint64_t seeds = count != nullptr ? std::strtoull(count, nullptr, 10) : 300;
  const char* first = std::getenv("WAGO_RANDOM_SEED");
  const uint64_t begin = first != nullptr ? std::strtoull(first, nullptr, 10) : 1;
  for (uint64_t seed = begin; seed < begin + seeds && !HasFatalFailure(); ++seed) compare(seed);
  EXPECT_GT(compared_, seeds);
}

}  // namespace
}  // namespace wago::engine_test
