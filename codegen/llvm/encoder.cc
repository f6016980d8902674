#include "codegen/llvm/encoder.h"

#include <cstring>

#include "codegen/llvm/target.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/MC/MCCodeEmitter.h"
#include "llvm/MC/MCExpr.h"
#include "llvm/MC/MCFixup.h"
#include "llvm/MC/MCInst.h"

namespace wago::codegen {

namespace {

// The context's arena grows by a few dozen bytes for every symbolic displacement; a fresh one is cheap by
// comparison.
constexpr uint32_t kSymbolsPerContext = 1 << 16;

// The forms with a sign-extended 8-bit immediate, which the emitter does not choose by itself.
x64::Op short_immediate_form(x64::Op op) {
  using x64::Op;
  switch (op) {
#define WAGO_SHORT_FORMS(name) \
  case Op::name##32ri:         \
    return Op::name##32ri8;    \
  case Op::name##32mi:         \
    return Op::name##32mi8;    \
  case Op::name##64ri32:       \
    return Op::name##64ri8;    \
  case Op::name##64mi32:       \
    return Op::name##64mi8;
    WAGO_SHORT_FORMS(ADD)
    WAGO_SHORT_FORMS(SUB)
    WAGO_SHORT_FORMS(AND)
    WAGO_SHORT_FORMS(OR)
    WAGO_SHORT_FORMS(XOR)
    WAGO_SHORT_FORMS(CMP)
#undef WAGO_SHORT_FORMS
    case Op::ADC32ri:
      return Op::ADC32ri8;
    case Op::ADC64ri32:
      return Op::ADC64ri8;
    case Op::SBB32ri:
      return Op::SBB32ri8;
    case Op::SBB64ri32:
      return Op::SBB64ri8;
    case Op::IMUL32rri:
      return Op::IMUL32rri8;
    case Op::IMUL32rmi:
      return Op::IMUL32rmi8;
    case Op::IMUL64rri32:
      return Op::IMUL64rri8;
    case Op::IMUL64rmi32:
      return Op::IMUL64rmi8;
    default:
      return op;
  }
}

uint16_t mc_register(Reg reg, uint8_t width) {
  WAGO_CHECK(reg.is_physical());
  switch (width) {
    case 1:
      return x64::kMcGpr[0][reg.number()];
    case 2:
      return x64::kMcGpr[1][reg.number()];
    case 4:
      return x64::kMcGpr[2][reg.number()];
    case 8:
      return x64::kMcGpr[3][reg.number()];
    case 16:
      WAGO_CHECK(reg.number() >= 16);
      return x64::kMcXmm[reg.number() - 16];
    default:
      WAGO_UNREACHABLE("register operand without a register class");
  }
}

}  // namespace

namespace {
// Stands for a counter's displacement, which takes 32 bits, until the image is linked.
constexpr int32_t kCounterDisplacement = 1 << 30;
}  // namespace

struct Encoder::State {
  std::unique_ptr<llvm::MCContext> context;
  std::unique_ptr<llvm::MCCodeEmitter> emitter;
  const llvm::MCExpr* zero = nullptr;
  uint32_t symbols = 0;
  llvm::SmallVector<char, 32> bytes;
  llvm::SmallVector<llvm::MCFixup, 4> fixups;
  Template jumps[2], conditional_jumps[16][2], call_template, undefined_template;

  State() { renew(); }

  void renew() {
    const LlvmTarget& t = llvm_target();
    emitter.reset();
    context =
        std::make_unique<llvm::MCContext>(t.triple, t.assembly.get(), t.registers.get(), t.subtarget.get());
    emitter.reset(t.target->createMCCodeEmitter(*t.instructions, *context));
    zero = llvm::MCConstantExpr::create(0, *context);
    symbols = 0;
  }

  void run(const llvm::MCInst& inst) {
    bytes.clear();
    fixups.clear();
    emitter->encodeInstruction(inst, bytes, fixups, *llvm_target().subtarget);
  }

