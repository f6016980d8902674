// Straight from the bytes, with a stack of values and a stack of labels, nothing learnt in advance but where
// constructs end. Slow and plain on purpose.
#include <array>
#include <map>
#include <optional>

#include "codegen/build/lowering.h"
#include "codegen/ir/evaluate.h"
#include "codegen/testing/machine.h"
#include "runtime/abi.h"
#include "runtime/code_reader.h"

namespace wago::codegen::testing {

namespace {

using runtime::Instruction;
using runtime::Opcode;

class WasmInterpreter {
 public:
  WasmInterpreter(const runtime::Module& module, uint32_t body, Machine& machine)
      : module_(module),
        body_(module.bodies[body]),
        function_(module.imported_functions + body),
        m_(machine) {
    read();
  }

  Outcome run(std::span<const uint64_t> args) {
    const FuncType& type = module_.types[body_.type_index];
    locals_.assign(args.begin(), args.end());
    locals_.resize(type.params.size() + body_.locals.size(), 0);
    labels_.push_back({code_.size() - 1, 0, type.results.size(), false});
    while (at_ < code_.size()) {
      if (m_.fuel == 0) return {Outcome::Kind::OutOfFuel, base::TrapCode::Unreachable, {}};
      --m_.fuel;
      const Instruction& instruction = code_[at_++];
      const bool is_delimiter = instruction.opcode == Opcode::Else || instruction.opcode == Opcode::End;
      if (m_.executed != nullptr && !is_delimiter) ++(*m_.executed)[{function_, instruction.pc}];
      if (const auto trap = execute(instruction)) return {Outcome::Kind::Trapped, *trap, {}};
      if (ended_) return *ended_;
    }
    Outcome outcome;
    outcome.values.assign(stack_.end() - static_cast<ptrdiff_t>(type.results.size()), stack_.end());
    return outcome;
  }

 private:
  using MaybeTrap = std::optional<base::TrapCode>;
  struct Label {
    size_t target;  // index in code_ to go on at
    size_t height;
    size_t arity;
    bool is_loop;
  };

  void read() {
    std::vector<size_t> open;
    runtime::BodyReader reader = runtime::read_body(module_, body_);
    for (Instruction instruction; !reader.at_end();) {
      reader.next(instruction);
      const size_t index = code_.size();
      code_.push_back(instruction);
      switch (instruction.opcode) {
        case Opcode::Block:
        case Opcode::Loop:
        case Opcode::If:
          open.push_back(index);
          break;
        case Opcode::Else:
          else_of_[open.back()] = index;
          break;
        case Opcode::End:
          if (open.empty()) break;
          end_of_[open.back()] = index;
          if (else_of_.count(open.back()) != 0) end_of_[else_of_[open.back()]] = index;
          open.pop_back();
          break;
        default:
          break;
      }
    }
  }

  uint64_t pop() {
    const uint64_t value = stack_.back();
    stack_.pop_back();
    return value;
  }
  uint32_t pop32() { return static_cast<uint32_t>(pop()); }
  void push(uint64_t bits) { stack_.push_back(bits); }
  void push(Type type, uint64_t bits) { push(bytes_of(type) == 4 ? static_cast<uint32_t>(bits) : bits); }

  void branch(uint32_t depth) {
    labels_.resize(labels_.size() - depth);
    const Label label = labels_.back();
    stack_.erase(stack_.begin() + static_cast<ptrdiff_t>(label.height),
                 stack_.end() - static_cast<ptrdiff_t>(label.arity));
    at_ = label.target;
    // A loop's label stays: what comes next is its body. Others are left through their end.
  }

  void enter(const Instruction& instruction, size_t index) {
    const size_t params = instruction.block.params(module_).size();
    const bool is_loop = instruction.opcode == Opcode::Loop;
    labels_.push_back({is_loop ? index + 1 : end_of_[index], stack_.size() - params,
                       is_loop ? params : instruction.block.results(module_).size(), is_loop});
  }

