// What the ranges of a function's blocks say was executed is what a plain interpreter executes, instruction
// by instruction, before and after the passes, also where a trap or a call that does not return ends the
// function.
#include "codegen/ir/executed.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "codegen/build/build.h"
#include "codegen/ir/match_blocks.h"
#include "codegen/ir/print.h"
#include "codegen/ir/verify.h"
#include "codegen/passes/passes.h"
#include "codegen/testing/assemble.h"
#include "codegen/testing/machine.h"
#include "codegen/testing/random_wasm.h"
#include "runtime/code_reader.h"

namespace wago::codegen {
namespace {

using testing::IrCounts;
using testing::Machine;
using testing::Outcome;
using testing::WasmCounts;

class Executed : public ::testing::Test {
 protected:
  void load(const std::string& text) {
    auto bytes = testing::assemble(text);
    ASSERT_TRUE(bytes.ok()) << bytes.error().message << "\n" << text;
    auto module = runtime::decode_module(std::move(*bytes));
    ASSERT_TRUE(module.ok()) << module.error().message << "\n" << text;
    module_ = *module;
  }

  Machine machine(uint64_t fuel, WasmCounts& executed) const {
    Machine m(65536);
    m.module = module_.get();
    for (uint32_t i = 0; i < 64; ++i) m.memory[i] = static_cast<uint8_t>(i * 37);
    m.globals = {3, 4, 0x40000000, 0x4000000000000000, 42, 0, 0, 0};
    m.fuel = fuel;
    m.executed = &executed;
    return m;
  }

  void add(const ExecutedRange& range, uint64_t times, WasmCounts& to) const {
    const uint32_t function =
        range.inline_site == ~0u ? function_.function : function_.inline_sites[range.inline_site].callee;
    uint32_t instructions = 0;
    runtime::BodyReader reader =
        runtime::read_body(*module_, module_->bodies[function - module_->imported_functions]);
    for (runtime::Instruction instruction; !reader.at_end();) {
      reader.next(instruction);
      if (instruction.opcode == runtime::Opcode::Else || instruction.opcode == runtime::Opcode::End) continue;
      if (instruction.pc < range.begin || instruction.pc >= range.end) continue;
      ++instructions;
      if (times != 0) to[{function, instruction.pc}] += times;
    }
    EXPECT_EQ(instructions, range.instructions);
  }

  // Of blocks and ways, less what a function that ended early left undone.
  void add(const IrCounts& counts, WasmCounts& to) const {
    for (uint32_t b = 0; b < function_.block_count; ++b) {
      const Block& block = function_.block(BlockId(b));
      uint64_t times = counts.blocks[b];
      bool leaves_here = false, done = false;
      uint32_t site = ~0u, pc = 0;
      if (counts.left_at.valid() && function_.inst(counts.left_at).block == BlockId(b)) {
        leaves_here = true;
        site = function_.inst(counts.left_at).inline_site;
        pc = function_.inst(counts.left_at).wasm_pc;
      }
      function_.executed.for_each(block.executed, [&](const ExecutedRange& range) {
        add(range, times - (done ? 1 : 0), to);
        if (!leaves_here || range.inline_site != site || pc < range.begin || pc >= range.end) return;
        done = true;
      });
      EXPECT_EQ(leaves_here, done);
    }
    for (size_t way = 0; way < function_.ways.size(); ++way) {
      function_.executed.for_each(function_.ways[way],
                                  [&](const ExecutedRange& range) { add(range, counts.ways[way], to); });
    }
  }

  void compare(const std::string& text, bool interruptible = false) {
    load(text);
    if (HasFatalFailure()) return;
    for (const base::Bounds bounds : {base::Bounds::Signals, base::Bounds::Explicit}) {
      for (int level = -1; level <= 1; ++level) {
        runtime::CompileSettings settings;
        settings.bounds = bounds;
        settings.level = level;
        settings.interruptible = interruptible;
        settings.counted = true;
        ASSERT_TRUE(builder_.build(*module_, 0, settings, function_).ok());
        const std::string before = print(function_);
        if (level >= 0) passes_.run(*module_, settings, function_);
        ASSERT_EQ(verify(function_, {level >= 0}), "") << text << print(function_);
        if (level >= 0) match_ordinary(settings, text);
        for (const auto& args : testing::kRandomArguments) {
          WasmCounts expected, got;
          Machine wasm = machine(20'000, expected);
          const Outcome outcome = testing::interpret_wasm(*module_, 0, args, wasm);
          if (outcome.kind == Outcome::Kind::OutOfFuel) continue;
          Machine ir = machine(1'000'000, got);
          IrCounts counts;
          ASSERT_EQ(testing::interpret_ir(function_, args, ir, &counts), outcome);
          add(counts, got);
          ++compared_;
          traps_ += outcome.kind == Outcome::Kind::Trapped;
          ASSERT_EQ(testing::to_string(got), testing::to_string(expected))
              << "level " << level << " args " << args[0] << " " << args[1] << "\n"
              << text << "\n"
              << before << "\n"
              << print(function_);
        }
        ways_ += function_.ways.size();
      }
      if (HasFailure()) return;
    }
  }

  void match_ordinary(runtime::CompileSettings settings, const std::string& text) {
    settings.counted = false;
    ASSERT_TRUE(builder_.build(*module_, 0, settings, ordinary_).ok());
    passes_.run(*module_, settings, ordinary_);
    const auto match = match_blocks(ordinary_, function_);
    EXPECT_TRUE(match) << text << print(ordinary_) << print(function_);
  }

  uint64_t compared_ = 0, ways_ = 0, traps_ = 0;
  std::shared_ptr<const runtime::Module> module_;
  IrBuilder builder_;
  PassPipeline passes_;
  IrFunction function_, ordinary_;
};

TEST_F(Executed, RandomFunctions) {
  const char* count = std::getenv("WAGO_RANDOM_FUNCTIONS");
  const uint64_t seeds = count != nullptr ? std::strtoull(count, nullptr, 10) : 60;
  const char* first = std::getenv("WAGO_RANDOM_SEED");
  const uint64_t begin = first != nullptr ? std::strtoull(first, nullptr, 10) : 1;
  for (uint64_t seed = begin; seed < begin + seeds && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    compare(testing::random_wasm(seed), seed % 4 == 0);
  }
  EXPECT_GT(compared_, seeds * 10);
  EXPECT_GT(ways_, 0u);
  EXPECT_GT(traps_, seeds);
}

}  // namespace
}  // namespace wago::codegen
