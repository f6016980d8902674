// Memory that runs out at every single allocation of a call, one after the other: an error, after which all
// works as before. In a program of its own, whose operator new fails when it is told to.
#include <cstdlib>
#include <new>

#include "engine_fixture.h"
#include "runtime/type_registry.h"

// LLVM is compiled without exceptions: what it holds when one goes through it is lost.
extern "C" int __lsan_is_turned_off() {
  return 1;
}

namespace {

// Allocations until one fails; negative: none does.
long until_failure = -1;

}  // namespace

// Not inlined, or the compiler would take them for a pair that does not match.
__attribute__((noinline)) void* operator new(size_t bytes) {
  if (until_failure >= 0 && until_failure-- == 0) throw std::bad_alloc();
  if (void* memory = std::malloc(bytes ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
__attribute__((noinline)) void operator delete(void* memory) noexcept {
  std::free(memory);
}
__attribute__((noinline)) void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}

namespace wago::engine_test {
namespace {

// `attempt` with its first allocation failing, its second, and so on until none is left to fail; how many
// failed. What it gives is a Result.
template <class Attempt>
int fail_each_allocation(const std::string& refusal, Attempt attempt) {
  for (int failures = 0;; ++failures) {
    until_failure = failures;
    const auto result = attempt();
    const bool all_succeeded = until_failure >= 0;
    until_failure = -1;
    if (all_succeeded) {
      EXPECT_TRUE(result.ok());
      return failures;
    }
    if (result.ok()) continue;  // it does without what it did not get
    EXPECT_EQ(result.error().kind, base::ErrorKind::Unmeasurable);
    EXPECT_NE(result.error().message.find(refusal), std::string::npos) << result.error().message;
    if (failures == 1000) return 0;
  }
}

FuncType numbered(uint32_t number) {
  FuncType type;
  for (uint32_t bit = 0; bit < 12; ++bit) type.params.push_back(number >> bit & 1 ? I64 : I32);
  return type;
}

Function::HostBody nothing() {
  return [](std::span<const Slot>, std::span<Slot>) { return std::optional<Trap>(); };
}

TEST(Exhaustion, HostFunctionsAreMadeOrRefused) {
  const Engine engine = Engine::open().value();
  const size_t types_before = runtime::canonical_types();
  uint32_t number = 0;
  const int failures = fail_each_allocation("no memory to make a host function", [&] {
    const long left = std::exchange(until_failure, -1);
    FuncType type = numbered(number++);
    until_failure = left;
    return Function::host(engine, std::move(type), nothing());
  });
  EXPECT_GT(failures, 20);
  EXPECT_LE(runtime::canonical_types(), types_before + 64);
  const Function function = Function::host(engine, numbered(number), nothing()).value();
  EXPECT_TRUE(function.call(std::vector<Slot>(12), {}).ok());
}

TEST(Exhaustion, FunctionsThatNobodyExportsAreHeldOrRefused) {
  const Engine engine = Engine::open().value();
  ModuleBuilder module;
  module.export_("table", ExternKind::Table, module.table(FuncRef, 1));
  module.elements(Code().i32(0).end(),
                  {module.function(module.type({F32}, {I32}), {}, Code().i32(11).end())});
  const Instance instance = Linker(engine).instantiate(engine.compile(module.build()).value()).value();
  const Table table = instance.table("table").value();
  const Slot reference = table.get(0).value();
  const int failures = fail_each_allocation("no memory to call the function", [&] {
    auto held = Function::from_reference(reference);
    // Whoever had adapters of nobody's would find those of others in their place.
    if (!held) {
      const long left = std::exchange(until_failure, -1);
      for (uint32_t i = 0; i < 100; ++i) EXPECT_TRUE(Function::host(engine, numbered(i), nothing()).ok());
      until_failure = left;
    }
    return held;
  });
  EXPECT_GT(failures, 10);
  Slot argument = 0, result = 0;
  EXPECT_TRUE(table.function(0).value()->call({&argument, 1}, {&result, 1}).ok());
  EXPECT_EQ(result, 11u);
}

TEST(Exhaustion, MemoriesTablesAndGlobalsAreMadeOrRefused) {
  const Engine engine = Engine::open().value();
  EXPECT_GT(fail_each_allocation("no memory to make a memory",
                                 [&] {
                                   return Memory::create(engine, {{1, 2}});
                                 }),
            0);
  EXPECT_GT(fail_each_allocation("no memory to make a table",
                                 [&] {
                                   return Table::create(engine, {FuncRef, {4, {}}});
                                 }),
            0);
  const Slot value = 7;
  EXPECT_GT(fail_each_allocation("no memory to make a global",
                                 [&] {
                                   return Global::create(engine, {I64, true}, {&value, 1});
                                 }),
            0);
}

}  // namespace
}  // namespace wago::engine_test
