// Code that counts: what it counts is what an interpreter executes, instruction of the module by instruction
// of the module, and what the processor executes of the code without counters, instruction by instruction.
// The first is held against the interpreter of the tests, the second against single steps.
#include <ucontext.h>
#include <csignal>

#include <cstdlib>
#include <map>

#include "codegen/testing/assemble.h"
#include "codegen/testing/machine.h"
#include "codegen/testing/random_wasm.h"
#include "engine_fixture.h"
#include "runtime/code_map.h"
#include "runtime/code_reader.h"
#include "runtime/engine_data.h"
#include "runtime/instance.h"

namespace wago::engine_test {
namespace {

using codegen::testing::Machine;
using codegen::testing::Outcome;
using codegen::testing::WasmCounts;
using runtime::CountedCode;

constexpr uint64_t kTrapFlag = 0x100;

// What was stepped over of one image; the handler may do nothing but count.
struct Steps {
  const runtime::MappedCode* code = nullptr;
  std::vector<uint64_t> executed;  // by offset
  uint64_t last = 0;               // the instruction before which the processor stopped last
} steps;

// The instruction that was about to run has completed, unless it trapped: then the next is an adapter's.
void step(int, siginfo_t*, void* context) {
  const auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const auto pc = static_cast<uint64_t>(registers[REG_RIP]);
  if (steps.code->contains(steps.last)) {
    const bool trapped = steps.code->trap_site(steps.last) && !steps.code->contains(pc);
    if (!trapped) ++steps.executed[steps.last - reinterpret_cast<uint64_t>(steps.code->base())];
  }
  steps.last = pc;
}

CallResult call_stepping(const runtime::MappedCode& code, const Function& function,
                         std::span<const Slot> arguments, std::span<Slot> results) {
  steps.code = &code;
  steps.executed.assign(code.image().bytes.size(), 0);
  steps.last = 0;
  struct sigaction action = {}, before = {};
  action.sa_sigaction = step;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGTRAP, &action, &before);
  asm volatile("pushfq; orq %0, (%%rsp); popfq" ::"i"(kTrapFlag) : "memory", "cc");
  CallResult result = function.call(arguments, results);
  asm volatile("pushfq; andq %0, (%%rsp); popfq" ::"i"(~int64_t{kTrapFlag}) : "memory", "cc");
  sigaction(SIGTRAP, &before, nullptr);
  return result;
}

class Counted : public EngineTest {
 protected:
  Counted() : counting_(Engine::open(with_counters(GetParam())).value()), counting_linker_(counting_) {}

  static EngineSettings with_counters(EngineSettings settings) {
    settings.counted = true;
    return settings;
  }

  void load(const std::string& text) {
    text_ = text;
    auto bytes = codegen::testing::assemble(text);
    ASSERT_TRUE(bytes.ok()) << bytes.error().to_string() << text;
    load(*bytes);
  }
  void load(const std::vector<uint8_t>& bytes) {
    auto module = engine_.compile(bytes);
    ASSERT_TRUE(module.ok()) << module.error().to_string() << text_;
    module_ = *std::move(module);
    auto counted = counting_.compile(bytes);
    ASSERT_TRUE(counted.ok()) << counted.error().to_string() << text_;
    counted_ = *std::move(counted);
    const CountedCode& tables = this->tables();
    EXPECT_EQ(tables.ordinary, module_->code()) << text_;
    for (size_t i = 1; i < tables.blocks.size(); ++i) {
      EXPECT_LE(tables.blocks[i - 1].begin, tables.blocks[i].begin);
    }
  }
  const CountedCode& tables() const { return *counted_->code().counted; }