  Template make_template(x64::Op op, int condition) {
    llvm::MCInst inst;
    inst.setOpcode(x64::desc(op).mc_opcode);
    if (op != x64::Op::TRAP) inst.addOperand(llvm::MCOperand::createExpr(zero));
    if (condition >= 0) inst.addOperand(llvm::MCOperand::createImm(condition));
    run(inst);
    Template t;
    WAGO_CHECK(bytes.size() <= sizeof t.bytes);
    std::memcpy(t.bytes, bytes.data(), bytes.size());
    t.size = static_cast<uint8_t>(bytes.size());
    return t;
  }
};

Encoder::Encoder() : state_(std::make_unique<State>()) {
  state_->jumps[0] = state_->make_template(x64::Op::JMP_4, -1);
  state_->jumps[1] = state_->make_template(x64::Op::JMP_1, -1);
  for (int c = 0; c < 16; ++c) {
    state_->conditional_jumps[c][0] = state_->make_template(x64::Op::JCC_4, c);
    state_->conditional_jumps[c][1] = state_->make_template(x64::Op::JCC_1, c);
  }
  state_->call_template = state_->make_template(x64::Op::CALL64pcrel32, -1);
  state_->undefined_template = state_->make_template(x64::Op::TRAP, -1);
}

Encoder::~Encoder() = default;

const Encoder::Template& Encoder::jump(bool near) const {
  return state_->jumps[near];
}
const Encoder::Template& Encoder::conditional_jump(unsigned condition, bool near) const {
  WAGO_CHECK(condition < 16);
  return state_->conditional_jumps[condition][near];
}
const Encoder::Template& Encoder::undefined() const {
  return state_->undefined_template;
}
const Encoder::Template& Encoder::call() const {
  return state_->call_template;
}

uint32_t Encoder::encode(const MachFunction& function, const MachInst& inst,
                         std::span<const int32_t> slot_offsets, std::vector<uint8_t>& out) {
  State& s = *state_;
  x64::Op op = inst.op;
  std::span<const MachOperand> operands = function.ops(inst);
  uint32_t count = inst.operand_count - inst.extra_count;
  WAGO_CHECK_MSG(count == x64::desc(op).operand_count, x64::desc(op).name);
  if (count > 0 && operands[count - 1].kind == MachOperand::Kind::Imm && operands[count - 1].value >= -128 &&
      operands[count - 1].value <= 127) {
    op = short_immediate_form(op);
  }
  const x64::OpDesc& desc = x64::desc(op);

  llvm::MCInst mc;
  mc.setOpcode(desc.mc_opcode);
  bool symbolic = false, counter = false;
  int32_t slot_displacement = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const MachOperand& operand = operands[i];
    const bool is_displacement = desc.memory >= 0 && i == static_cast<uint32_t>(desc.memory) + 3;
    switch (operand.kind) {
      case MachOperand::Kind::None:
        mc.addOperand(llvm::MCOperand::createReg(0));
        break;
      case MachOperand::Kind::Reg:
        mc.addOperand(llvm::MCOperand::createReg(mc_register(operand.reg(), desc.width[i])));
        break;
      case MachOperand::Kind::Imm:
        if (is_displacement && counter) {
          mc.addOperand(llvm::MCOperand::createImm(kCounterDisplacement));
        } else if (is_displacement && symbolic) {
          WAGO_CHECK_MSG(operand.value == 0, "a literal is addressed without a displacement");
          mc.addOperand(llvm::MCOperand::createExpr(s.zero));
        } else {
          mc.addOperand(
              llvm::MCOperand::createImm(operand.value + (is_displacement ? slot_displacement : 0)));
        }
        break;
      case MachOperand::Kind::Imm64:
        mc.addOperand(
            llvm::MCOperand::createImm(static_cast<int64_t>(function.wide_immediates[operand.value])));
        break;
      case MachOperand::Kind::Slot:
        slot_displacement = slot_offsets[operand.value];
        mc.addOperand(llvm::MCOperand::createReg(x64::kMcGpr[3][kRbp.number()]));
        break;
      case MachOperand::Kind::Literal:
      case MachOperand::Kind::JumpTable:
        symbolic = true;
        mc.addOperand(llvm::MCOperand::createReg(x64::kMcRip));
        break;
      case MachOperand::Kind::Counter:
        counter = true;
        mc.addOperand(llvm::MCOperand::createReg(x64::kMcGpr[3][kContextReg.number()]));
        break;
      case MachOperand::Kind::FsSegment:
        mc.addOperand(llvm::MCOperand::createReg(x64::kMcFs));
        break;
      case MachOperand::Kind::Block:
      case MachOperand::Kind::Function:
      case MachOperand::Kind::TrapStub:
        WAGO_UNREACHABLE("branches and calls are emitted from templates");
    }
  }
  s.run(mc);
  uint32_t begin = static_cast<uint32_t>(out.size());
  out.insert(out.end(), reinterpret_cast<const uint8_t*>(s.bytes.data()),
             reinterpret_cast<const uint8_t*>(s.bytes.data()) + s.bytes.size());
  if (!symbolic) return kNoField;
  WAGO_CHECK(s.fixups.size() == 1);
  uint32_t field = begin + s.fixups[0].getOffset();
  if (++s.symbols >= kSymbolsPerContext) s.renew();
  return field;
}

std::span<const uint8_t> Encoder::nop(uint32_t bytes) const {
  // The multi-byte forms recommended in the AMD64 Architecture Programmer's Manual, volume 3, NOP.
  static constexpr uint8_t kNops[9][9] = {
      {0x90},
      {0x66, 0x90},
      {0x0f, 0x1f, 0x00},
      {0x0f, 0x1f, 0x40, 0x00},
      {0x0f, 0x1f, 0x44, 0x00, 0x00},
      {0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00},
      {0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00},
      {0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00},
      {0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00},
  };
  WAGO_CHECK(bytes >= 1 && bytes <= 9);
  return {kNops[bytes - 1], bytes};
}

}  // namespace wago::codegen
