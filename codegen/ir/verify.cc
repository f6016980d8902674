#include "codegen/ir/verify.h"

#include <algorithm>

#include "codegen/ir/analysis.h"
#include "codegen/ir/print.h"

namespace wago::codegen {

namespace {

class Verifier {
 public:
  Verifier(const IrFunction& function, const VerifyOptions& options) : f_(function), options_(options) {}

  std::string run() {
    if (f_.block_count == 0 || f_.block_count > f_.blocks.size()) return "no blocks";
    if (!f_.block(BlockId(0)).preds.empty()) return "the entry has a predecessor";
    incoming_.assign(f_.block_count, 0);
    for (uint32_t i = 0; i < f_.block_count && ok(); ++i) check_edges(BlockId(i));
    for (uint32_t i = 0; i < f_.block_count && ok(); ++i) check_preds(BlockId(i));
    if (!ok()) return message_;
    order_.compute(f_);
    dominators_.compute(f_, order_);
    number_instructions();
    for (size_t i = 0; i < order_.blocks().size() && ok(); ++i) check_block(order_.blocks()[i]);
    return message_;
  }

 private:
  bool ok() const { return message_.empty(); }
  bool expect(bool holds, BlockId block, const char* what) {
    if (!holds && ok()) message_ = "block" + std::to_string(block.index()) + ": " + what;
    return holds;
  }
  bool expect(bool holds, InstId inst, const char* what) {
    if (!holds && ok()) {
      const BlockId block = f_.inst(inst).block;
      message_ = (block.valid() ? "block" + std::to_string(block.index()) : std::string("nowhere")) + ": " +
                 print(f_, inst) + ": " + what;
    }
    return holds;
  }

  void check_edges(BlockId id) {
    const Block& block = f_.block(id);
    for (const Edge& edge : block.succs) {
      if (!expect(edge.target.valid() && edge.target.index() < f_.block_count, id, "an edge leads nowhere"))
        return;
      ++incoming_[edge.target.index()];
      expect(uint64_t{edge.args_begin} + edge.args_count <= f_.arg_pool.size(), id,
             "edge arguments out of range");
      expect(edge.executed.empty() || (block.succs.size() > 1 && !options_.edges_split), id,
             "an edge has ranges that belong to a block");
    }
    for (const BlockId pred : block.preds) {
      if (!expect(pred.valid() && pred.index() < f_.block_count, id, "a predecessor that is none")) return;
    }
  }

  // Every edge has its entry in the target's preds. Wide br_tables are only counted, so that this stays
  // linear.
  void check_preds(BlockId id) {
    expect(incoming_[id.index()] == f_.block(id).preds.size(), id, "predecessors and edges differ in number");
    for (const BlockId pred : f_.block(id).preds) {
      const std::vector<Edge>& succs = f_.block(pred).succs;
      const bool found = succs.size() > 16 || std::any_of(succs.begin(), succs.end(),
                                                          [id](const Edge& e) { return e.target == id; });
      expect(found, id, "a predecessor has no edge here");
    }
  }

  void number_instructions() {
    place_.assign(f_.insts.size(), 0);
    uint32_t next = 0;
    for (const BlockId block : order_.blocks()) {
      for (InstId i = f_.block(block).first; i.valid(); i = f_.inst(i).next) place_[i.index()] = ++next;
    }
  }

  void check_block(BlockId id) {
    const Block& block = f_.block(id);
    if (!expect(block.last.valid(), id, "has no terminator")) return;
    for (uint32_t i = 0; i < block.params.size(); ++i) {
      const ValueInfo& v = f_.value(block.params[i]);
      expect(v.is_param && v.def == id.index() && v.index == i, id, "a parameter does not know its place");
    }
    InstId previous;
    for (InstId i = block.first; i.valid() && ok(); i = f_.inst(i).next) {
      const Inst& inst = f_.inst(i);
      expect(inst.block == id && inst.prev == previous, i, "links disagree");
      expect(((info(inst.op).flags & kTerminator) != 0) == (i == block.last), i, "terminators end blocks");
      check_inst(i);
      previous = i;
    }
    expect(previous == block.last, id, "links disagree");
    if (ok()) check_terminator(id);
    for (uint32_t e = 0; e < block.succs.size() && ok(); ++e) check_edge_args(id, block.succs[e]);
  }

