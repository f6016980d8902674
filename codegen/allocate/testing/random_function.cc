#include "codegen/allocate/testing/random_function.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "codegen/allocate/testing/mach_builder.h"

namespace wago::codegen::testing {

namespace {

class Generator {
 public:
  Generator(uint64_t seed, const RandomShape& shape, MachFunction& function)
      : random_(seed), shape_(shape), build_(function), budget_(static_cast<int>(shape.statements)) {}

  void run() {
    build_.start_block();
    Reg arguments[] = {build_.gpr(8), build_.gpr(4),  build_.xmm(8),
                       build_.xmm(4), build_.xmm(16), build_.gpr(8)};
    build_.moves({{arguments[0], kRdi},
                  {arguments[1], kRsi},
                  {arguments[2], Reg::xmm(0)},
                  {arguments[3], Reg::xmm(1)},
                  {arguments[4], Reg::xmm(2)},
                  {arguments[5], kContextReg}});
    values_.assign(std::begin(arguments), std::end(arguments));
    while (budget_ > 0) sequence(0);
    build_.ret({any(RegClass::Gpr, 8), any(RegClass::Xmm, 8)});
    build_.finish();
    if (shape_.shuffle_layout) shuffle();
  }

 private:
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  bool percent(uint32_t p) { return below(100) < p; }

  // A value in scope of this class and size, preferably recent or long-lived but not only.
  Reg any(RegClass cls, uint8_t bytes) {
    std::vector<Reg> matching;
    for (Reg value : values_) {
      const VRegInfo& info = build_.function().vregs[value.index()];
      if (info.cls == cls && info.bytes == bytes) matching.push_back(value);
    }
    if (matching.size() > shape_.live_values + 2)
      matching.erase(matching.begin() + 2, matching.end() - shape_.live_values);
    return matching[below(static_cast<uint32_t>(matching.size()))];
  }
  Reg any_gpr() { return any(RegClass::Gpr, 8); }

  struct Kind {
    RegClass cls;
    uint8_t bytes;
  };
  Kind any_kind() {
    static constexpr Kind kKinds[] = {{RegClass::Gpr, 8}, {RegClass::Gpr, 8}, {RegClass::Gpr, 4},
                                      {RegClass::Xmm, 8}, {RegClass::Xmm, 4}, {RegClass::Xmm, 16}};
    return kKinds[below(std::size(kKinds))];
  }

  // A new value, or now and then an old one to be defined anew.
  Reg target(Kind kind) {
    if (percent(15)) {
      Reg old = any(kind.cls, kind.bytes);
      if (build_.function().vregs[old.index()].rematerialize == ~0u) return old;
    }
    return build_.vreg(kind.cls, kind.bytes);
  }
  void defined(Reg value) {
    if (std::find(values_.begin(), values_.end(), value) == values_.end()) values_.push_back(value);
  }

  void sequence(uint32_t depth) {
    uint32_t length = 1 + below(8);
    for (uint32_t k = 0; k < length && budget_ > 0; ++k) {
      --budget_;
      if (depth < shape_.max_depth && percent(12))
        structured(depth);
      else
        statement();
    }
  }

  void statement() {
    if (percent(shape_.call_percent)) return call();
    switch (below(11)) {
      case 0:
      case 1:
        return arithmetic();
      case 2:
        return three_operands();
      case 3:
        return division();
      case 4:
        return shift();
      case 5:
        return memory();
      case 6:
        return constant();
      case 7:
        return some_moves();
      case 8:
        return trap_check();
      case 9:
        return undefined();
      default:
        return arithmetic();
    }
  }

