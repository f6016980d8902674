// Every way a module can be refused, one method each: so that the wording, which is the official test suite's
// followed by the facts, is written once. The object knows the section and the function being read; callers
// give the module offset. The first error reported is kept, later ones are ignored; every method returns
// false, so that `return errors.unknown_type(...)` reads as what it does.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "runtime/opcodes.h"
#include "runtime/types.h"

namespace wago::runtime {

class DecodeErrors {
 public:
  bool any() const { return error_.has_value(); }
  uint64_t offset() const { return *error_->place.offset; }  // of the error
  base::Error take() { return std::move(*error_); }
  // Takes the place of what was reported, since its offset is lower: bodies are validated after they are
  // split.
  bool replace(base::Error error);

  void enter_section(std::string_view name) { section_ = name; }  // the name must outlive the object
  void enter_function(uint32_t index) { function_ = index; }
  void leave_function() { function_.reset(); }

  // --- malformed: bytes that do not follow the grammar
  bool module_empty();
  bool magic_missing(uint64_t at);
  bool unknown_version(uint64_t at, uint32_t version);
  bool unexpected_end(uint64_t at);
  bool integer_too_long(uint64_t at, uint32_t bits);
  bool integer_too_large(uint64_t at, uint32_t bits);
  bool length_out_of_bounds(uint64_t at, uint64_t length, uint64_t available);
  bool name_missing(uint64_t at);
  bool malformed_utf8(uint64_t at, std::string_view what);
  bool malformed_section_id(uint64_t at, uint8_t id);
  bool section_out_of_order(uint64_t at, std::string_view name, bool repeated);
  bool section_size_mismatch(uint64_t at, uint64_t left_over);
  bool body_size_mismatch(uint64_t at, uint64_t left_over);
  // An expression ran into its end; `following` is the module's next byte, if there is one.
  bool end_missing(uint64_t at, std::optional<uint8_t> following);
  bool misplaced_else(uint64_t at);
  bool inconsistent_code_count(uint64_t at, uint64_t functions, uint64_t bodies);
  bool inconsistent_data_count(uint64_t at, uint64_t announced, uint64_t segments);
  bool data_count_required(uint64_t at, uint32_t segment);
  bool malformed_value_type(uint64_t at, uint8_t byte);
  bool malformed_reference_type(uint64_t at, uint8_t byte);
  bool malformed_function_type(uint64_t at, uint8_t byte);
  bool malformed_block_type(uint64_t at, int64_t code);
  bool malformed_import_kind(uint64_t at, uint8_t byte);
  bool malformed_export_kind(uint64_t at, uint8_t byte);
  bool malformed_element_kind(uint64_t at, uint8_t byte);
  bool malformed_element_flags(uint64_t at, uint32_t flags);
  bool malformed_data_flags(uint64_t at, uint32_t flags);
  bool malformed_mutability(uint64_t at, uint8_t byte);
  bool malformed_limits(uint64_t at, uint8_t flags);
  bool malformed_alignment(uint64_t at, uint32_t alignment);
  bool zero_byte_expected(uint64_t at, uint8_t byte);
  bool illegal_opcode(uint64_t at, uint32_t prefix, uint32_t number);  // prefix 0: a single byte
  bool unsupported(uint64_t at, Opcode opcode);

  // --- beyond a limit
  // "too many <what>: 3, the limit is 2<cure>"
  bool over_limit(uint64_t at, std::string_view what, uint64_t count, uint64_t limit,
                  std::string_view cure = "");

  // --- invalid: the grammar is followed, the rules of section 3 of the specification are not
  bool unknown(uint64_t at, std::string_view what, uint32_t index,
               uint64_t count);  // "unknown <what> <index>"
  bool unknown_label(uint64_t at, uint32_t depth, uint64_t nested);
  bool duplicate_export(uint64_t at, std::string_view name);
  bool multiple_memories(uint64_t at, uint64_t count);
  bool memory_too_large(uint64_t at, uint32_t pages);
  bool minimum_above_maximum(uint64_t at, uint32_t minimum, uint32_t maximum);
  bool start_function_type(uint64_t at, uint32_t function, const FuncType& type);
  bool constant_required(uint64_t at, Opcode opcode);
  bool constant_required_mutable(uint64_t at, uint32_t global);
  bool constant_type(uint64_t at, ValueType wanted, std::span<const ValueType> found);
  bool segment_type(uint64_t at, ValueType segment, uint32_t table, ValueType element);
  bool undeclared_reference(uint64_t at, uint32_t function);
  bool global_immutable(uint64_t at, uint32_t global);
  bool alignment_too_large(uint64_t at, Opcode opcode, uint32_t alignment);
  bool lane_out_of_range(uint64_t at, Opcode opcode, uint32_t lane);
  bool result_arity(uint64_t at, uint32_t count);

  // "type mismatch": `subject` is the instruction or construct, "i32.add" or "end of block".
  bool operand_type(uint64_t at, std::string_view subject, std::string_view wanted, ValueType found);
  bool operand_missing(uint64_t at, std::string_view subject, std::string_view wanted);
  bool operands_left(uint64_t at, std::string_view subject, uint64_t extra);
  bool if_without_else(uint64_t at);
  bool branch_arity(uint64_t at, uint64_t arity, uint64_t default_arity);
  bool table_types_differ(uint64_t at, std::string_view subject, ValueType destination, ValueType source);
  bool table_not_functions(uint64_t at, uint32_t table);

 private:
  bool report(uint64_t at, std::string message);

  std::string_view section_;
  std::optional<uint32_t> function_;
  std::optional<base::Error> error_;
};

}  // namespace wago::runtime
