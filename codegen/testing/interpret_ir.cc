#include <optional>

#include "codegen/ir/evaluate.h"
#include "codegen/testing/machine.h"

namespace wago::codegen::testing {

namespace {

class IrInterpreter {
 public:
  IrInterpreter(const IrFunction& function, Machine& machine, IrCounts* counts)
      : f_(function), m_(machine), counts_(counts) {}

  Outcome run(std::span<const uint64_t> args) {
    values_.assign(f_.values.size(), 0);
    if (counts_ != nullptr) {
      counts_->blocks.assign(f_.block_count, 0);
      counts_->ways.assign(f_.ways.size(), 0);
      counts_->left_at = InstId();
    }
    BlockId block(0);
    const std::vector<Value>& params = f_.block(block).params;
    for (size_t i = 0; i < params.size(); ++i) values_[params[i].index()] = args[i];
    for (;;) {
      if (m_.fuel == 0) return {Outcome::Kind::OutOfFuel, base::TrapCode::Unreachable, {}};
      --m_.fuel;
      if (counts_ != nullptr) ++counts_->blocks[block.index()];
      InstId i = f_.block(block).first;
      for (; i != f_.block(block).last; i = f_.inst(i).next) {
        const Inst& inst = f_.inst(i);
        if ((info(inst.op).flags & kCall) != 0) {
          if (!call(inst)) return left(i, ended_);
        } else if (const auto trap = execute(inst)) {
          return left(i, {Outcome::Kind::Trapped, *trap, {}});
        }
      }
      const Inst& last = f_.inst(i);
      if (last.op == Op::Trap) return {Outcome::Kind::Trapped, static_cast<base::TrapCode>(last.aux), {}};
      if (last.op == Op::Return) {
        Outcome outcome;
        for (const Value v : f_.args(last)) outcome.values.push_back(values_[v.index()]);
        return outcome;
      }
      block = follow(block, last);
    }
  }

 private:
  using MaybeTrap = std::optional<base::TrapCode>;
  Outcome left(InstId at, const Outcome& outcome) {
    if (counts_ != nullptr) counts_->left_at = at;
    return outcome;
  }
  uint64_t arg(const Inst& inst, uint32_t i) const { return values_[f_.args(inst)[i].index()]; }
  uint32_t arg32(const Inst& inst, uint32_t i) const { return static_cast<uint32_t>(arg(inst, i)); }
  Type arg_type(const Inst& inst, uint32_t i) const { return f_.type_of(f_.args(inst)[i]); }
  void result(const Inst& inst, uint64_t bits) {
    values_[inst.result.index()] = bytes_of(inst.type) == 4 ? static_cast<uint32_t>(bits) : bits;
  }

  BlockId follow(BlockId from, const Inst& last) {
    const std::vector<Edge>& succs = f_.block(from).succs;
    size_t successor = 0;
    if (last.op == Op::Branch) successor = arg32(last, 0) == 0;
    if (last.op == Op::BrTable) successor = std::min<size_t>(arg32(last, 0), succs.size() - 1);
    const Edge& edge = succs[successor];
    moved_.clear();
    for (const Value v : f_.args(edge)) moved_.push_back(values_[v.index()]);
    const std::vector<Value>& params = f_.block(edge.target).params;
    for (size_t i = 0; i < params.size(); ++i) values_[params[i].index()] = moved_[i];
    return edge.target;
  }

  MaybeTrap execute(const Inst& inst) {
    switch (inst.op) {
      case Op::Iconst:
      case Op::Fconst:
        result(inst, inst.imm);
        return {};
      case Op::CheckInterrupt:
        return {};
      case Op::CountWay:
        if (counts_ != nullptr) ++counts_->ways[inst.imm + arg32(inst, 0)];
        return {};
      case Op::MemBase:
        result(inst, 0);
        return {};
      case Op::RefFunc:
        result(inst, inst.imm + 1);
        return {};
      case Op::BoundsCheck:
        if (!m_.in_bounds(arg32(inst, 0), inst.imm)) return base::TrapCode::MemoryOutOfBounds;
        return {};
      case Op::Load:
      case Op::Store:
        return access(inst);
      case Op::MemorySize:
        result(inst, m_.memory.size() / kPageBytes);
        return {};
      case Op::GlobalGet:
        result(inst, m_.globals[inst.imm % Machine::kGlobals]);
        return {};
      case Op::GlobalSet:
        m_.globals[inst.imm % Machine::kGlobals] = arg(inst, 0);
        return {};
      case Op::TableGet:
      case Op::TableSet:
        if (arg32(inst, 0) >= Machine::kTableEntries) return base::TrapCode::TableOutOfBounds;
        if (inst.op == Op::TableGet) {
          result(inst, m_.tables[inst.imm & 1][arg32(inst, 0)]);
        } else {
          m_.tables[inst.imm & 1][arg32(inst, 0)] = arg(inst, 1);
        }
        return {};
      case Op::TableSize:
        result(inst, Machine::kTableEntries);
        return {};
      default:
        return compute(inst);
    }
  }

  MaybeTrap access(const Inst& inst) {
    const Access access = static_cast<Access>(inst.aux);
    const Type type = inst.op == Op::Load ? inst.type : arg_type(inst, 2);
    const uint64_t address = arg32(inst, 1) + inst.imm;
    if (!m_.in_bounds(address, access_bytes(access, type))) return base::TrapCode::MemoryOutOfBounds;
    if (inst.op == Op::Load) {
      result(inst, m_.load(address, access, type));
    } else {
      m_.store(address, access, type, arg(inst, 2));
    }
    return {};
  }

  // True unless the callee did not return: then ended_ says how.
  bool call(const Inst& inst) {
    moved_.clear();
    for (const Value v : f_.args(inst)) moved_.push_back(values_[v.index()]);
    types_.clear();
    for (uint32_t i = 0; i < inst.result_count; ++i) {
      types_.push_back(f_.type_of(Value(inst.result.index() + i)));
    }
    ended_ = testing::call(inst.op, inst.imm, types_, moved_, m_);
    for (uint32_t i = 0; i < ended_.values.size(); ++i) values_[inst.result.index() + i] = ended_.values[i];
    return ended_.kind == Outcome::Kind::Returned;
  }

  MaybeTrap compute(const Inst& inst) {
    uint64_t args[3] = {0, 0, 0};
    for (uint32_t i = 0; i < inst.arg_count; ++i) args[i] = arg(inst, i);
    const Evaluation e = evaluate(inst.op, inst.type, arg_type(inst, 0), inst.aux, args);
    WAGO_CHECK_MSG(e.kind != Evaluation::Kind::Unknown, to_string(inst.op));
    if (e.kind == Evaluation::Kind::Trap) return e.trap;
    result(inst, e.bits);
    return {};
  }

  const IrFunction& f_;
  Machine& m_;
  IrCounts* counts_;
  std::vector<uint64_t> values_;
  std::vector<uint64_t> moved_;
  std::vector<Type> types_;
  Outcome ended_;
};

}  // namespace

Outcome interpret_ir(const IrFunction& function, std::span<const uint64_t> args, Machine& machine,
                     IrCounts* counts) {
  return IrInterpreter(function, machine, counts).run(args);
}

}  // namespace wago::codegen::testing
