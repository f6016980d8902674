#include "runtime/decode_errors.h"

#include <cstdarg>
#include <cstdio>

#include "base/plural.h"
#include "base/text.h"

namespace wago::runtime {

namespace {

// As printf, for facts of bounded length; names are appended by their own functions.
[[gnu::format(printf, 1, 2)]] std::string text(const char* format, ...) {
  char buffer[256];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(buffer, sizeof buffer, format, arguments);
  va_end(arguments);
  return buffer;
}

unsigned long long number(uint64_t value) {
  return value;
}

// The feature a type's byte belongs to in later versions, or nullptr.
const char* feature_of_type(uint8_t byte) {
  switch (byte) {
    case 0x78:
    case 0x77:
      return "packed type of the garbage collection proposal";
    case 0x64:
    case 0x63:
      return "typed function reference";
    case 0x74:
    case 0x69:
    case 0x68:
    case 0x75:
      return "exception reference";
    case 0x73:
    case 0x72:
    case 0x71:
    case 0x6e:
    case 0x6d:
    case 0x6c:
    case 0x6b:
    case 0x6a:
      return "reference type of the garbage collection proposal";
  }
  return nullptr;
}

std::string bad_type(const char* kind, uint8_t byte) {
  if (const char* feature = feature_of_type(byte)) {
    return text("malformed %s type: %s (0x%02x) is not supported yet", kind, feature, byte);
  }
  return text("malformed %s type 0x%02x", kind, byte);
}

}  // namespace

bool DecodeErrors::report(uint64_t at, std::string message) {
  if (any()) return false;
  base::Place place;
  place.section = section_;
  place.offset = at;
  if (function_) message += text(", in func[%u]", *function_);
  error_ = base::failed(std::move(message), std::move(place));
  return false;
}

bool DecodeErrors::replace(base::Error error) {
  WAGO_CHECK(!any() || error.place.offset <= offset());
  error_ = std::move(error);
  return false;
}

bool DecodeErrors::module_empty() {
  return report(0, "the module is empty: unexpected end");
}
bool DecodeErrors::magic_missing(uint64_t at) {
  return report(at, "magic header not detected: a WebAssembly binary begins with 00 61 73 6d");
}
bool DecodeErrors::unknown_version(uint64_t at, uint32_t version) {
  const char* what = version == 0x1000d ? " (a component, not a module)" : "";
  return report(at, text("unknown binary version %u%s, only version 1 is known", version, what));
}
bool DecodeErrors::unexpected_end(uint64_t at) {
  return report(at, "unexpected end of section or function");
}
bool DecodeErrors::integer_too_long(uint64_t at, uint32_t bits) {
  return report(at, text("integer representation too long for %u bits", bits));
}
bool DecodeErrors::integer_too_large(uint64_t at, uint32_t bits) {
  return report(at, text("integer too large for %u bits", bits));
}
bool DecodeErrors::length_out_of_bounds(uint64_t at, uint64_t length, uint64_t available) {
  return report(at, text("length out of bounds: %llu bytes announced, unexpected end after %llu",
                         number(length), number(available)));
}
bool DecodeErrors::name_missing(uint64_t at) {
  return report(at, "unexpected end of section or function: length out of bounds, there is no name");
}
bool DecodeErrors::malformed_utf8(uint64_t at, std::string_view what) {
  return report(at, "malformed UTF-8 encoding of " + std::string(what));
}
bool DecodeErrors::malformed_section_id(uint64_t at, uint8_t id) {
  if (id == 13) return report(at, "malformed section id 13: exceptions (tag section) is not supported yet");
  return report(at, text("malformed section id %u", id));
}
bool DecodeErrors::section_out_of_order(uint64_t at, std::string_view name, bool repeated) {
  return report(at, "unexpected content after last section: " + std::string(name) +
                        (repeated ? " occurs twice" : " is out of order"));
}
bool DecodeErrors::section_size_mismatch(uint64_t at, uint64_t left_over) {
  return report(at, text("section size mismatch: %llu bytes are left over", number(left_over)));
}
bool DecodeErrors::body_size_mismatch(uint64_t at, uint64_t left_over) {
  return report(at,
                text("section size mismatch: %llu bytes follow the function's last end", number(left_over)));
}
bool DecodeErrors::end_missing(uint64_t at, std::optional<uint8_t> following) {
  if (!following) return report(at, "unexpected end of section or function: its last instruction is not end");
  // An announced size that is wrong is the usual cause; what follows tells how.
  if (*following == static_cast<uint8_t>(Opcode::End)) {
    return report(at, "section size mismatch: the announced size cuts off the last end");
  }
  if (!is_opcode_prefix(*following) && kOpcodes[*following].feature != Feature::Core) {
    return report(at, text("illegal opcode 0x%02x follows where end is missing", *following));
  }
  return report(at, "END opcode expected: unexpected end of section or function");
}
bool DecodeErrors::misplaced_else(uint64_t at) {
  return report(at, "END opcode expected: else stands outside of an if");
}
bool DecodeErrors::inconsistent_code_count(uint64_t at, uint64_t functions, uint64_t bodies) {
  return report(at, text("function and code section have inconsistent lengths: %llu functions, %llu bodies",
                         number(functions), number(bodies)));
}
bool DecodeErrors::inconsistent_data_count(uint64_t at, uint64_t announced, uint64_t segments) {
  return report(at,
                text("data count and data section have inconsistent lengths: %llu announced, %llu segments",
                     number(announced), number(segments)));
}
bool DecodeErrors::data_count_required(uint64_t at, uint32_t segment) {
  return report(at, text("data count section required before code: unknown data segment %u", segment));
}
bool DecodeErrors::malformed_value_type(uint64_t at, uint8_t byte) {
  return report(at, bad_type("value", byte));
}
bool DecodeErrors::malformed_reference_type(uint64_t at, uint8_t byte) {
  return report(at, bad_type("reference", byte));
}
bool DecodeErrors::malformed_function_type(uint64_t at, uint8_t byte) {
  // The form is a signed 7-bit integer, so that a continuation bit makes it too long.
  if ((byte & 0x80) != 0) return integer_too_long(at, 7);
  switch (byte) {
    case 0x4e:
    case 0x4f:
    case 0x50:
    case 0x5e:
    case 0x5f:
      return report(
          at,
          text("malformed function type: garbage collection (type form 0x%02x) is not supported yet", byte));
  }
  return report(at, text("malformed function type 0x%02x, 0x60 is wanted", byte));
}
bool DecodeErrors::malformed_block_type(uint64_t at, int64_t code) {
  if (code >= -0x40 && code < 0) return report(at, bad_type("block", static_cast<uint8_t>(code & 0x7f)));
  return report(at, "malformed block type: a negative type index");
}
bool DecodeErrors::malformed_import_kind(uint64_t at, uint8_t byte) {
  if (byte == 4) return report(at, "malformed import kind 4: exceptions (tags) is not supported yet");
  return report(at, text("malformed import kind %u", byte));
}
bool DecodeErrors::malformed_export_kind(uint64_t at, uint8_t byte) {
  if (byte == 4) return report(at, "malformed export kind 4: exceptions (tags) is not supported yet");
  return report(at, text("malformed export kind %u", byte));
}
bool DecodeErrors::malformed_element_kind(uint64_t at, uint8_t byte) {
  return report(at, text("malformed element kind 0x%02x", byte));
}
bool DecodeErrors::malformed_element_flags(uint64_t at, uint32_t flags) {
  return report(at, text("malformed elements segment kind %u", flags));
}
bool DecodeErrors::malformed_data_flags(uint64_t at, uint32_t flags) {
  return report(at, text("malformed data segment kind %u", flags));
}
bool DecodeErrors::malformed_mutability(uint64_t at, uint8_t byte) {
  return report(at, text("malformed mutability 0x%02x", byte));
}
bool DecodeErrors::malformed_limits(uint64_t at, uint8_t flags) {
  if ((flags & 0x80) != 0) return integer_too_long(at, 1);
  if ((flags & ~0x07) != 0) return integer_too_large(at, 1);
  const char* feature = (flags & 0x04) != 0 ? "memory64" : "threads (shared memory)";
  return report(at, text("integer too large: limits flags 0x%02x, %s is not supported yet", flags, feature));
}
bool DecodeErrors::malformed_alignment(uint64_t at, uint32_t alignment) {
  if ((alignment & ~0x1fu) == 0x40) {
    return report(at, text("malformed memop flags 0x%x: multi-memory is not supported yet", alignment));
  }
  return report(at, text("malformed memop flags 0x%x", alignment));
}
bool DecodeErrors::zero_byte_expected(uint64_t at, uint8_t byte) {
  return report(at, text("zero byte expected, found 0x%02x: multi-memory is not supported yet", byte));
}
bool DecodeErrors::illegal_opcode(uint64_t at, uint32_t prefix, uint32_t opcode) {
  if (prefix == 0) return report(at, text("illegal opcode 0x%02x", opcode));
  return report(at, text("illegal opcode 0x%02x 0x%02x", prefix, opcode));
}
bool DecodeErrors::unsupported(uint64_t at, Opcode opcode) {
  return report(at, text("illegal opcode: %s instruction %s is not supported yet",
                         to_string(info(opcode).feature), to_string(opcode)));
}

bool DecodeErrors::over_limit(uint64_t at, std::string_view what, uint64_t count, uint64_t limit,
                              std::string_view cure) {
  return report(at, "too many " + std::string(what) +
                        text(": %llu, the limit is %llu", number(count), number(limit)) + std::string(cure));
}

bool DecodeErrors::unknown(uint64_t at, std::string_view what, uint32_t index, uint64_t count) {
  return report(at, "unknown " + std::string(what) + text(" %u: there are %llu", index, number(count)));
}
bool DecodeErrors::unknown_label(uint64_t at, uint32_t depth, uint64_t nested) {
  return report(at, text("unknown label %u: ", depth) + base::plural(nested, "block") +
                        (nested == 1 ? " is open" : " are open"));
}
bool DecodeErrors::duplicate_export(uint64_t at, std::string_view name) {
  return report(at, "duplicate export name " + base::display(name));
}
bool DecodeErrors::multiple_memories(uint64_t at, uint64_t count) {
  return report(at, text("multiple memories: %llu, multi-memory is not supported yet", number(count)));
}
bool DecodeErrors::memory_too_large(uint64_t at, uint32_t pages) {
  return report(at, text("memory size must be at most 65536 pages (4GiB), not %u", pages));
}
bool DecodeErrors::minimum_above_maximum(uint64_t at, uint32_t minimum, uint32_t maximum) {
  return report(at, text("size minimum must not be greater than maximum: %u > %u", minimum, maximum));
}
bool DecodeErrors::start_function_type(uint64_t at, uint32_t function, const FuncType& type) {
  return report(at, text("start function func[%u] must take and return nothing, its type is ", function) +
                        to_string(type));
}
bool DecodeErrors::constant_required(uint64_t at, Opcode opcode) {
  const bool extended = (opcode >= Opcode::I32Add && opcode <= Opcode::I32Mul) ||
                        (opcode >= Opcode::I64Add && opcode <= Opcode::I64Mul);
  return report(at, text("constant expression required: %s is not constant%s", to_string(opcode),
                         extended ? ", the proposal extended-const is not supported yet" : ""));
}
bool DecodeErrors::constant_required_mutable(uint64_t at, uint32_t global) {
  return report(at, text("constant expression required: global %u is mutable", global));
}
bool DecodeErrors::constant_type(uint64_t at, ValueType wanted, std::span<const ValueType> found) {
  if (found.empty()) {
    return report(at,
                  text("type mismatch: the constant expression is empty, %s is wanted", to_string(wanted)));
  }
  if (found.size() > 1) {
    return report(
        at, text("type mismatch: the constant expression gives more values than one %s", to_string(wanted)));
  }
  return report(at, text("type mismatch: the constant expression gives %s, %s is wanted", to_string(found[0]),
                         to_string(wanted)));
}
bool DecodeErrors::segment_type(uint64_t at, ValueType segment, uint32_t table, ValueType element) {
  return report(at, text("type mismatch: a segment of %s cannot initialize table %u of %s",
                         to_string(segment), table, to_string(element)));
}
bool DecodeErrors::undeclared_reference(uint64_t at, uint32_t function) {
  return report(
      at, text("undeclared function reference to func[%u]: it is in no export, global or element segment",
               function));
}
bool DecodeErrors::global_immutable(uint64_t at, uint32_t global) {
  return report(at, text("global is immutable: global.set of global %u", global));
}
bool DecodeErrors::alignment_too_large(uint64_t at, Opcode opcode, uint32_t alignment) {
  return report(at, text("alignment must not be larger than natural: %s is aligned to 2^%u at most, not 2^%u",
                         to_string(opcode), info(opcode).natural_alignment, alignment));
}
bool DecodeErrors::lane_out_of_range(uint64_t at, Opcode opcode, uint32_t lane) {
  return report(at, text("invalid lane index %u: %s chooses from %u lanes", lane, to_string(opcode),
                         info(opcode).lanes));
}
bool DecodeErrors::result_arity(uint64_t at, uint32_t count) {
  return report(at, text("invalid result arity: select has %u types instead of 1", count));
}

bool DecodeErrors::operand_type(uint64_t at, std::string_view subject, std::string_view wanted,
                                ValueType found) {
  return report(at, "type mismatch: " + std::string(subject) + " wants " + std::string(wanted) +
                        ", the stack has " + to_string(found));
}
bool DecodeErrors::operand_missing(uint64_t at, std::string_view subject, std::string_view wanted) {
  return report(at, "type mismatch: " + std::string(subject) + " wants " + std::string(wanted) +
                        ", the stack of this block is empty");
}
bool DecodeErrors::operands_left(uint64_t at, std::string_view subject, uint64_t extra) {
  return report(at, "type mismatch: " + std::string(subject) +
                        text(" leaves %llu values too many on the stack", number(extra)));
}
bool DecodeErrors::if_without_else(uint64_t at) {
  return report(at, "type mismatch: an if without else must have the same parameters and results");
}
bool DecodeErrors::branch_arity(uint64_t at, uint64_t arity, uint64_t default_arity) {
  return report(at, text("type mismatch: a br_table target takes %llu values, its default takes %llu",
                         number(arity), number(default_arity)));
}
bool DecodeErrors::table_types_differ(uint64_t at, std::string_view subject, ValueType destination,
                                      ValueType source) {
  return report(at, "type mismatch: " + std::string(subject) +
                        text(" into a table of %s from %s", to_string(destination), to_string(source)));
}
bool DecodeErrors::table_not_functions(uint64_t at, uint32_t table) {
  return report(at,
                text("type mismatch: call_indirect needs a table of funcref, table %u is not one", table));
}

}  // namespace wago::runtime
