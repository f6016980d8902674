// Reads the binary format's primitives (section 5.2) from a part of a module, trusting nothing. After the
// first error, which goes to DecodeErrors, the cursor stands at its end, has failed, and every read gives
// zero: callers may read several things and look once. Offsets are from the start of the module.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "runtime/code_reader.h"
#include "runtime/decode_errors.h"
#include "runtime/types.h"

namespace wago::runtime {

class CheckedCursor {
 public:
  static constexpr bool kChecked = true;

  // The module's bytes from `begin` to `end`.
  CheckedCursor(std::span<const uint8_t> module, uint32_t begin, uint32_t end, DecodeErrors* errors)
      : module_(module.data()),
        module_end_(module.data() + module.size()),
        at_(module_ + begin),
        end_(module_ + end),
        errors_(errors) {}

  bool failed() const { return failed_; }
  bool at_end() const { return at_ == end_; }
  uint32_t offset() const { return static_cast<uint32_t>(at_ - module_); }
  uint32_t end_offset() const { return static_cast<uint32_t>(end_ - module_); }
  uint32_t remaining() const { return static_cast<uint32_t>(end_ - at_); }
  DecodeErrors& errors() { return *errors_; }
  bool fail() {  // after an error was reported by whoever uses the cursor
    failed_ = true;
    at_ = end_;
    return false;
  }

  uint8_t byte() {
    if (at_ == end_) [[unlikely]]
      return unexpected_end();
    return *at_++;
  }
  uint32_t u32() {
    if (at_ != end_ && *at_ < 0x80) [[likely]]
      return *at_++;
    return u32_slow();
  }
  int32_t s32() {
    if (at_ != end_ && *at_ < 0x80) [[likely]]
      return static_cast<int32_t>(static_cast<uint32_t>(*at_++) << 25) >> 25;
    return static_cast<int32_t>(signed_slow(32));
  }
  int64_t s64() {
    if (at_ != end_ && *at_ < 0x80) [[likely]]
      return static_cast<int32_t>(static_cast<uint32_t>(*at_++) << 25) >> 25;
    return signed_slow(64);
  }
  uint32_t fixed32();
  uint64_t fixed64();
  // A vector of bytes that is a name: length, then UTF-8. `what` is for the message: "an import's name".
  std::string_view name(std::string_view what);
  // `count` bytes; null on failure.
  const uint8_t* bytes(uint32_t count);
  ValueType value_type();
  ValueType reference_type();

  // What BasicBodyReader needs besides.
  uint32_t pc() const { return offset(); }
  const uint8_t* position() const { return at_; }
  BlockType block_type();
  uint32_t zero_index();
  uint32_t alignment();
  void skip_labels(uint32_t count);
  bool check_number(uint32_t at, uint32_t prefix, uint32_t number);
  bool check_feature(uint32_t at, Opcode opcode);

 private:
  uint8_t unexpected_end();
  uint32_t u32_slow();
  int64_t signed_slow(int bits);
  bool finish_integer(const uint8_t* after);

  const uint8_t* module_;
  const uint8_t* module_end_;
  const uint8_t* at_;
  const uint8_t* end_;
  DecodeErrors* errors_;
  bool failed_ = false;
};

using CheckedBodyReader = BasicBodyReader<CheckedCursor>;

// RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF.
bool is_utf8(std::string_view text);

}  // namespace wago::runtime