  // Everything that was counted, by what it is of.
  struct Counts {
    WasmCounts wasm;
    std::vector<uint64_t> entered;  // by block
    std::vector<uint64_t> left;     // by exit
  };
  Counts counts_of(Instance& instance) const {
    Counts counts;
    const std::span<uint64_t> counters = instance.data()->counters();
    counts.entered.assign(counters.begin(), counters.end());
    for (const auto& count : counted_->data()->code().exit_counts()) counts.left.push_back(count);
    const CountedCode& tables = this->tables();
    std::vector<uint32_t> place(tables.blocks.size(), 0);  // of the block's next range
    for (const runtime::CountedRange& range : tables.ranges) {
      uint64_t times = counts.entered[range.block];
      const uint32_t number = place[range.block]++;
      for (size_t i = 0; i < tables.exits.size(); ++i) {
        if (tables.exits[i].block == range.block && tables.exits[i].ranges <= number) times -= counts.left[i];
      }
      add(range, times, counts.wasm);
    }
    return counts;
  }
  void add(const runtime::CountedRange& range, uint64_t times, WasmCounts& to) const {
    if (times == 0) return;
    const runtime::Module& module = module_->decoded();
    const uint32_t function = range.inline_site == ~0u
                                  ? tables().blocks[range.block].function
                                  : tables().ordinary.inline_sites[range.inline_site].callee;
    uint32_t instructions = 0;
    runtime::BodyReader reader =
        runtime::read_body(module, module.bodies[function - module.imported_functions]);
    for (runtime::Instruction instruction; !reader.at_end();) {
      reader.next(instruction);
      if (instruction.opcode == Opcode::Else || instruction.opcode == Opcode::End) continue;
      if (instruction.pc < range.wasm_begin || instruction.pc >= range.wasm_end) continue;
      ++instructions;
      to[{function, instruction.pc}] += times;
    }
    EXPECT_EQ(instructions, range.instructions);
  }
  void reset(Instance& instance) const {
    for (uint64_t& counter : instance.data()->counters()) counter = 0;
    for (auto& count : counted_->data()->code().exit_counts()) count = 0;
  }

  // The ordinary code's instructions, as counted, against as stepped.
  void expect_stepped(const Counts& counts) const {
    const CountedCode& tables = this->tables();
    std::vector<uint64_t> seen = steps.executed;
    for (uint32_t b = 0; b < tables.blocks.size(); ++b) {
      const runtime::CountedBlock& block = tables.blocks[b];
      uint64_t counted = counts.entered[b] * block.machine_instructions, stepped = 0;
      for (size_t i = 0; i < tables.exits.size(); ++i) {
        if (tables.exits[i].block != b) continue;
        counted -= counts.left[i] * (block.machine_instructions - tables.exits[i].machine_instructions);
      }
      for (uint32_t at = block.begin; at < block.begin + block.size; ++at) {
        if (steps.executed[at] == 0) continue;
        uint64_t times = counts.entered[b];
        for (size_t i = 0; i < tables.exits.size(); ++i) {
          if (tables.exits[i].block == b && tables.exits[i].offset <= at) times -= counts.left[i];
        }
        ASSERT_EQ(times, steps.executed[at]) << "offset " << at << " of block " << b << "\n" << text_;
        stepped += times;
        seen[at] = 0;
      }
      ASSERT_EQ(counted, stepped) << "block " << b << " at " << block.begin << " of " << block.size
                                  << " bytes, " << block.machine_instructions << " instructions\n"
                                  << text_;
    }
    for (size_t at = 0; at < seen.size(); ++at)
      EXPECT_EQ(seen[at], 0u) << "in no block: " << at << "\n" << text_;
  }

