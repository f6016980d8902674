#include "codegen/passes/count_ways.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <span>
#include <unordered_map>

namespace wago::codegen {

bool hides_ways(const IrFunction& function, BlockId block) {
  const std::vector<Edge>& succs = function.block(block).succs;
  const bool any = std::any_of(succs.begin(), succs.end(), [](const Edge& e) { return !e.executed.empty(); });
  if (!any) return false;
  std::unordered_map<uint32_t, RangeList> first_to;
  for (const Edge& edge : succs) {
    if (edge.args_count != 0) continue;
    const auto [first, is_first] = first_to.try_emplace(edge.target.index(), edge.executed);
    if (!is_first && !function.executed.equal(first->second, edge.executed)) return true;
  }
  return false;
}

namespace {

class Insertion {
 public:
  Insertion(IrFunction& function, BlockId block) : f_(function), last_(function.block(block).last) {}

  // The number of the edge that is taken.
  Value way() {
    const Inst& inst = f_.inst(last_);
    const Value condition = inst.inline_args[0];
    if (inst.op == Op::Branch) return add(Op::Ieqz, {repeated(condition)});
    const uint64_t highest = f_.block(inst.block).succs.size() - 1;
    const Value limit = add(Op::Iconst, {}, highest);
    const Value inside = add(Op::Icmp, {condition, limit}, 0, static_cast<uint8_t>(IntCond::LtU));
    return add(Op::Select, {inside, condition, limit});
  }
  // The condition once more, so that the branch stays its only user and is selected with it.
  Value repeated(Value condition) {
    const Inst* def = f_.def_of(condition);
    if (!def || info(def->op).flags != kPure || def->arg_count > 3 || def->result_count != 1)
      return condition;
    const Inst copied = *def;
    const std::span<const Value> args(copied.inline_args, copied.arg_count);
    return f_.inst(place(f_.new_inst(copied.op, copied.type, args, copied.imm, copied.aux))).result;
  }
  void count(Value way) { place(f_.new_inst(Op::CountWay, Type::None, std::array{way}, f_.ways.size())); }

 private:
  Value add(Op op, std::initializer_list<Value> args, uint64_t imm = 0, uint8_t aux = 0) {
    return f_.inst(place(f_.new_inst(op, Type::I32, std::span(args.begin(), args.size()), imm, aux))).result;
  }
  InstId place(InstId id) {
    f_.inst(id).wasm_pc = f_.inst(last_).wasm_pc;
    f_.inst(id).inline_site = f_.inst(last_).inline_site;
    f_.insert_before(last_, id);
    ++f_.counting_instructions;
    return id;
  }

  IrFunction& f_;
  InstId last_;
};

}  // namespace

void count_ways(IrFunction& function, BlockId block) {
  Insertion insertion(function, block);
  insertion.count(insertion.way());
  for (Edge& edge : function.block(block).succs) {
    function.ways.push_back(edge.executed);
    edge.executed = RangeList();
  }
}

}  // namespace wago::codegen