  void arithmetic() {
    Kind kind = any_kind();
    Reg a = any(kind.cls, kind.bytes), b = any(kind.cls, kind.bytes), to = target(kind);
    if (kind.cls == RegClass::Gpr) {
      // Copied to first; it must not be the other operand as well.
      if (to == b) std::swap(a, b);
      if (to == b) return;
      build_.binary(kind.bytes == 4 ? x64::Op::ADD32rr : x64::Op::ADD64rr, to, a, b);
    } else {
      build_.inst(kind.bytes == 4   ? x64::Op::VADDSSrr
                  : kind.bytes == 8 ? x64::Op::VADDSDrr
                                    : x64::Op::VXORPSrr,
                  {MachBuilder::def(to), MachBuilder::use(a), MachBuilder::use(b)});
    }
    defined(to);
  }

  void three_operands() {
    Reg base = any_gpr(), index = any_gpr(), to = target({RegClass::Gpr, 8});
    build_.inst(x64::Op::LEA64r, {MachBuilder::def(to), MachBuilder::use(base), MachBuilder::imm(4),
                                  MachBuilder::use(index), MachBuilder::imm(12), MachBuilder::none()});
    defined(to);
  }

  void division() {
    Reg low = any(RegClass::Gpr, 4), high = any(RegClass::Gpr, 4), divisor = any(RegClass::Gpr, 4);
    Reg quotient = target({RegClass::Gpr, 4}), remainder = build_.gpr(4);
    build_.moves({{kRax, low}, {kRdx, high}});
    build_.inst(
        x64::Op::DIV32r, {MachBuilder::use(divisor)},
        {MachBuilder::use(kRax), MachBuilder::use(kRdx), MachBuilder::def(kRax), MachBuilder::def(kRdx)});
    if (percent(50)) {
      build_.copy(quotient, kRax);
      defined(quotient);
    } else {
      build_.moves({{quotient, kRax}, {remainder, kRdx}});
      defined(quotient);
      defined(remainder);
    }
  }

  void shift() {
    Reg value = any_gpr(), count = any_gpr(), to = target({RegClass::Gpr, 8});
    if (to == count) return;
    build_.copy(to, value);
    build_.copy(kRcx, count);
    build_.inst(x64::Op::SHL64rCL, {MachBuilder::def(to), MachBuilder::use(to)}, {MachBuilder::use(kRcx)});
    defined(to);
  }

  void memory() {
    Kind kind = any_kind();
    bool gpr = kind.cls == RegClass::Gpr;
    if (percent(50)) {
      Reg to = target(kind);
      build_.load(gpr ? (kind.bytes == 4 ? x64::Op::MOV32rm : x64::Op::MOV64rm)
                      : (kind.bytes == 4   ? x64::Op::VMOVSSrm
                         : kind.bytes == 8 ? x64::Op::VMOVSDrm
                                           : x64::Op::VMOVUPSrm),
                  to, any_gpr());
      defined(to);
    } else {
      build_.store(gpr ? (kind.bytes == 4 ? x64::Op::MOV32mr : x64::Op::MOV64mr)
                       : (kind.bytes == 4   ? x64::Op::VMOVSSmr
                          : kind.bytes == 8 ? x64::Op::VMOVSDmr
                                            : x64::Op::VMOVUPSmr),
                   any_gpr(), any(kind.cls, kind.bytes));
    }
  }

  void constant() {
    Reg to = build_.gpr(percent(50) ? 4 : 8);
    build_.load_constant(to, static_cast<int32_t>(below(1000)));
    defined(to);
  }

  // Any permutation or selection among values, all at once.
  void some_moves() {
    std::vector<RegMove> pairs;
    uint32_t count = 1 + below(6);
    for (uint32_t k = 0; k < count; ++k) {
      Kind kind = any_kind();
      Reg from = any(kind.cls, kind.bytes);
      Reg to = percent(60) ? any(kind.cls, kind.bytes) : build_.vreg(kind.cls, kind.bytes);
      bool taken =
          std::any_of(pairs.begin(), pairs.end(), [to](const RegMove& pair) { return pair.to == to; });
      if (!taken && build_.function().vregs[to.index()].rematerialize == ~0u) pairs.push_back({to, from});
    }
    build_.moves(pairs);
    for (const RegMove& pair : pairs) defined(pair.to);
  }

