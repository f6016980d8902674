#include "runtime/byte_cursor.h"

#include <cstring>

#include "runtime/decode_limits.h"

namespace wago::runtime {

uint8_t CheckedCursor::unexpected_end() {
  if (!failed_) errors_->unexpected_end(offset());
  fail();
  return 0;
}

// The encoding may use more bytes than it needs, up to ceil(bits / 7), and bits beyond the type's must extend
// its sign (or be zero): section 5.2.2. An integer that crosses the cursor's end is judged as an integer
// first, for the sake of the message: what is wrong may well be the size that was announced.
uint32_t CheckedCursor::u32_slow() {
  const uint32_t start = offset();
  const uint8_t* at = at_;
  uint32_t value = 0;
  for (int shift = 0;; shift += 7) {
    if (at == module_end_ || failed_) return at_ = end_, unexpected_end();
    const uint8_t next = *at++;
    if (shift == 28 && next >= 0x10) {
      if ((next & 0x80) != 0) {
        errors_->integer_too_long(start, 32);
      } else {
        errors_->integer_too_large(start, 32);
      }
      return fail(), 0;
    }
    value |= static_cast<uint32_t>(next & 0x7f) << shift;
    if ((next & 0x80) == 0) break;
  }
  return finish_integer(at) ? value : 0;
}

int64_t CheckedCursor::signed_slow(int bits) {
  const uint32_t start = offset();
  const uint8_t* at = at_;
  uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    if (at == module_end_ || failed_) return at_ = end_, unexpected_end();
    const uint8_t next = *at++;
    value |= uint64_t{next & 0x7fu} << shift;
    const int left = bits - shift;  // bits of the type this byte may still fill
    if (left <= 7) {
      if ((next & 0x80) != 0) {
        errors_->integer_too_long(start, bits);
        return fail(), 0;
      }
      const uint8_t sign_and_above = static_cast<uint8_t>(0x7f & (0xff << (left - 1)));
      if ((next & sign_and_above) != 0 && (next & sign_and_above) != sign_and_above) {
        errors_->integer_too_large(start, bits);
        return fail(), 0;
      }
    }
    if ((next & 0x80) == 0) {
      if (shift + 7 < 64 && (next & 0x40) != 0) value |= ~uint64_t{0} << (shift + 7);
      break;
    }
  }
  return finish_integer(at) ? static_cast<int64_t>(value) : 0;
}

bool CheckedCursor::finish_integer(const uint8_t* after) {
  if (after > end_) return at_ = end_, unexpected_end(), false;
  at_ = after;
  return true;
}

uint32_t CheckedCursor::fixed32() {
  uint32_t value = 0;
  if (const uint8_t* from = bytes(sizeof value)) std::memcpy(&value, from, sizeof value);
  return value;
}

uint64_t CheckedCursor::fixed64() {
  uint64_t value = 0;
  if (const uint8_t* from = bytes(sizeof value)) std::memcpy(&value, from, sizeof value);
  return value;
}

const uint8_t* CheckedCursor::bytes(uint32_t count) {
  if (count > remaining()) return at_ = end_, unexpected_end(), nullptr;
  const uint8_t* from = at_;
  at_ += count;
  return from;
}

std::string_view CheckedCursor::name(std::string_view what) {
  const uint32_t start = offset();
  if (failed_) return {};
  if (at_end()) {
    errors_->name_missing(start);
    return fail(), std::string_view();
  }
  const uint32_t length = u32();
  if (failed_) return {};
  if (length > remaining()) {
    errors_->length_out_of_bounds(start, length, remaining());
    return fail(), std::string_view();
  }
  if (length > kMaxNameBytes) {
    errors_->over_limit(start, "bytes in " + std::string(what), length, kMaxNameBytes);
    return fail(), std::string_view();
  }
  std::string_view text(reinterpret_cast<const char*>(bytes(length)), length);
  if (!is_utf8(text)) {
    errors_->malformed_utf8(offset() - length, what);
    return fail(), std::string_view();
  }
  return text;
}