  // Function 0 of a module without imports.
  void compare(const std::string& text, std::span<const Slot> args, uint64_t fuel, bool stepping) {
    WasmCounts expected;
    Machine machine(65536);
    machine.module = &module_->decoded();
    machine.globals = {0, 0, 0, 0, 42};
    machine.fuel = fuel;
    machine.executed = &expected;
    const Outcome outcome = codegen::testing::interpret_wasm(module_->decoded(), 0, args, machine);
    if (outcome.kind == Outcome::Kind::OutOfFuel) return;
    Instance instance = counting_linker_.instantiate(*counted_).value();
    reset(instance);
    const Function function = instance.function("0").value();
    std::vector<Slot> results(function.type().results.size());
    const CallResult got = function.call(args, results);
    ASSERT_EQ(got.ok(), outcome.kind == Outcome::Kind::Returned) << text;
    if (got.ok()) {
      ASSERT_EQ(results, outcome.values) << text;
    } else {
      ASSERT_EQ(got.trap().code, outcome.trap) << text;
      ++traps_;
    }
    const Counts counts = counts_of(instance);
    ASSERT_EQ(codegen::testing::to_string(counts.wasm), codegen::testing::to_string(expected)) << text;
    ++compared_;
    if (!stepping) return;
    Instance plain = linker_.instantiate(*module_).value();
    std::vector<Slot> plain_results(results.size());
    const CallResult stepped =
        call_stepping(module_->data()->code(), plain.function("0").value(), args, plain_results);
    ASSERT_EQ(stepped.ok(), got.ok()) << text;
    expect_stepped(counts);
    ++stepped_;
  }