  void trap_check() {
    build_.compare(any_gpr(), any_gpr());
    build_.inst(x64::Op::JCC_1, {{MachOperand::Kind::TrapStub, false, 1}, MachBuilder::imm(2)});
  }

  void undefined() {
    Kind kind = any_kind();
    Reg to = build_.vreg(kind.cls, kind.bytes);
    build_.inst(x64::Op::Undef, {MachBuilder::def(to)});
    // Nothing may depend on its value, or traces could differ; define it properly on one path of a branch.
    build_.copy(to, any(kind.cls, kind.bytes));
    defined(to);
  }

  void call() {
    std::vector<Reg> arguments, results;
    uint32_t count = below(7);
    for (uint32_t k = 0; k < count; ++k) {
      Kind kind = any_kind();
      arguments.push_back(any(kind.cls, kind.bytes));
    }
    while (std::count_if(arguments.begin(), arguments.end(), [&](Reg reg) {
             return build_.function().vregs[reg.index()].cls == RegClass::Gpr;
           }) > 6)
      arguments.pop_back();
    if (percent(70)) results.push_back(target({RegClass::Gpr, 8}));
    if (percent(30)) results.push_back(target({RegClass::Xmm, 8}));
    build_.call(arguments, results, percent(70) ? kGuestCallClobbers : kHelperCallClobbers);
    for (Reg result : results) defined(result);
  }

  void structured(uint32_t depth) {
    switch (below(4)) {
      case 0:
      case 1:
        return branch(depth);
      case 2:
        return loop(depth);
      default:
        return jump_table(depth);
    }
  }

  // What a join takes from each of its predecessors.
  std::vector<Reg> join_parameters() {
    std::vector<Reg> parameters;
    for (uint32_t k = below(4); k > 0; --k) {
      Kind kind = any_kind();
      parameters.push_back(build_.vreg(kind.cls, kind.bytes));
    }
    return parameters;
  }
  void pass(const std::vector<Reg>& parameters) {
    std::vector<RegMove> pairs;
    for (Reg parameter : parameters) {
      const VRegInfo& info = build_.function().vregs[parameter.index()];
      pairs.push_back({parameter, any(info.cls, info.bytes)});
    }
    build_.moves(pairs);
  }

  // An instruction whose Block operand is not known yet.
  size_t open_jump() {
    build_.jump(0);
    return build_.function().operands.size() - 1;
  }
  void close_jump(size_t operand, uint32_t target) {
    build_.function().operands[operand].value = static_cast<int32_t>(target);
  }
  std::pair<size_t, size_t> open_branch() {
    build_.compare(any_gpr(), any_gpr());
    build_.inst(x64::Op::JCC_1, {build_.block(0), MachBuilder::imm(static_cast<int32_t>(below(16)))});
    size_t taken = build_.function().operands.size() - 2;
    return {taken, open_jump()};
  }

  void branch(uint32_t depth) {
    std::vector<Reg> parameters = join_parameters();
    auto [taken, otherwise] = open_branch();
    std::vector<Reg> in_scope = values_;
    size_t exits[2];
    for (int arm = 0; arm < 2; ++arm) {
      close_jump(arm == 0 ? taken : otherwise, build_.start_block(loop_depth_));
      if (arm == 0 || percent(70)) sequence(depth + 1);
      pass(parameters);
      exits[arm] = open_jump();
      values_ = in_scope;
    }
    uint32_t join = build_.start_block(loop_depth_);
    for (size_t exit : exits) close_jump(exit, join);
    for (Reg parameter : parameters) defined(parameter);
  }

