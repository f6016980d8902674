#include "codegen/emit/emit.h"

#include <gtest/gtest.h>

#include "codegen/emit/image.h"
#include "codegen/emit/x64/adapters.h"
#include "codegen/llvm/disassembler.h"

namespace wago::codegen {
namespace {

MachOperand reg(Reg r) {
  return {MachOperand::Kind::Reg, false, static_cast<int32_t>(r.bits())};
}
MachOperand imm(int32_t v) {
  return {MachOperand::Kind::Imm, false, v};
}
MachOperand block(int32_t b) {
  return {MachOperand::Kind::Block, false, b};
}

// A function of physical registers, written block by block.
struct Sketch {
  MachFunction f;
  void begin() {
    if (f.block_count) f.blocks.back().end = static_cast<uint32_t>(f.insts.size());
    f.blocks.emplace_back();
    f.blocks.back().begin = static_cast<uint32_t>(f.insts.size());
    ++f.block_count;
  }
  MachInst& add(x64::Op op, std::initializer_list<MachOperand> operands) {
    MachInst inst;
    inst.op = op;
    inst.operand_count = static_cast<uint8_t>(operands.size());
    inst.first_operand = static_cast<uint32_t>(f.operands.size());
    f.operands.insert(f.operands.end(), operands);
    f.insts.push_back(inst);
    return f.insts.back();
  }
  void fill(int instructions) {
    for (int i = 0; i < instructions; ++i) add(x64::Op::ADD32rr, {reg(kRax), reg(kRax), reg(kRcx)});
  }
  FunctionCode emit(FrameStyle style = FrameStyle::Bare, bool positions = false) {
    f.blocks.back().end = static_cast<uint32_t>(f.insts.size());
    FunctionCode code;
    Emitter().emit(f, style, positions, code);
    return code;
  }
};

std::vector<std::string> text(const FunctionCode& code) {
  std::vector<std::string> lines;
  std::span<const uint8_t> instructions(code.bytes.data(), code.literals_begin);
  for (const Disassembled& d : Disassembler().disassemble(instructions)) lines.push_back(d.text);
  return lines;
}
using Lines = std::vector<std::string>;

TEST(Emit, JumpToTheNextBlockVanishes) {
  Sketch s;
  s.begin();
  s.add(x64::Op::JMP_1, {block(1)});
  s.begin();
  s.add(x64::Op::RET64, {});
  EXPECT_EQ(text(s.emit()), Lines({"ret"}));
}

TEST(Emit, ConditionIsInvertedWhenItsTargetFollows) {
  Sketch s;
  s.begin();
  s.add(x64::Op::JCC_1, {block(1), imm(4)});
  s.add(x64::Op::JMP_1, {block(2)});
  s.begin();
  s.fill(1);
  s.add(x64::Op::RET64, {});
  s.begin();
  s.add(x64::Op::RET64, {});
  EXPECT_EQ(text(s.emit()), Lines({"jne 0x5", "add eax, ecx", "ret", "ret"}));
}

TEST(Emit, BlocksThatOnlyJumpAreThreadedThrough) {
  Sketch s;
  s.begin();
  s.add(x64::Op::JCC_1, {block(2), imm(4)});
  s.add(x64::Op::JMP_1, {block(1)});
  s.begin();
  s.fill(1);
  s.add(x64::Op::JMP_1, {block(3)});
  s.begin();
  s.add(x64::Op::JMP_1, {block(3)});
  s.begin();
  s.add(x64::Op::RET64, {});
  EXPECT_EQ(text(s.emit()), Lines({"je 0x4", "add eax, ecx", "ret"}));
}

TEST(Emit, CycleOfEmptyBlocksStaysAnInfiniteLoop) {
  Sketch s;
  s.begin();
  s.add(x64::Op::JMP_1, {block(1)});
  s.begin();
  s.add(x64::Op::JMP_1, {block(2)});
  s.begin();
  s.add(x64::Op::JMP_1, {block(1)});
  EXPECT_EQ(text(s.emit()), Lines({"jmp 0x0"}));
}

// The displacement form changes exactly where the distance does: +127 and -128 are the last that fit.
TEST(Emit, BranchesGrowWhereTheDistanceNeedsIt) {
  for (int instructions : {63, 64}) {  // two bytes each
    Sketch forward;
    forward.begin();
    forward.add(x64::Op::JCC_1, {block(2), imm(4)});
    forward.add(x64::Op::JMP_1, {block(1)});
    forward.begin();
    forward.fill(instructions);
    forward.add(x64::Op::JMP_1, {block(2)});
    forward.begin();
    forward.add(x64::Op::RET64, {});
    EXPECT_EQ(forward.emit().bytes.size(), (instructions == 63 ? 2u : 6u) + 2u * instructions + 1u);

    Sketch backward;
    backward.begin();
    backward.fill(instructions);
    backward.add(x64::Op::JCC_1, {block(0), imm(4)});
    backward.add(x64::Op::JMP_1, {block(1)});
    backward.begin();
    backward.add(x64::Op::RET64, {});
    EXPECT_EQ(backward.emit().bytes.size(), (instructions == 63 ? 2u : 6u) + 2u * instructions + 1u);
  }
}

TEST(Emit, LoopHeadsAreAlignedInsideAnAlignedFunction) {
  Sketch s;
  s.begin();
  s.fill(1);
  s.add(x64::Op::JMP_1, {block(1)});
  s.begin();
  s.f.blocks.back().loop_header = true;
  s.fill(1);
  s.add(x64::Op::JMP_1, {block(1)});
  FunctionCode code = s.emit();
  EXPECT_EQ(code.block_offsets[1], 32u);
  EXPECT_EQ(code.bytes.size(), 32u + 4u);
}

TEST(Emit, TrapStubsFollowTheBodyAndAreShared) {
  Sketch s;
  s.f.function = 7;
  s.begin();
  MachOperand stub{MachOperand::Kind::TrapStub, false,
                   static_cast<int32_t>(base::TrapCode::IntegerDivideByZero)};
  s.add(x64::Op::JCC_1, {stub, imm(4)}).wasm_pc = 5;
  s.add(x64::Op::JCC_1, {stub, imm(2)}).wasm_pc = 5;
  s.add(x64::Op::JCC_1, {stub, imm(2)}).wasm_pc = 9;
  s.add(x64::Op::RET64, {});
  FunctionCode code = s.emit();
  EXPECT_EQ(text(code), Lines({"je 0x7", "jb 0x7", "jb 0x9", "ret", "ud2", "ud2"}));
  ASSERT_EQ(code.trap_sites.size(), 2u);
  EXPECT_EQ(code.trap_sites[0].offset, 7u);
  ASSERT_EQ(code.positions.size(), 2u);
  EXPECT_EQ(code.positions[0].offset, code.trap_sites[0].offset);
  EXPECT_EQ(code.positions[0].wasm_pc, 5u);
  EXPECT_EQ(code.positions[1].offset, code.trap_sites[1].offset);
  EXPECT_EQ(code.positions[1].wasm_pc, 9u);
  EXPECT_EQ(code.trap_sites[1].code, base::TrapCode::IntegerDivideByZero);
}

TEST(Emit, LiteralsAreAddressedFromTheEndOfTheirInstruction) {
  Sketch s;
  s.begin();
  s.f.literals.push_back({{0x3ff0000000000000, 0}, 8});
  MachOperand literal{MachOperand::Kind::Literal, false, 0};
  s.add(x64::Op::VADDSDrm, {reg(Reg::xmm(0)), reg(Reg::xmm(0)), literal, imm(1), {}, imm(0), {}});
  s.add(x64::Op::VROUNDSDmi, {reg(Reg::xmm(0)), reg(Reg::xmm(0)), literal, imm(1), {}, imm(0), {}, imm(3)});
  s.add(x64::Op::RET64, {});
  FunctionCode code = s.emit();
  ASSERT_EQ(code.literals_begin, 24u);
  ASSERT_EQ(code.bytes.size(), 32u);
  // vaddsd is 8 bytes, vroundsd 10 with an immediate behind its displacement.
  EXPECT_EQ(text(code)[0], "vaddsd xmm0, xmm0, qword ptr [rip + 0x10]");
  EXPECT_EQ(text(code)[1], "vroundsd xmm0, xmm0, qword ptr [rip + 0x6], 0x3");
}

TEST(Emit, StandardFrameChecksTheStackUnlessItIsASmallLeaf) {
  Sketch leaf;
  leaf.begin();
  leaf.add(x64::Op::RET64, {});
  EXPECT_EQ(text(leaf.emit(FrameStyle::Standard)), Lines({"push rbp", "mov rbp, rsp", "pop rbp", "ret"}));

  Sketch caller;
  caller.f.is_leaf = false;
  caller.f.saves_context = true;
  caller.f.slots = {8, 4};
  caller.begin();
  caller.add(x64::Op::RET64, {});
  FunctionCode code = caller.emit(FrameStyle::Standard);
  EXPECT_EQ(text(code), Lines({"push rbp", "mov rbp, rsp", "cmp rsp, qword ptr fs:[0x0]", "jb 0x19",
                               "sub rsp, 0x20", "mov qword ptr [rbp - 0x8], r15", "leave", "ret", "ud2"}));
  ASSERT_EQ(code.tls_fields.size(), 1u);
  EXPECT_EQ(code.tls_fields[0], 9u);
  EXPECT_EQ(code.statistics.stack_checks, 1u);
}

TEST(Emit, SourcePositionsNeverChangeTheBytes) {
  auto sketch = [] {
    Sketch s;
    s.begin();
    s.fill(2);
    s.f.insts[1].wasm_pc = 3;
    s.add(x64::Op::RET64, {}).wasm_pc = 4;
    return s;
  };
  FunctionCode without = sketch().emit(FrameStyle::Bare, false), with = sketch().emit(FrameStyle::Bare, true);
  EXPECT_EQ(without.bytes, with.bytes);
  EXPECT_EQ(without.positions.size(), 0u);
  ASSERT_EQ(with.positions.size(), 3u);
  EXPECT_EQ(with.positions[2].offset, 4u);
  EXPECT_EQ(with.positions[2].wasm_pc, 4u);
}

TEST(Emit, IdentityMasksCallsButHashesTheirTargets) {
  auto call = [](int32_t target) {
    Sketch s;
    s.begin();
    s.add(x64::Op::CALL64pcrel32, {{MachOperand::Kind::Function, false, target}});
    s.add(x64::Op::RET64, {});
    return s.emit();
  };
  FunctionCode a = call(1), b = call(1), c = call(2);
  b.bytes[b.calls[0].offset] = 0x55;  // as if linked elsewhere
  EXPECT_EQ(identity_hash(a), identity_hash(b));
  EXPECT_NE(identity_hash(a), identity_hash(c));
}

TEST(Image, RegionsTileAndCallsReachTheirTargets) {
  ImageLinker linker(10, 2, 8);
  uint32_t wasm_begin = 0;
  for (int32_t target : {11, 10}) {
    Sketch s;
    s.begin();
    s.add(x64::Op::CALL64pcrel32, {{MachOperand::Kind::Function, false, target}});
    s.add(x64::Op::RET64, {});
    linker.append(s.emit(), wasm_begin += 100);
  }
  const runtime::CodeImage image = std::move(linker).finish();
  uint32_t at = 0;
  for (const runtime::CodeRegion& r : image.regions) {
    EXPECT_EQ(r.begin, at);
    at += r.size;
  }
  EXPECT_EQ(at, image.bytes.size());
  ASSERT_EQ(image.functions.size(), 2u);
  EXPECT_EQ(image.functions[1].begin, 64u);
  EXPECT_EQ(image.functions[1].function, 11u);
  EXPECT_EQ(image.functions[1].wasm_begin, 200u);
  auto lines = Disassembler().disassemble(image.bytes);
  EXPECT_EQ(lines.front().text, "call 0x40");
  EXPECT_EQ(Disassembler().disassemble(std::span(image.bytes).subspan(64), 64).front().text, "call 0x0");
}

TEST(Adapters, EverySignatureShapeEncodes) {
  Emitter emitter;
  const ValueType all[] = {ValueType::I32,  ValueType::I64,     ValueType::F32,      ValueType::F64,
                           ValueType::V128, ValueType::FuncRef, ValueType::ExternRef};
  for (size_t params = 0; params <= 20; params += 4) {
    for (size_t results = 0; results <= 8; ++results) {
      FuncType type;
      for (size_t i = 0; i < params; ++i) type.params.push_back(all[(i * 3 + results) % 7]);
      for (size_t i = 0; i < results; ++i) type.results.push_back(all[(i * 5 + params) % 7]);
      auto image = emit_adapters(emitter, type);
      ASSERT_EQ(image->trap_sites.size(), 2u);
      EXPECT_EQ(image->host_adapter % kFunctionAlignment, 0u);
      for (const Disassembled& d : Disassembler().disassemble(image->bytes)) EXPECT_NE(d.text, "(bad)");
    }
  }
}

}  // namespace
}  // namespace wago::codegen