namespace {

bool is_core_reference(uint8_t byte) {
  return byte == 0x70 || byte == 0x6f;
}
bool is_core_value(uint8_t byte) {
  return (byte >= 0x7b && byte <= 0x7f) || is_core_reference(byte);
}

}  // namespace

ValueType CheckedCursor::value_type() {
  const uint32_t start = offset();
  const uint8_t type = byte();
  if (!failed_ && !is_core_value(type)) {
    errors_->malformed_value_type(start, type);
    fail();
  }
  return static_cast<ValueType>(type);
}

ValueType CheckedCursor::reference_type() {
  const uint32_t start = offset();
  const uint8_t type = byte();
  if (!failed_ && !is_core_reference(type)) {
    errors_->malformed_reference_type(start, type);
    fail();
  }
  return static_cast<ValueType>(type);
}

BlockType CheckedCursor::block_type() {
  const uint32_t start = offset();
  const int64_t code = at_ != end_ && *at_ < 0x80 ? s64() : signed_slow(33);
  if (failed_) return {};
  if (code >= 0) return BlockType::indexed(static_cast<uint32_t>(code));
  const auto type = static_cast<uint8_t>(code & 0x7f);
  const bool one_byte = offset() == start + 1;
  if (one_byte && type == 0x40) return {};
  if (one_byte && is_core_value(type)) return BlockType::one_result(static_cast<ValueType>(type));
  errors_->malformed_block_type(start, one_byte ? code : INT64_MIN);
  return fail(), BlockType();
}

uint32_t CheckedCursor::zero_index() {
  const uint32_t start = offset();
  const uint8_t index = byte();
  if (index != 0) {
    errors_->zero_byte_expected(start, index);
    fail();
  }
  return 0;
}

uint32_t CheckedCursor::alignment() {
  const uint32_t start = offset();
  const uint32_t log2 = u32();
  if (log2 >= 32) {
    errors_->malformed_alignment(start, log2);
    return fail(), 0;
  }
  return log2;
}

void CheckedCursor::skip_labels(uint32_t count) {
  if (count > kMaxBranchTargets) {
    errors_->over_limit(offset(), "br_table targets", count, kMaxBranchTargets);
    fail();
    return;
  }
  for (uint32_t i = 0; i <= count && !failed_; ++i) u32();
}

bool CheckedCursor::check_number(uint32_t at, uint32_t prefix, uint32_t number) {
  if (failed_) return false;
  if (number < opcode_room(prefix)) return true;
  errors_->illegal_opcode(at, prefix, number);
  return fail();
}

bool CheckedCursor::check_feature(uint32_t at, Opcode opcode) {
  if (failed_) return false;
  const uint32_t value = static_cast<uint32_t>(opcode);
  if (info(opcode).feature != Feature::Unknown) {
    errors_->unsupported(at, opcode);
  } else if (value < 0x100) {
    errors_->illegal_opcode(at, 0, value);
  } else {
    const uint32_t prefix = value < 0x200 ? 0xfb : value < 0x300 ? 0xfc : value < 0x500 ? 0xfd : 0xfe;
    errors_->illegal_opcode(at, prefix, value - opcode_base(prefix));
  }
  return fail();
}

bool is_utf8(std::string_view text) {
  auto at = reinterpret_cast<const uint8_t*>(text.data());
  const uint8_t* end = at + text.size();
  while (at != end) {
    const uint8_t first = *at++;
    if (first < 0x80) continue;
    int more;
    uint32_t code, least;
    if ((first & 0xe0) == 0xc0) {
      more = 1, code = first & 0x1f, least = 0x80;
    } else if ((first & 0xf0) == 0xe0) {
      more = 2, code = first & 0x0f, least = 0x800;
    } else if ((first & 0xf8) == 0xf0) {
      more = 3, code = first & 0x07, least = 0x10000;
    } else {
      return false;
    }
    if (end - at < more) return false;
    for (; more > 0; --more) {
      if ((*at & 0xc0) != 0x80) return false;
      code = code << 6 | (*at++ & 0x3f);
    }
    if (code < least || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return false;
  }
  return true;
}

}  // namespace wago::runtime
