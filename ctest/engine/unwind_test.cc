// Unwind rows, instruction by instruction: guest code is single-stepped, and after every instruction its
// stack is walked to the host's frame and held against the calls and returns that were seen.
#include <ucontext.h>
#include <csignal>

#include <vector>

#include "engine_fixture.h"
#include "runtime/code_map.h"
#include "runtime/stack.h"
#include "runtime/unwind.h"

namespace wago::engine_test {
namespace {

using runtime::FrameRegisters;

constexpr uint64_t kTrapFlag = 0x100;

// What the handler found; it may do nothing but count.
struct Walks {
  uint64_t steps = 0;    // in guest code and adapters
  uint64_t wrong = 0;    // walks that did not end where the first one did
  uint64_t deepest = 0;  // frames
  uint64_t outside = 0;  // the host's frame pointer and stack pointer at the first step
  uint64_t outside_rsp = 0;
} walks;

const runtime::MappedCode* code_at(uint64_t pc) {
  return runtime::find_code(pc);
}

void step(int, siginfo_t*, void* context) {
  const auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  FrameRegisters at{static_cast<uint64_t>(registers[REG_RIP]), static_cast<uint64_t>(registers[REG_RSP]),
                    static_cast<uint64_t>(registers[REG_RBP])};
  const runtime::MappedCode* code = code_at(at.pc);
  if (!code) return;
  const runtime::ThreadState& thread = runtime::thread_state;
  uint64_t frames = 0;
  for (uint64_t pc = at.pc; code; code = code_at(pc = at.pc - 1)) {
    const auto offset = static_cast<uint32_t>(pc - reinterpret_cast<uint64_t>(code->base()));
    ++frames;
    if (!runtime::unwind(code->image(), offset, thread.stack_low, thread.stack_low + thread.stack_bytes,
                         at)) {
      ++walks.wrong;
      return;
    }
  }
  if (walks.steps++ == 0) {
    walks.outside = at.rbp;
    walks.outside_rsp = at.rsp;
  }
  if (at.rbp != walks.outside || at.rsp != walks.outside_rsp) ++walks.wrong;
  walks.deepest = std::max(walks.deepest, frames);
}

// Calls while the processor stops after every instruction.
CallResult call_stepping(const Function& function, std::span<const Slot> arguments, std::span<Slot> results) {
  struct sigaction action = {}, before = {};
  action.sa_sigaction = step;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGTRAP, &action, &before);
  walks = {};
  asm volatile("pushfq; orq %0, (%%rsp); popfq" ::"i"(kTrapFlag) : "memory", "cc");
  CallResult result = function.call(arguments, results);
  asm volatile("pushfq; andq %0, (%%rsp); popfq" ::"i"(~int64_t{kTrapFlag}) : "memory", "cc");
  sigaction(SIGTRAP, &before, nullptr);
  return result;
}

class Unwind : public EngineTest {};
INSTANTIATE_TEST_SUITE_P(Configurations, Unwind, ::testing::ValuesIn(configurations()), name_of);

TEST_P(Unwind, EveryInstructionOfARecursionLeadsToItsCaller) {
  ModuleBuilder module;
  const uint32_t type = module.type({ValueType::I32}, {ValueType::I32});
  const uint32_t fib = module.function(type, {},
                                       Code()
                                           .op(Opcode::LocalGet, 0)
                                           .i32(2)
                                           .op(Opcode::I32LtU)
                                           .open(Opcode::If)
                                           .op(Opcode::LocalGet, 0)
                                           .op(Opcode::Return)
                                           .end()
                                           .op(Opcode::LocalGet, 0)
                                           .i32(1)
                                           .op(Opcode::I32Sub)
                                           .op(Opcode::Call, 0)
                                           .op(Opcode::LocalGet, 0)
                                           .i32(2)
                                           .op(Opcode::I32Sub)
                                           .op(Opcode::Call, 0)
                                           .op(Opcode::I32Add)
                                           .end());
  module.export_("fib", ExternKind::Function, fib);
  Instance instance = linker_.instantiate(compile(module)).value();
  const Function function = instance.function("fib").value();
  const Slot argument = 6;
  Slot result = 0;
  ASSERT_TRUE(function.call({&argument, 1}, {&result, 1}));
  ASSERT_TRUE(call_stepping(function, {&argument, 1}, {&result, 1}));
  EXPECT_EQ(result, 8u);
  EXPECT_EQ(walks.wrong, 0u);
  EXPECT_GT(walks.steps, 25u * 8);  // 25 calls
  EXPECT_GE(walks.deepest, 6u);
}

TEST_P(Unwind, TheHostIsReachedAgainAfterEveryCallOfIt) {
  ModuleBuilder module;
  const uint32_t type = module.type({ValueType::I32}, {ValueType::I32});
  const uint32_t host = module.import_function("env", "host", type);
  const uint32_t calls = module.function(
      type, {}, Code().op(Opcode::LocalGet, 0).op(Opcode::Call, host).op(Opcode::Call, host).end());
  module.export_("calls", ExternKind::Function, calls);
  define_host("host", {{ValueType::I32}, {ValueType::I32}}, [](auto arguments, auto results) {
    results[0] = arguments[0] + 1;
    return std::nullopt;
  });
  Instance instance = linker_.instantiate(compile(module)).value();
  const Function function = instance.function("calls").value();
  const Slot argument = 5;
  Slot result = 0;
  ASSERT_TRUE(function.call({&argument, 1}, {&result, 1}));
  ASSERT_TRUE(call_stepping(function, {&argument, 1}, {&result, 1}));
  EXPECT_EQ(result, 7u);
  EXPECT_EQ(walks.wrong, 0u);
  EXPECT_GE(walks.deepest, 3u);  // host adapter, guest, entry adapter
}

}  // namespace
}  // namespace wago::engine_test
