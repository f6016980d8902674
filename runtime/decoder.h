// The module decoder, inside decode_module(): one pass over the sections, each checked for form and for
// validity as it is read, since everything a section refers to precedes it. The first error therefore has the
// lowest offset.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "runtime/byte_cursor.h"
#include "runtime/decode_errors.h"
#include "runtime/module.h"

namespace wago::runtime {

class Decoder {
 public:
  Decoder(Module& module, const DecodeOptions& options, DecodeErrors& errors)
      : module_(module), options_(options), errors_(errors) {}

  bool run();

 private:
  // decode.cc
  void number_references();
  bool header(CheckedCursor& in);
  bool section(CheckedCursor& in);
  bool in_order(uint32_t at, uint8_t id);
  bool section_contents(uint8_t id, CheckedCursor& in);
  bool custom_section(CheckedCursor& in);
  bool missing_sections(uint32_t at);

  // decode_sections.cc
  bool type_section(CheckedCursor& in);
  bool import_section(CheckedCursor& in);
  bool function_section(CheckedCursor& in);
  bool table_section(CheckedCursor& in);
  bool memory_section(CheckedCursor& in);
  bool global_section(CheckedCursor& in);
  bool export_section(CheckedCursor& in);
  bool start_section(CheckedCursor& in);
  bool function_type(CheckedCursor& in, FuncType& type);
  bool value_types(CheckedCursor& in, std::vector<ValueType>& types, std::string_view what, uint32_t limit);
  bool import(CheckedCursor& in, Import& import);
  bool type_index(CheckedCursor& in, uint32_t& index);
  bool limits(CheckedCursor& in, Limits& limits);
  bool table_type(CheckedCursor& in, TableType& type);
  bool memory_type(CheckedCursor& in, MemoryType& type);
  bool global_type(CheckedCursor& in, GlobalType& type);
  bool function_limit(uint32_t at, uint64_t count);
  bool memory_limit(uint32_t at, uint64_t count);
  bool export_exists(uint32_t at, const Export& entry);
  bool sort_exports(const std::vector<uint32_t>& name_offsets);

  // decode_segments.cc
  bool element_section(CheckedCursor& in);
  bool code_section(CheckedCursor& in);
  bool data_section(CheckedCursor& in);
  bool data_count_section(CheckedCursor& in);
  bool element_segment(CheckedCursor& in, ElementSegment& segment);
  bool element_items(CheckedCursor& in, ElementSegment& segment, bool expressions);
  bool data_segment(CheckedCursor& in, DataSegment& segment);
  bool body(CheckedCursor& in, FunctionBody& body);
  bool locals(CheckedCursor& in, FunctionBody& body);
  bool constant(CheckedCursor& in, ValueType type, ConstExpr& constant);
  bool constant_instruction(uint32_t at, const Instruction& instruction, ConstExpr& constant);
  bool function_index(uint32_t at, uint32_t index);
  void declare(uint32_t function);

  // A vector's length. Refused as "too many <what>" if with `already` it exceeds `limit`. The second makes
  // room in `to` for what the remaining bytes can hold at most, never for what is only announced.
  bool count(CheckedCursor& in, std::string_view what, uint64_t already, uint64_t limit, uint32_t& count);
  template <class T>
  bool count(CheckedCursor& in, std::string_view what, uint64_t already, uint64_t limit, uint32_t least_bytes,
             std::vector<T>& to, uint32_t& count);

  Module& module_;
  const DecodeOptions& options_;
  DecodeErrors& errors_;

  int last_rank_ = 0;  // of the sections so far, see in_order()
  bool has_data_ = false;
  std::optional<uint32_t> data_count_;
  std::vector<bool> declared_;    // functions that ref.func in a body may name
  uint64_t element_items_ = 0;    // of all segments so far
  uint64_t declared_locals_ = 0;  // of all functions so far
  std::vector<ValueType> constant_stack_;
  std::optional<CustomSection> names_;  // the first custom section called "name"
};

template <class T>
bool Decoder::count(CheckedCursor& in, std::string_view what, uint64_t already, uint64_t limit,
                    uint32_t least_bytes, std::vector<T>& to, uint32_t& count) {
  if (!this->count(in, what, already, limit, count)) return false;
  const uint32_t possible = in.remaining() / least_bytes;
  to.reserve(to.size() + (count < possible ? count : possible));
  return true;
}

// Reads the name section at [begin, end) into the module's names, as far as it can be read (decode_names.cc).
void read_names(Module& module, uint32_t begin, uint32_t end);

}  // namespace wago::runtime