  MaybeTrap execute(const Instruction& instruction) {
    const size_t index = at_ - 1;
    const Lowering& row = kLowerings[static_cast<size_t>(instruction.opcode)];
    if (row.kind != Lowering::Kind::Other) return execute_row(row, instruction);
    switch (instruction.opcode) {
      case Opcode::Block:
      case Opcode::Loop:
        enter(instruction, index);
        return {};
      case Opcode::If: {
        const bool taken = pop32() != 0;
        enter(instruction, index);
        if (!taken) at_ = else_of_.count(index) != 0 ? else_of_[index] + 1 : end_of_[index];
        return {};
      }
      case Opcode::Else:
        at_ = end_of_[index];
        return {};
      case Opcode::End:
        labels_.pop_back();
        return {};
      case Opcode::Br:
        branch(instruction.a);
        return {};
      case Opcode::BrIf:
        if (pop32() != 0) branch(instruction.a);
        return {};
      case Opcode::BrTable: {
        const uint32_t chosen = std::min(pop32(), instruction.a);
        runtime::Labels labels(instruction);
        uint32_t depth = labels.next();
        for (uint32_t i = 0; i < chosen; ++i) depth = labels.next();
        branch(depth);
        return {};
      }
      case Opcode::Return:
        branch(static_cast<uint32_t>(labels_.size()) - 1);
        return {};
      case Opcode::Unreachable:
        return base::TrapCode::Unreachable;
      case Opcode::Nop:
        return {};
      case Opcode::Drop:
        pop();
        return {};
      case Opcode::Select:
      case Opcode::SelectTyped: {
        const uint32_t condition = pop32();
        const uint64_t if_zero = pop();
        if (condition == 0) stack_.back() = if_zero;
        return {};
      }
      case Opcode::LocalGet:
        push(locals_[instruction.a]);
        return {};
      case Opcode::LocalSet:
        locals_[instruction.a] = pop();
        return {};
      case Opcode::LocalTee:
        locals_[instruction.a] = stack_.back();
        return {};
      case Opcode::I32Const:
      case Opcode::I64Const:
      case Opcode::F32Const:
      case Opcode::F64Const:
        push(instruction.bits[0]);
        return {};
      case Opcode::GlobalGet:
        push(m_.globals[instruction.a]);
        return {};
      case Opcode::GlobalSet:
        m_.globals[instruction.a] = pop();
        return {};
      case Opcode::MemorySize:
        push(m_.memory.size() / kPageBytes);
        return {};
      case Opcode::RefNull:
        push(0);
        return {};
      case Opcode::RefIsNull:
        push(pop() == 0);
        return {};
      case Opcode::RefFunc:
        push(instruction.a + 1);
        return {};
      case Opcode::TableSize:
        push(Machine::kTableEntries);
        return {};
      case Opcode::TableGet: {
        const uint32_t at = pop32();
        if (at >= Machine::kTableEntries) return base::TrapCode::TableOutOfBounds;
        push(m_.tables[instruction.a & 1][at]);
        return {};
      }
      case Opcode::TableSet: {
        const uint64_t reference = pop();
        const uint32_t at = pop32();
        if (at >= Machine::kTableEntries) return base::TrapCode::TableOutOfBounds;
        m_.tables[instruction.a & 1][at] = reference;
        return {};
      }
      case Opcode::Call:
        call(Op::Call, instruction.a, module_.type_of_function(instruction.a), 0);
        return {};
      case Opcode::CallIndirect:
        call(Op::CallIndirect, uint64_t{instruction.a} << 32 | instruction.b, module_.types[instruction.a],
             1);
        return {};
      case Opcode::MemoryFill:
        helper(runtime::Helper::MemoryFill, 3);
        return {};
      case Opcode::MemoryCopy:
        helper(runtime::Helper::MemoryCopy, 3);
        return {};
      case Opcode::MemoryGrow:
        helper(runtime::Helper::MemoryGrow, 1, std::array{Type::I32});
        return {};
      default:
        WAGO_UNREACHABLE(runtime::to_string(instruction.opcode));
    }
  }

  MaybeTrap execute_row(const Lowering& row, const Instruction& instruction) {
    if (row.kind == Lowering::Kind::Compute) {
      uint64_t args[3] = {0, 0, 0};
      for (uint32_t i = row.args; i-- > 0;) args[i] = pop();
      const Type arg_type = type_of(runtime::info(instruction.opcode).param[0]);
      const Evaluation e = evaluate(row.op, row.type, arg_type, row.aux, args);
      WAGO_CHECK(e.kind != Evaluation::Kind::Unknown);
      if (e.kind == Evaluation::Kind::Trap) return e.trap;
      push(row.type, e.bits);
      return {};
    }
    const Access access = static_cast<Access>(row.aux);
    const uint64_t value = row.kind == Lowering::Kind::Store ? pop() : 0;
    const uint64_t address = pop32() + instruction.bits[0];
    if (!m_.in_bounds(address, access_bytes(access, row.type))) return base::TrapCode::MemoryOutOfBounds;
    if (row.kind == Lowering::Kind::Store) {
      m_.store(address, access, row.type, value);
    } else {
      push(m_.load(address, access, row.type));
    }
    return {};
  }

  // Pops the arguments, pushes the results. A callee that does not return ends this function, too.
  void call(Op op, uint64_t imm, std::span<const Type> results, size_t arg_count) {
    const std::vector<uint64_t> args(stack_.end() - static_cast<ptrdiff_t>(arg_count), stack_.end());
    stack_.resize(stack_.size() - arg_count);
    Outcome outcome = testing::call(op, imm, results, args, m_);
    if (outcome.kind != Outcome::Kind::Returned) ended_ = outcome;
    stack_.insert(stack_.end(), outcome.values.begin(), outcome.values.end());
  }
  void call(Op op, uint64_t imm, const FuncType& type, size_t more_args) {
    std::vector<Type> results;
    for (const ValueType result : type.results) results.push_back(type_of(result));
    call(op, imm, results, type.params.size() + more_args);
  }
  void helper(runtime::Helper which, size_t args, std::span<const Type> results = {}) {
    call(Op::CallHelper, static_cast<uint64_t>(which), results, args);
  }

  const runtime::Module& module_;
  const runtime::FunctionBody& body_;
  uint32_t function_;
  Machine& m_;
  std::vector<Instruction> code_;
  std::map<size_t, size_t> end_of_, else_of_;  // of block, loop, if and else
  size_t at_ = 0;
  std::vector<uint64_t> stack_;
  std::vector<uint64_t> locals_;
  std::vector<Label> labels_;
  std::optional<Outcome> ended_;
};

}  // namespace

Outcome interpret_wasm(const runtime::Module& module, uint32_t body, std::span<const uint64_t> args,
                       Machine& machine) {
  return WasmInterpreter(module, body, machine).run(args);
}

}  // namespace wago::codegen::testing
