// Element segments, code, data, and the constant expressions in them (sections 5.5.12 to 5.5.15).

#include <algorithm>

#include "runtime/decode_limits.h"
#include "runtime/decoder.h"
#include "runtime/validate.h"

namespace wago::runtime {

// --- constant expressions

bool Decoder::constant(CheckedCursor& in, ValueType type, ConstExpr& constant) {
  constant_stack_.clear();
  const uint32_t start = in.offset();
  CheckedBodyReader reader(in);
  for (Instruction instruction; !reader.at_end();) {
    const uint32_t at = reader.cursor().offset();
    if (!reader.next(instruction)) return false;
    if (instruction.opcode == Opcode::End) {
      if (constant_stack_.size() != 1 || constant_stack_[0] != type) {
        return errors_.constant_type(start, type, constant_stack_);
      }
      in = reader.cursor();
      return true;
    }
    if (!constant_instruction(at, instruction, constant)) return false;
    // More than one value is an error whatever they are, but one found only at the end.
    if (constant_stack_.size() < 2) constant_stack_.push_back(constant.type);
  }
  const uint32_t end = in.end_offset();
  return errors_.end_missing(end,
                             end < module_.bytes.size() ? std::optional(module_.bytes[end]) : std::nullopt);
}

bool Decoder::constant_instruction(uint32_t at, const Instruction& instruction, ConstExpr& constant) {
  constant = {};
  switch (instruction.opcode) {
    case Opcode::I32Const:
    case Opcode::I64Const:
    case Opcode::F32Const:
    case Opcode::F64Const:
      constant.type = info(instruction.opcode).result;
      constant.bits[0] = instruction.bits[0];
      return true;
    case Opcode::V128Const:
      constant.type = ValueType::V128;
      constant.bits[0] = instruction.bits[0];
      constant.bits[1] = instruction.bits[1];
      return true;
    case Opcode::RefNull:
      constant.kind = ConstExpr::Kind::RefNull;
      constant.type = instruction.type;
      return true;
    case Opcode::RefFunc:
      if (!function_index(at, instruction.a)) return false;
      declare(instruction.a);
      constant.kind = ConstExpr::Kind::RefFunc;
      constant.type = ValueType::FuncRef;
      constant.index = instruction.a;
      return true;
    case Opcode::GlobalGet: {
      // Only imported globals are in scope (section 3.4.10).
      if (instruction.a >= module_.imported_globals) {
        return errors_.unknown(at, "global", instruction.a, module_.imported_globals);
      }
      const GlobalType& type = module_.globals[instruction.a].type;
      if (type.mutable_) return errors_.constant_required_mutable(at, instruction.a);
      constant.kind = ConstExpr::Kind::GlobalGet;
      constant.type = type.value;
      constant.index = instruction.a;
      return true;
    }
    default:
      return errors_.constant_required(at, instruction.opcode);
  }
}

bool Decoder::function_index(uint32_t at, uint32_t index) {
  return index < module_.function_count() || errors_.unknown(at, "function", index, module_.function_count());
}

void Decoder::declare(uint32_t function) {
  if (declared_.size() < module_.function_count()) declared_.resize(module_.function_count());
  declared_[function] = true;
}

// --- element segments

bool Decoder::element_section(CheckedCursor& in) {
  uint32_t n;
  if (!count(in, "element segments", 0, kMaxElementSegments, 3, module_.elements, n)) return false;
  for (uint32_t i = 0; i < n; ++i) {
    if (!element_segment(in, module_.elements.emplace_back())) return false;
  }
  return true;
}

bool Decoder::element_segment(CheckedCursor& in, ElementSegment& segment) {
  // Bit 0: passive or declarative. Bit 1: declarative, or active with a table index. Bit 2: items are
  // expressions.
  const uint32_t at = in.offset();
  const uint32_t flags = in.u32();
  if (in.failed()) return false;
  if (flags > 7) return errors_.malformed_element_flags(at, flags);
  const bool active = (flags & 1) == 0;
  const bool second = (flags & 2) != 0;
  const bool expressions = (flags & 4) != 0;
  segment.mode = active   ? ElementSegment::Mode::Active
                 : second ? ElementSegment::Mode::Declarative
                          : ElementSegment::Mode::Passive;
  uint32_t table_at = in.offset();
  if (active) {
    if (second) segment.table = in.u32();
    if (in.failed()) return false;
    if (segment.table >= module_.tables.size()) {
      return errors_.unknown(table_at, "table", segment.table, module_.tables.size());
    }
    if (!constant(in, ValueType::I32, segment.offset)) return false;
  }
  if (!active || second) {
    const uint32_t type_at = in.offset();
    if (expressions) {
      segment.type = in.reference_type();
    } else if (const uint8_t kind = in.byte(); kind != 0) {
      return errors_.malformed_element_kind(type_at, kind);
    }
  }
  if (in.failed()) return false;
  if (active && segment.type != module_.tables[segment.table].element) {
    return errors_.segment_type(at, segment.type, segment.table, module_.tables[segment.table].element);
  }
  return element_items(in, segment, expressions);
}

bool Decoder::element_items(CheckedCursor& in, ElementSegment& segment, bool expressions) {
  uint32_t n;
  if (!count(in, "element segment items", element_items_, kMaxElementItems, expressions ? 2 : 1,
             segment.items, n)) {
    return false;
  }
  element_items_ += n;
  for (uint32_t i = 0; i < n; ++i) {
    ConstExpr& item = segment.items.emplace_back();
    if (expressions) {
      if (!constant(in, segment.type, item)) return false;
      continue;
    }
    const uint32_t at = in.offset();
    item.kind = ConstExpr::Kind::RefFunc;
    item.type = ValueType::FuncRef;
    item.index = in.u32();
    if (in.failed() || !function_index(at, item.index)) return false;
    declare(item.index);
  }
  return true;
}

// --- code

bool Decoder::code_section(CheckedCursor& in) {
  const uint32_t at = in.offset();
  const uint32_t functions = module_.function_count() - module_.imported_functions;
  const uint32_t n = in.u32();
  if (in.failed()) return false;
  module_.code_begin = at;
  module_.code_end = in.offset() + in.remaining();
  // Too few are noticed at the module's end, where a second code section would have been refused.
  if (n > functions) return errors_.inconsistent_code_count(at, functions, n);
  module_.bodies.reserve(std::min(n, in.remaining() / 2));
  declared_.resize(module_.function_count());

  bool whole = true;
  for (uint32_t i = 0; i < n && whole; ++i) {
    FunctionBody& next = module_.bodies.emplace_back();
    next.type_index = module_.function_types[module_.imported_functions + i];
    errors_.enter_function(module_.imported_functions + i);
    whole = body(in, next);
  }
  errors_.leave_function();

  // Bodies before a damaged one come first in the module, and so do their errors.
  const size_t readable = module_.bodies.size() - (whole ? 0 : 1);
  const BodyContext context{&module_, data_count_, &declared_};
  if (auto error = validate_bodies(module_, context, readable, options_.workers))
    return errors_.replace(*error);
  return whole;
}

bool Decoder::body(CheckedCursor& in, FunctionBody& body) {
  const uint32_t at = in.offset();
  body.size = in.u32();
  if (in.failed()) return false;
  if (body.size > options_.max_function_bytes) {
    return errors_.over_limit(at, "bytes in the function", body.size, options_.max_function_bytes);
  }
  body.begin = in.offset();
  if (in.bytes(body.size) == nullptr) return false;
  CheckedCursor contents(module_.bytes, body.begin, body.begin + body.size, &errors_);
  if (!locals(contents, body)) return false;
  body.code_begin = contents.offset();
  return true;
}

bool Decoder::locals(CheckedCursor& in, FunctionBody& body) {
  const uint32_t groups = in.u32();
  const uint32_t limit = options_.max_locals;
  uint64_t total = 0;
  for (uint32_t i = 0; i < groups && !in.failed(); ++i) {
    const uint32_t at = in.offset();
    const uint32_t n = in.u32();
    const ValueType type = in.value_type();
    if (in.failed()) return false;
    total += n;
    if (total > limit) return errors_.over_limit(at, "locals", total, limit);
    declared_locals_ += n;
    if (declared_locals_ > kMaxModuleLocals) {
      return errors_.over_limit(at, "locals in all functions", declared_locals_, kMaxModuleLocals);
    }
    body.locals.insert(body.locals.end(), n, type);
  }
  return !in.failed();
}

// --- data

bool Decoder::data_count_section(CheckedCursor& in) {
  uint32_t n;
  if (!count(in, "data segments", 0, kMaxDataSegments, n)) return false;
  data_count_ = n;
  module_.has_data_count = true;
  return true;
}

bool Decoder::data_section(CheckedCursor& in) {
  has_data_ = true;
  const uint32_t at = in.offset();
  uint32_t n;
  if (!count(in, "data segments", 0, kMaxDataSegments, 2, module_.data, n)) return false;
  if (data_count_ && *data_count_ != n) return errors_.inconsistent_data_count(at, *data_count_, n);
  for (uint32_t i = 0; i < n; ++i) {
    if (!data_segment(in, module_.data.emplace_back())) return false;
  }
  return true;
}

bool Decoder::data_segment(CheckedCursor& in, DataSegment& segment) {
  const uint32_t at = in.offset();
  const uint32_t flags = in.u32();
  if (in.failed()) return false;
  if (flags > 2) return errors_.malformed_data_flags(at, flags);
  segment.active = flags != 1;
  if (segment.active) {
    const uint32_t memory_at = in.offset();
    if (flags == 2) segment.memory = in.u32();
    if (in.failed()) return false;
    if (segment.memory >= module_.memories.size()) {
      return errors_.unknown(memory_at, "memory", segment.memory, module_.memories.size());
    }
    if (!constant(in, ValueType::I32, segment.offset)) return false;
  }
  segment.size = in.u32();
  if (in.failed()) return false;
  segment.begin = in.offset();
  return in.bytes(segment.size) != nullptr;
}

}  // namespace wago::runtime