  void check_edge_args(BlockId from, const Edge& edge) {
    const std::vector<Value>& params = f_.block(edge.target).params;
    if (!expect(params.size() == edge.args_count, from, "an edge passes the wrong number of arguments"))
      return;
    const std::span<const Value> args = f_.args(edge);
    if (args.empty()) return;
    expect(!options_.edges_split || f_.block(from).succs.size() == 1, from,
           "a critical edge passes arguments");
    for (size_t i = 0; i < args.size(); ++i) {
      if (!check_use(args[i], f_.block(from).last)) return;
      expect(f_.type_of(args[i]) == f_.type_of(params[i]), from,
             "an edge passes an argument of the wrong type");
    }
  }

  // The value is defined where `user` can see it.
  bool check_use(Value value, InstId user) {
    if (!expect(value.valid() && value.index() < f_.values.size(), user, "uses no value")) return false;
    const ValueInfo& v = f_.value(value);
    const BlockId at = f_.inst(user).block;
    if (v.is_param) {
      const Block& block = f_.block(BlockId(v.def));
      return expect(v.index < block.params.size() && block.params[v.index] == value, user,
                    "uses a parameter that was removed") &&
             expect(order_.reachable(BlockId(v.def)) && dominators_.dominates(BlockId(v.def), at), user,
                    "uses a parameter that does not dominate it");
    }
    const Inst& def = f_.insts[v.def];
    if (!expect(def.block.valid(), user, "uses the result of a removed instruction")) return false;
    if (def.block == at) {
      return expect(place_[v.def] < place_[user.index()], user, "uses a value before its definition");
    }
    return expect(order_.reachable(def.block) && dominators_.dominates(def.block, at), user,
                  "uses a value that does not dominate it");
  }

  void check_inst(InstId id) {
    const Inst& inst = f_.inst(id);
    const OpInfo& op = info(inst.op);
    expect(op.args == kVariadic || op.args == inst.arg_count, id, "has the wrong number of arguments");
    if (!ok()) return;
    for (const Value arg : f_.args(inst)) {
      if (!check_use(arg, id)) return;
    }
    for (uint32_t i = 0; i < inst.result_count; ++i) {
      const Value result(inst.result.index() + i);
      if (!expect(result.index() < f_.values.size(), id, "has no result")) return;
      const ValueInfo& v = f_.value(result);
      expect(!v.is_param && v.def == id.index() && v.index == i, id, "a result does not know its place");
    }
    check_types(id);
  }

  Type arg_type(const Inst& inst, uint32_t i) const { return f_.type_of(f_.args(inst)[i]); }

  // Arguments and result as ops.def says, in a shape that the operation has; lanes and vectors that are
  // there.
  void check_vector(InstId id) {
    const Inst& inst = f_.inst(id);
    const VectorOpInfo& op = vector_info(inst.op);
    const LaneShape shape = shape_of(inst.aux);
    const bool shaped = op.shapes != 0;
    if (!expect(shaped ? shape_of(inst.aux) <= LaneShape::F64x2 && (op.shapes >> (inst.aux & 15) & 1) != 0
                       : inst.aux == 0,
                id, "has a shape that the operation does not have")) {
      return;
    }
    auto type_of_letter = [&](char letter) {
      return letter == 'v' ? Type::V128 : letter == 'i' ? Type::I32 : lane_type(shape);
    };
    const char* letter = op.signature;
    for (uint32_t i = 0; *letter != ':'; ++letter, ++i) {
      expect(arg_type(inst, i) == type_of_letter(*letter), id, "has an argument of the wrong type");
    }
    expect(inst.type == type_of_letter(letter[1]) && inst.result_count == 1, id, "has the wrong type");
    if (inst.op == Op::VextractS || inst.op == Op::VextractU || inst.op == Op::Vreplace) {
      expect(inst.imm < lane_count(shape), id, "names a lane that is not there");
    } else if (has_vector_imm(inst.op)) {
      expect(inst.imm < f_.vectors.size(), id, "has a vector that is not there");
    } else {
      const int variants = inst.op == Op::Vicmp ? 10 : inst.op == Op::Vfcmp ? 6 : 1;
      expect(variant_of(inst.aux) < variants, id, "has a condition that is none");
    }
  }

