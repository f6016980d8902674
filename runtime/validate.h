// Validation of function bodies: the algorithm of the specification's appendix over an operand stack of one
// byte per value. Needs everything of the module that precedes the code section; reads it only, so that
// bodies validate in parallel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/byte_cursor.h"
#include "runtime/decode_errors.h"
#include "runtime/module.h"

namespace wago::runtime {

// What bodies may refer to beyond what Module keeps.
struct BodyContext {
  const Module* module = nullptr;
  std::optional<uint32_t> data_count;           // of the data count section
  const std::vector<bool>* declared = nullptr;  // functions that ref.func may name
};

// Validates the module's first `count` bodies and fills their max_stack, max_control and calls. The error of
// the lowest offset, or nothing.
std::optional<base::Error> validate_bodies(Module& module, const BodyContext& context, size_t count,
                                           unsigned workers);

// Validates one body after another; keeps its stacks between them.
class FunctionValidator {
 public:
  explicit FunctionValidator(const BodyContext& context) : module_(*context.module), context_(context) {}

  // `function` is in the function index space.
  bool validate(uint32_t function, FunctionBody& body, DecodeErrors& errors);

 private:
  // An operand's type as its byte; kUnknown stands for a value that unreachable code only pretends to have.
  using Operand = uint8_t;
  static constexpr Operand kUnknown = 0;
  static Operand operand(ValueType type) { return static_cast<Operand>(type); }

  struct Frame {
    Opcode opcode = Opcode::Block;  // Block, Loop, If, Else; the function's own frame is a Block
    bool unreachable = false;
    uint32_t height = 0;  // operands below belong to outer blocks
    BlockType type;
  };
  using Types = std::span<const ValueType>;

  bool begin(uint32_t function, const FunctionBody& body);
  bool step(const Instruction& instruction);
  bool special(const Instruction& instruction);
  bool check_entities(const Instruction& instruction, Immediate immediate);

  bool memory_access(const Instruction& instruction);
  bool lane(const Instruction& instruction, uint64_t index);

  bool block(const Instruction& instruction);
  bool else_();
  bool end();
  bool branch_table(const Instruction& instruction);
  bool branch_if(uint32_t depth);
  bool call(const FuncType& type);
  bool call_indirect(const Instruction& instruction);
  bool select();
  bool local(const Instruction& instruction);
  bool global(const Instruction& instruction);
  bool table(const Instruction& instruction);
  bool is_null();
  bool reference(uint32_t function);

  bool push(ValueType type);
  bool push_operand(Operand operand);
  bool push_all(Types types);
  bool pop(ValueType wanted);
  bool pop_any(Operand& found, std::string_view wanted);
  bool pop_all(Types types);
  bool has_all(Types types) const;  // on top, each known and right
  bool match_all(Types types);      // as pop_all, but leaves them
  bool has_all_or_pretends(Types types) const;
  bool push_frame(Opcode opcode, BlockType type);
  bool end_frame(std::string_view subject);
  bool frame_empty() const { return stack_size_ == frames_.back().height; }
  void unreachable();
  bool grow(size_t more);

  bool check_label(uint32_t depth);
  Types label_types(uint32_t depth) const;
  bool known_table(uint32_t index);
  bool known_memory(uint32_t index);
  bool known_data(uint32_t index);
  bool known_element(uint32_t index);
  bool known_type(uint32_t index);
  std::string_view subject() const { return subject_.empty() ? to_string(opcode_) : subject_; }

  const Module& module_;
  BodyContext context_;
  DecodeErrors* errors_ = nullptr;

  uint32_t at_ = 0;              // module offset of the current instruction
  Opcode opcode_ = Opcode::Nop;  // and what it is, for messages
  std::string_view subject_;     // instead of the opcode's name, while not empty
  bool finished_ = false;        // the last end was read
  bool calls_ = false;
  std::vector<Operand> locals_;  // parameters and locals
  std::vector<Operand> stack_;   // stack_size_ of them count
  size_t stack_size_ = 0;
  size_t max_stack_ = 0;
  size_t max_control_ = 0;
  std::vector<Frame> frames_;
};

}  // namespace wago::runtime
