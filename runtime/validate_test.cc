// The official suite covers the rules; here are the facts in the messages, what validation computes, and that
// it is linear and independent of the number of workers.
#include "runtime/validate.h"

#include <gtest/gtest.h>

#include <string>

#include "runtime/decode_limits.h"
#include "runtime/testing/module_builder.h"

namespace wago::runtime {
namespace {

using testing::Bytes;
using testing::Code;
using testing::ModuleBuilder;
using enum ValueType;

// A module to write bodies in: memory 0, tables of funcref and externref, a mutable i64 and a constant i32
// global, func[0] of (i32, f64) -> (i64).
ModuleBuilder surroundings() {
  ModuleBuilder builder;
  const uint32_t imported = builder.type({I32, F64}, {I64});
  builder.import_function("m", "f", imported);
  builder.table(FuncRef, 1);
  builder.table(ExternRef, 1);
  builder.memory(1);
  builder.global(I64, true, Code().i64(0).end());
  builder.global(I32, false, Code().i32(0).end());
  return builder;
}

std::string message(const ModuleBuilder& builder) {
  auto module = decode_module(builder.build());
  return module.ok() ? "valid" : module.error().message;
}

// What validation says to a body of type (i32) -> `results`, with a local of each other type.
std::string check(const Code& code, const std::vector<ValueType>& results = {}) {
  ModuleBuilder builder = surroundings();
  const uint32_t type = builder.type({I32}, results);
  builder.function(type, {{1, I64}, {1, F32}, {1, F64}, {1, FuncRef}, {1, ExternRef}}, code);
  return message(builder);
}

TEST(Validate, LanesAreThere) {
  auto lane = [](Opcode opcode, int index) {
    const bool replaces = runtime::info(opcode).params == 2;
    Code code;
    code.op(Opcode::V128Const).raw(Bytes().fixed(uint64_t{0}).fixed(uint64_t{0}));
    if (replaces) code.f64(1);
    return check(code.op(opcode).raw(Bytes{index}).op(Opcode::Drop).end());
  };
  EXPECT_EQ(lane(Opcode::I8x16ExtractLaneS, 15), "valid");
  EXPECT_EQ(lane(Opcode::I8x16ExtractLaneS, 16),
            "invalid lane index 16: i8x16.extract_lane_s chooses from 16 lanes, in func[1]");
  EXPECT_EQ(lane(Opcode::F64x2ReplaceLane, 1), "valid");
  EXPECT_EQ(lane(Opcode::F64x2ReplaceLane, 2),
            "invalid lane index 2: f64x2.replace_lane chooses from 2 lanes, in func[1]");
  auto access = [](int alignment, int index) {
    Code code;
    code.i32(0).op(Opcode::V128Const).raw(Bytes().fixed(uint64_t{0}).fixed(uint64_t{0}));
    return check(code.op(Opcode::V128Load16Lane, alignment, 0).raw(Bytes{index}).op(Opcode::Drop).end());
  };
  EXPECT_EQ(access(1, 7), "valid");
  EXPECT_EQ(access(1, 8), "invalid lane index 8: v128.load16_lane chooses from 8 lanes, in func[1]");
  EXPECT_EQ(
      access(2, 7),
      "alignment must not be larger than natural: v128.load16_lane is aligned to 2^1 at most, not 2^2, in "
      "func[1]");
  auto shuffle = [](uint8_t last) {
    Code code;
    for (int i = 0; i < 2; ++i) code.op(Opcode::V128Const).raw(Bytes().fixed(uint64_t{0}).fixed(uint64_t{0}));
    Bytes indices;
    for (int i = 0; i < 15; ++i) indices.byte(31);
    return check(code.op(Opcode::I8x16Shuffle).raw(indices.byte(last)).op(Opcode::Drop).end());
  };
  EXPECT_EQ(shuffle(31), "valid");
  EXPECT_EQ(shuffle(32), "invalid lane index 32: i8x16.shuffle chooses from 32 lanes, in func[1]");
}

TEST(Validate, MessagesNameTheInstructionAndBothTypes) {
  EXPECT_EQ(check(Code().f32(1).i32(2).op(Opcode::I32Add).op(Opcode::Drop).end()),
            "type mismatch: i32.add wants i32, the stack has f32, in func[1]");
  EXPECT_EQ(check(Code().i32(2).op(Opcode::I32Add).op(Opcode::Drop).end()),
            "type mismatch: i32.add wants i32, the stack of this block is empty, in func[1]");
  EXPECT_EQ(check(Code().end(), {F64}),
            "type mismatch: end of function wants f64, the stack of this block is empty, in func[1]");
  EXPECT_EQ(check(Code().open(Opcode::Loop).i32(1).i32(1).end().end()),
            "type mismatch: end of loop leaves 2 values too many on the stack, in func[1]");
  EXPECT_EQ(check(Code().op(Opcode::LocalGet, 0).open(Opcode::If, I32).i32(1).end().op(Opcode::Drop).end()),
            "type mismatch: an if without else must have the same parameters and results, in func[1]");
  EXPECT_EQ(check(Code().op(Opcode::LocalGet, 9).end()), "unknown local 9: there are 6, in func[1]");
  EXPECT_EQ(check(Code().op(Opcode::Br, 2).end()), "unknown label 2: 1 block is open, in func[1]");
  EXPECT_EQ(check(Code().i32(0).op(Opcode::I32Load16U, 2, 0).op(Opcode::Drop).end()),
            "alignment must not be larger than natural: i32.load16_u is aligned to 2^1 at most, not 2^2, in "
            "func[1]");
  EXPECT_EQ(check(Code().i32(0).op(Opcode::GlobalSet, 1).end()),
            "global is immutable: global.set of global 1, in func[1]");
  EXPECT_EQ(
      check(Code().op(Opcode::RefFunc, 0).op(Opcode::Drop).end()),
      "undeclared function reference to func[0]: it is in no export, global or element segment, in func[1]");
  EXPECT_EQ(check(Code().i32(0).op(Opcode::CallIndirect, 0, 1).end()),
            "type mismatch: call_indirect needs a table of funcref, table 1 is not one, in func[1]");
  EXPECT_EQ(check(Code().op(Opcode::Call, 7).end()), "unknown function 7: there are 2, in func[1]");
  EXPECT_EQ(check(Code().op(Opcode::DataDrop, 0).end()),
            "data count section required before code: unknown data segment 0, in func[1]");
  EXPECT_EQ(check(Code()
                      .op(Opcode::LocalGet, 4)
                      .op(Opcode::LocalGet, 4)
                      .i32(1)
                      .op(Opcode::Select)
                      .op(Opcode::Drop)
                      .end()),
            "type mismatch: select without a type wants a number, the stack has funcref, in func[1]");
}

TEST(Validate, ErrorsCarryTheOffsetOfTheInstruction) {
  ModuleBuilder builder;
  builder.function(builder.type({}, {}), {}, Code().op(Opcode::Nop).op(Opcode::Nop).op(Opcode::Drop).end());
  auto bytes = builder.build();
  auto module = decode_module(bytes);
  ASSERT_FALSE(module.ok());
  ASSERT_EQ(bytes.size(), 27u);
  EXPECT_EQ(module.error().place.offset, 25u);
  EXPECT_EQ(module.error().place.section, "code section");
}

TEST(Validate, UnreachableCodePretendsValuesOnlyWhereNoneAre) {
  const auto dead = [] { return Code().op(Opcode::Unreachable); };
  EXPECT_EQ(check(dead().op(Opcode::I32Add).end(), {I32}), "valid");
  EXPECT_EQ(check(dead().op(Opcode::Select).op(Opcode::F64Sqrt).end(), {F64}), "valid");
  EXPECT_EQ(check(dead().op(Opcode::RefIsNull).end(), {I32}), "valid");
  EXPECT_EQ(check(dead().f32(1).op(Opcode::I32Add).end(), {I32}),
            "type mismatch: i32.add wants i32, the stack has f32, in func[1]");
  // A conditional branch makes the values it carries real.
  EXPECT_EQ(check(dead()
                      .open(Opcode::Block, I32)
                      .op(Opcode::Unreachable)
                      .op(Opcode::BrIf, 0)
                      .op(Opcode::F32Neg)
                      .end()
                      .op(Opcode::Drop)
                      .end()),
            "type mismatch: f32.neg wants f32, the stack has i32, in func[1]");
  EXPECT_EQ(check(dead().end().end()),
            "section size mismatch: 1 bytes follow the function's last end, in func[1]");
}

TEST(Validate, BlocksWithParametersAndSeveralResults) {
  ModuleBuilder builder = surroundings();
  const uint32_t swap = builder.type({I32, I64}, {I64, I32});
  const uint32_t type = builder.type({I32}, {I64, I32});
  builder.function(type, {{1, I64}, {1, I32}},
                   Code()
                       .op(Opcode::LocalGet, 0)
                       .i64(5)
                       .open(Opcode::Block, swap)
                       .op(Opcode::LocalSet, 1)
                       .op(Opcode::LocalSet, 2)
                       .op(Opcode::LocalGet, 1)
                       .op(Opcode::LocalGet, 2)
                       .op(Opcode::LocalGet, 0)
                       .op(Opcode::BrIf, 0)
                       .end()
                       .end());
  EXPECT_EQ(message(builder), "valid");
}

TEST(Validate, BranchTablesWantOneArityAndFittingTypes) {
  auto table = [](ValueType inner, const Code& value) {
    Code code;
    code.open(Opcode::Block, I32).open(Opcode::Block, inner).raw(value.bytes()).op(Opcode::LocalGet, 0);
    code.br_table({0, 1}, 1).end().op(Opcode::Drop).i32(1).end().op(Opcode::Drop).end();
    return check(code);
  };
  EXPECT_EQ(table(I32, Code().i32(1)), "valid");
  EXPECT_EQ(table(F32, Code().i32(1)), "type mismatch: br_table wants f32, the stack has i32, in func[1]");
  EXPECT_EQ(table(F32, Code().op(Opcode::Unreachable)), "valid");
  EXPECT_EQ(check(Code()
                      .open(Opcode::Block, I32)
                      .i32(1)
                      .op(Opcode::LocalGet, 0)
                      .br_table({1}, 0)
                      .end()
                      .op(Opcode::Drop)
                      .end()),
            "type mismatch: a br_table target takes 0 values, its default takes 1, in func[1]");
}

TEST(Validate, TablesOfReferences) {
  EXPECT_EQ(check(Code().i32(0).op(Opcode::LocalGet, 5).op(Opcode::TableSet, 1).end()), "valid");
  EXPECT_EQ(check(Code().i32(0).op(Opcode::LocalGet, 5).op(Opcode::TableSet, 0).end()),
            "type mismatch: table.set wants funcref, the stack has externref, in func[1]");
  EXPECT_EQ(check(Code().i32(0).i32(0).i32(0).op(Opcode::TableCopy, 1, 0).end()),
            "type mismatch: table.copy into a table of externref from funcref, in func[1]");
  EXPECT_EQ(check(Code().op(Opcode::LocalGet, 4).i32(3).op(Opcode::TableGrow, 0).end(), {I32}), "valid");
  EXPECT_EQ(check(Code().i32(1).op(Opcode::TableGet, 1).op(Opcode::RefIsNull).end(), {I32}), "valid");
  EXPECT_EQ(check(Code()
                      .op(Opcode::LocalGet, 4)
                      .op(Opcode::LocalGet, 4)
                      .i32(1)
                      .select(FuncRef)
                      .op(Opcode::Drop)
                      .end()),
            "valid");
}

TEST(Validate, LowestOffsetWinsWhateverTheWorkers) {
  ModuleBuilder builder;
  const uint32_t type = builder.type({}, {});
  for (int i = 0; i < 5000; ++i) {
    Code code;
    if (i == 1234) code.op(Opcode::Drop);
    if (i == 1235 || i == 4999) code.op(Opcode::LocalGet, 3);
    builder.function(type, {}, code.end());
  }
  builder.custom("\xff", Bytes{});  // a later error
  const std::vector<uint8_t> bytes = builder.build();
  for (unsigned workers : {1u, 2u, 7u}) {
    DecodeOptions options;
    options.workers = workers;
    auto module = decode_module(bytes, options);
    ASSERT_FALSE(module.ok());
    EXPECT_EQ(module.error().message,
              "type mismatch: drop wants a value, the stack of this block is empty, in func[1234]");
  }
}

TEST(Validate, BodiesBeforeADamagedOneAreReportedFirst) {
  ModuleBuilder builder;
  const uint32_t type = builder.type({}, {});
  builder.function(type, {}, Code().op(Opcode::Drop).end());
  builder.raw_function(type, Bytes{1, 1, 0x33, 0x0b});
  EXPECT_NE(message(builder).find("drop wants a value"), std::string::npos);
  ModuleBuilder damaged;
  damaged.function(damaged.type({}, {}), {}, Code().end());
  damaged.raw_function(0, Bytes{1, 1, 0x33, 0x0b});
  EXPECT_EQ(message(damaged), "malformed value type 0x33, in func[1]");
}

TEST(Validate, NestingHasALimit) {
  auto nested = [](uint32_t depth) {
    Code code;
    for (uint32_t i = 0; i < depth; ++i) code.open(Opcode::Block);
    for (uint32_t i = 0; i < depth; ++i) code.end();
    return check(code.end());
  };
  EXPECT_EQ(nested(kMaxNesting), "valid");
  EXPECT_EQ(nested(kMaxNesting + 1), "too many nested blocks: 100001, the limit is 100000, in func[1]");
}

TEST(Validate, OperandStackHasALimit) {
  ModuleBuilder builder;
  const uint32_t many = builder.type({}, std::vector<ValueType>(kMaxResults, I32));
  builder.import_function("m", "many", many);
  Code code;
  for (uint32_t i = 0; i <= kMaxOperands / kMaxResults; ++i) code.op(Opcode::Call, 0);
  builder.function(builder.type({}, {}), {}, code.op(Opcode::Unreachable).end());
  EXPECT_EQ(message(builder), "too many operands on the stack: 1001000, the limit is 1000000, in func[1]");
}

TEST(Validate, BranchTablesHaveALimit) {
  Code code;
  code.i32(0).op(Opcode::BrTable, kMaxBranchTargets + 1);
  EXPECT_EQ(check(code.end()), "too many br_table targets: 65521, the limit is 65520, in func[1]");
}

}  // namespace
}  // namespace wago::runtime