  void check_types(InstId id) {
    const Inst& inst = f_.inst(id);
    if (vector_info(inst.op).signature != nullptr) return check_vector(id);
    auto args_are = [&](std::initializer_list<Type> types) {
      uint32_t i = 0;
      for (const Type type : types) {
        expect(arg_type(inst, i++) == type, id, "has an argument of the wrong type");
      }
    };
    auto result_is = [&](bool holds) {
      expect(holds && inst.result_count == 1 && f_.type_of(inst.result) == inst.type, id,
             "has the wrong type");
    };
    const Type t = inst.type;
    switch (inst.op) {
      case Op::Iconst:
        return result_is(is_int(t) && (t == Type::I64 || inst.imm >> 32 == 0));
      case Op::Fconst:
        return result_is(is_float(t) && (t == Type::F64 || inst.imm >> 32 == 0));
      case Op::Ieqz:
        expect(is_int(arg_type(inst, 0)), id, "has an argument of the wrong type");
        return result_is(t == Type::I32);
      case Op::Icmp:
      case Op::Fcmp:
        expect(arg_type(inst, 0) == arg_type(inst, 1) && is_int(arg_type(inst, 0)) == (inst.op == Op::Icmp),
               id, "has arguments of the wrong types");
        return result_is(t == Type::I32);
      case Op::Wrap:
        args_are({Type::I64});
        return result_is(t == Type::I32);
      case Op::Sext:
      case Op::Zext:
        args_are({Type::I32});
        return result_is(t == Type::I64);
      case Op::TruncS:
      case Op::TruncU:
      case Op::TruncSatS:
      case Op::TruncSatU:
        return result_is(is_int(t) && is_float(arg_type(inst, 0)));
      case Op::ConvertS:
      case Op::ConvertU:
        return result_is(is_float(t) && is_int(arg_type(inst, 0)));
      case Op::Demote:
        args_are({Type::F64});
        return result_is(t == Type::F32);
      case Op::Promote:
        args_are({Type::F32});
        return result_is(t == Type::F64);
      case Op::Bitcast:
        return result_is(bytes_of(t) == bytes_of(arg_type(inst, 0)) &&
                         is_int(t) != is_int(arg_type(inst, 0)));
      case Op::Select:
        args_are({Type::I32, t, t});
        return result_is(true);
      case Op::MemBase:
      case Op::RefFunc:
        return result_is(t == Type::I64);
      case Op::BoundsCheck:
      case Op::CountWay:
        return args_are({Type::I32});
      case Op::Load:
        args_are({Type::I64, Type::I32});
        expect(is_int(t) || inst.aux == 0, id, "extends what is no integer");
        return result_is(access_bytes(static_cast<Access>(inst.aux), t) <= bytes_of(t));
      case Op::Store:
        return args_are({Type::I64, Type::I32, arg_type(inst, 2)});
      case Op::MemorySize:
      case Op::TableSize:
        return result_is(t == Type::I32);
      case Op::GlobalGet:
        return result_is(t != Type::None);
      case Op::TableGet:
        args_are({Type::I32});
        return result_is(t == Type::I64);
      case Op::TableSet:
        return args_are({Type::I32, Type::I64});
      case Op::CheckInterrupt:
      case Op::GlobalSet:
      case Op::Call:
      case Op::CallIndirect:
      case Op::CallHelper:
      case Op::Jump:
      case Op::Trap:
      case Op::Return:
        return;
      case Op::Branch:
      case Op::BrTable:
        return args_are({Type::I32});
      default:  // arithmetic: one type throughout
        args_are_all(id, t);
        return result_is(t != Type::None && t != Type::V128);
    }
  }

  void args_are_all(InstId id, Type type) {
    for (uint32_t i = 0; i < f_.inst(id).arg_count; ++i) {
      expect(arg_type(f_.inst(id), i) == type, id, "has an argument of the wrong type");
    }
  }

  void check_terminator(BlockId id) {
    const Block& block = f_.block(id);
    const Inst& inst = f_.inst(block.last);
    const size_t count = block.succs.size();
    switch (inst.op) {
      case Op::Jump:
        expect(count == 1, block.last, "needs one successor");
        return;
      case Op::Branch:
        expect(count == 2, block.last, "needs two successors");
        return;
      case Op::BrTable:
        expect(count >= 1, block.last, "needs a successor");
        return;
      case Op::Return:
        expect(count == 0, block.last, "has a successor");
        if (f_.type != nullptr) check_return(block.last);
        return;
      default:
        expect(count == 0, block.last, "has a successor");
    }
  }

  void check_return(InstId id) {
    const std::vector<ValueType>& results = f_.type->results;
    const std::span<const Value> args = f_.args(f_.inst(id));
    if (!expect(args.size() == results.size(), id, "returns the wrong number of values")) return;
    for (size_t i = 0; i < args.size(); ++i) {
      expect(f_.type_of(args[i]) == type_of(results[i]), id, "returns a value of the wrong type");
    }
  }

  const IrFunction& f_;
  const VerifyOptions& options_;
  std::string message_;
  ReversePostorder order_;
  Dominators dominators_;
  std::vector<uint32_t> place_;
  std::vector<uint32_t> incoming_;
};

}  // namespace

std::string verify(const IrFunction& function, const VerifyOptions& options) {
  return Verifier(function, options).run();
}

}  // namespace wago::codegen