  Engine counting_;
  Linker counting_linker_;
  std::string text_;
  std::optional<Module> module_, counted_;
  uint64_t compared_ = 0, stepped_ = 0, traps_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Configurations, Counted, ::testing::ValuesIn(configurations()), name_of);

// WAGO_RANDOM_FUNCTIONS is how many, WAGO_RANDOM_SEED the first.
TEST_P(Counted, RandomFunctionsAsInterpretedAndAsStepped) {
  const char* count = std::getenv("WAGO_RANDOM_FUNCTIONS");
  const uint64_t seeds = count != nullptr ? std::strtoull(count, nullptr, 10) : 12;
  const char* first = std::getenv("WAGO_RANDOM_SEED");
  const uint64_t begin = first != nullptr ? std::strtoull(first, nullptr, 10) : 1;
  for (uint64_t seed = begin; seed < begin + seeds && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    codegen::testing::RandomOptions options;
    options.floats = false;
    options.indirect_calls = false;
    const std::string text = codegen::testing::random_wasm(seed, options);
    load(text);
    for (const auto& args : codegen::testing::kRandomArguments) {
      if (!HasFailure()) compare(text, args, 20'000, false);
      if (!HasFailure()) compare(text, args, 300, true);
    }
  }
  EXPECT_GT(compared_, 3 * seeds);
  EXPECT_GT(stepped_, seeds);
  EXPECT_GT(traps_, seeds / 2);
}

// By hand, with arithmetic for a reference: what the interpreter of the tests does not do.
class CountedByHand : public Counted {
 protected:
  void load(const ModuleBuilder& module) { Counted::load(module.build()); }
  // Of function, all of whose instructions run equally often or not at all: how often.
  static uint64_t total(const WasmCounts& counts, uint32_t function) {
    uint64_t sum = 0;
    for (const auto& [place, times] : counts) sum += place.first == function ? times : 0;
    return sum;
  }
  WasmCounts call_counting(Instance& instance, const char* name, std::vector<Slot> args, bool traps = false) {
    reset(instance);
    const Function function = instance.function(name).value();
    std::vector<Slot> results(slots_of(function.type().results));
    EXPECT_EQ(function.call(args, results).ok(), !traps);
    return counts_of(instance).wasm;
  }
};
INSTANTIATE_TEST_SUITE_P(Configurations, CountedByHand, ::testing::ValuesIn(configurations()), name_of);

TEST_P(CountedByHand, RecursionThroughATable) {
  ModuleBuilder module;
  const uint32_t type = module.type({I32}, {I32});
  const uint32_t down = module.function(type, {},
                                        Code()
                                            .op(Opcode::LocalGet, 0)
                                            .op(Opcode::I32Eqz)
                                            .open(Opcode::If)
                                            .i32(7)
                                            .op(Opcode::Return)
                                            .end()
                                            .op(Opcode::LocalGet, 0)
                                            .i32(1)
                                            .op(Opcode::I32Sub)
                                            .i32(0)
                                            .op(Opcode::CallIndirect, type, module.table(FuncRef, 1))
                                            .end());
  module.elements(Code().i32(0).end(), {down});
  module.export_("down", ExternKind::Function, down);
  load(module);
  Instance instance = counting_linker_.instantiate(*counted_).value();
  // Three instructions and five for each but the last call, which has three and two.
  EXPECT_EQ(total(call_counting(instance, "down", {100}), down), 100u * 8 + 5);
}

TEST_P(CountedByHand, FramesThatATrapEndsAreTakenBackWhereTheyStand) {
  ModuleBuilder module;
  const uint32_t type = module.type({I32}, {I32});
  // down(n) = 1 + (n == 0 ? 1 / 0 : down(n - 1)), the rest of which never runs.
  const uint32_t down = module.function(type, {},
                                        Code()
                                            .i32(1)
                                            .op(Opcode::LocalGet, 0)
                                            .open(Opcode::If, I32)
                                            .op(Opcode::LocalGet, 0)
                                            .i32(1)
                                            .op(Opcode::I32Sub)
                                            .op(Opcode::Call, 0)
                                            .op(Opcode::Else)
                                            .i32(1)
                                            .op(Opcode::LocalGet, 0)
                                            .op(Opcode::I32DivU)
                                            .end()
                                            .op(Opcode::I32Add)
                                            .end());
  module.export_("down", ExternKind::Function, down);
  load(module);
  Instance instance = counting_linker_.instantiate(*counted_).value();
  EXPECT_EQ(total(call_counting(instance, "down", {9}, true), down), 9u * 7 + 6);
  // More frames than a trap names.
  EXPECT_EQ(total(call_counting(instance, "down", {6000}, true), down), 6000u * 7 + 6);
}

TEST_P(CountedByHand, HostFunctionsThatCallBackAndTrapInside) {
  ModuleBuilder module;
  const uint32_t type = module.type({I32}, {I32});
  const uint32_t host = module.import_function("env", "again", type);
  // outer calls the host with its argument and adds 1; the host calls inner, which traps on 0 and is caught.
  const uint32_t outer = module.function(
      type, {}, Code().op(Opcode::LocalGet, 0).op(Opcode::Call, host).i32(1).op(Opcode::I32Add).end());
  const uint32_t inner = module.function(
      type, {}, Code().i32(8).op(Opcode::LocalGet, 0).op(Opcode::I32DivU).op(Opcode::Nop).end());
  module.export_("outer", ExternKind::Function, outer);
  module.export_("inner", ExternKind::Function, inner);
  std::optional<Function> again;
  bool passes_on = false;
  Function::HostBody body = [&](std::span<const Slot> args, std::span<Slot> results) -> std::optional<Trap> {
    CallResult result = again->call(args, results);
    if (result.ok()) return std::nullopt;
    results[0] = 0;
    if (passes_on) return result.trap();
    return std::nullopt;
  };
  ASSERT_TRUE(counting_linker_.define_host("env", "again", {{I32}, {I32}}, body).ok());
  load(module);
  Instance instance = counting_linker_.instantiate(*counted_).value();
  again = instance.function("inner").value();
  WasmCounts counts = call_counting(instance, "outer", {2});
  EXPECT_EQ(total(counts, outer), 4u);
  EXPECT_EQ(total(counts, inner), 4u);
  counts = call_counting(instance, "outer", {0});  // the trap ends inner alone
  EXPECT_EQ(total(counts, outer), 4u);
  EXPECT_EQ(total(counts, inner), 3u);
  passes_on = true;
  counts = call_counting(instance, "outer", {0}, true);  // and here both, each once
  EXPECT_EQ(total(counts, outer), 2u);
  EXPECT_EQ(total(counts, inner), 3u);
}

TEST_P(CountedByHand, StartFunctionsCountInTheirInstance) {
  ModuleBuilder module;
  const uint32_t type = module.type({}, {});
  const uint32_t start = module.function(type, {}, Code().op(Opcode::Nop).op(Opcode::Nop).end());
  module.start(start);
  load(module);
  Instance first = counting_linker_.instantiate(*counted_).value();
  Instance second = counting_linker_.instantiate(*counted_).value();
  EXPECT_EQ(total(counts_of(first).wasm, start), 2u);
  EXPECT_EQ(total(counts_of(second).wasm, start), 2u);
}

// A branch that leads to one place on both ways needs no code; which way it goes is counted all the same.
TEST_P(CountedByHand, ArmsThatNeedNoCode) {
  ModuleBuilder module;
  const uint32_t type = module.type({I32}, {});
  const uint32_t arms = module.function(type, {},
                                        Code()
                                            .op(Opcode::LocalGet, 0)
                                            .open(Opcode::If)
                                            .op(Opcode::Nop)
                                            .op(Opcode::Nop)
                                            .op(Opcode::Nop)
                                            .op(Opcode::Else)
                                            .op(Opcode::Nop)
                                            .end()
                                            .end());
  module.export_("arms", ExternKind::Function, arms);
  const uint32_t table = module.function(type, {},
                                         Code()
                                             .open(Opcode::Block)
                                             .open(Opcode::Block)
                                             .open(Opcode::Block)
                                             .op(Opcode::LocalGet, 0)
                                             .br_table({0, 1, 0}, 2)
                                             .end()
                                             .op(Opcode::Nop)
                                             .end()
                                             .op(Opcode::Nop)
                                             .end()
                                             .end());
  module.export_("table", ExternKind::Function, table);
  load(module);
  Instance instance = counting_linker_.instantiate(*counted_).value();
  EXPECT_EQ(total(call_counting(instance, "arms", {5}), arms), 5u);
  EXPECT_EQ(total(call_counting(instance, "arms", {0}), arms), 3u);
  for (const auto& [index, executed] :
       std::vector<std::pair<Slot, uint64_t>>{{0, 7}, {1, 6}, {2, 7}, {3, 5}, {0xffffffff, 5}}) {
    EXPECT_EQ(total(call_counting(instance, "table", {index}), table), executed) << index;
  }
}

// Every entry of the table passes all blocks behind its own: what that is of ranges must not be all of them.
TEST_P(CountedByHand, RowsOfEmptyBlocksStayLinear) {
  constexpr uint32_t kBlocks = 400;
  Code code;
  for (uint32_t i = 0; i < kBlocks; ++i) code.open(Opcode::Block);
  Bytes table;
  for (uint32_t i = 0; i < kBlocks; ++i) table.u32(i);
  code.op(Opcode::LocalGet, 0).op(Opcode::BrTable, kBlocks - 1).raw(table).end();
  for (uint32_t i = 1; i < kBlocks; ++i) code.op(Opcode::Nop).op(Opcode::Br, 0).end();
  ModuleBuilder module;
  const uint32_t row = module.function(module.type({I32}, {}), {}, code.end());
  module.export_("row", ExternKind::Function, row);
  load(module);
  EXPECT_LT(tables().ranges.size(), 4 * kBlocks);
  Instance instance = counting_linker_.instantiate(*counted_).value();
  for (const uint32_t index : {0u, 1u, 200u, kBlocks - 1, kBlocks + 7}) {
    const uint64_t passed = kBlocks - 1 - std::min(index, kBlocks - 1);
    EXPECT_EQ(total(call_counting(instance, "row", {index}), row), kBlocks + 2 + 2 * passed) << index;
  }
}

TEST_P(CountedByHand, ArtifactsOfCodeThatCountsAreRefused) {
  ModuleBuilder module;
  module.export_("f", ExternKind::Function, module.function(module.type({}, {}), {}, Code().end()));
  load(module);
  auto loaded = Module::deserialize(counting_, counted_->serialize());
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().message,
            "code that counts its blocks is not loaded from artifacts: compile the module again");
  auto ordinary = Module::deserialize(engine_, counted_->serialize());
  ASSERT_FALSE(ordinary.ok());
  EXPECT_NE(ordinary.error().message.find("counted yes"), std::string::npos) << ordinary.error().message;
}

}  // namespace
}  // namespace wago::engine_test