  // while or do-while, by chance.
  void loop(uint32_t depth) {
    std::vector<Reg> parameters = join_parameters();
    pass(parameters);
    size_t entry = open_jump();
    uint32_t header = build_.start_block(++loop_depth_, true);
    close_jump(entry, header);
    for (Reg parameter : parameters) defined(parameter);
    std::vector<Reg> in_scope = values_;
    size_t exit;
    if (percent(50)) {
      sequence(depth + 1);
      in_scope = values_;
      auto [out, on] = open_branch();
      exit = out;
      close_jump(on, build_.start_block(loop_depth_));
      sequence(depth + 1);
    } else {
      sequence(depth + 1);
      in_scope = values_;
      auto [back, out] = open_branch();
      exit = out;
      close_jump(back, build_.start_block(loop_depth_));
    }
    pass(parameters);
    build_.jump(header);
    values_ = in_scope;
    close_jump(exit, build_.start_block(--loop_depth_));
  }

  void jump_table(uint32_t depth) {
    std::vector<Reg> parameters = join_parameters();
    MachFunction& function = build_.function();
    uint32_t arms = 2 + below(4);
    // A range check first, as a br_table has it.
    build_.compare(any_gpr(), any_gpr());
    build_.inst(x64::Op::JCC_1, {build_.block(0), MachBuilder::imm(7)});
    size_t fallback = function.operands.size() - 2;
    uint32_t table = static_cast<uint32_t>(function.jump_tables.size());
    function.jump_tables.emplace_back();
    build_.inst(x64::Op::JMP64r, {MachBuilder::use(any_gpr())}).inline_site = table;
    std::vector<Reg> in_scope = values_;
    std::vector<size_t> exits;
    for (uint32_t arm = 0; arm < arms; ++arm) {
      uint32_t block = build_.start_block(loop_depth_);
      if (arm == 0)
        close_jump(fallback, block);
      else
        function.jump_tables[table].push_back(block);
      if (percent(50)) sequence(depth + 1);
      pass(parameters);
      exits.push_back(open_jump());
      values_ = in_scope;
    }
    uint32_t join = build_.start_block(loop_depth_);
    for (size_t exit : exits) close_jump(exit, join);
    for (Reg parameter : parameters) defined(parameter);
  }

  void shuffle() {
    MachFunction& function = build_.function();
    std::vector<uint32_t> order(function.block_count);
    std::iota(order.begin(), order.end(), 0u);
    std::shuffle(order.begin() + 1, order.end(), random_);
    std::vector<uint32_t> place(function.block_count);
    for (uint32_t k = 0; k < order.size(); ++k) place[order[k]] = k;
    std::vector<MachInst> insts;
    std::vector<MachBlock> blocks;
    std::vector<uint32_t> new_index(function.insts.size());
    for (uint32_t old : order) {
      MachBlock block = function.blocks[old];
      uint32_t begin = static_cast<uint32_t>(insts.size());
      for (uint32_t i = block.begin; i < block.end; ++i) {
        new_index[i] = static_cast<uint32_t>(insts.size());
        insts.push_back(function.insts[i]);
      }
      block.begin = begin;
      block.end = static_cast<uint32_t>(insts.size());
      for (uint32_t& s : block.succs) s = place[s];
      for (uint32_t& p : block.preds) p = place[p];
      blocks.push_back(block);
    }
    for (MachOperand& operand : function.operands) {
      if (operand.kind == MachOperand::Kind::Block)
        operand.value = static_cast<int32_t>(place[static_cast<uint32_t>(operand.value)]);
    }
    for (std::vector<uint32_t>& table : function.jump_tables) {
      for (uint32_t& target : table) target = place[target];
    }
    for (VRegInfo& info : function.vregs) {
      if (info.rematerialize != ~0u) info.rematerialize = new_index[info.rematerialize];
    }
    function.insts = std::move(insts);
    function.blocks = std::move(blocks);
  }

  std::mt19937_64 random_;
  RandomShape shape_;
  MachBuilder build_;
  int budget_;
  uint32_t loop_depth_ = 0;
  std::vector<Reg> values_;  // in scope
};

}  // namespace

void random_function(uint64_t seed, const RandomShape& shape, MachFunction& function) {
  Generator(seed, shape, function).run();
}

}  // namespace wago::codegen::testing
