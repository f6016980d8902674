// SHA-256 (FIPS 180-4): names modules, code and contracts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace wago::base {

using Digest = std::array<uint8_t, 32>;

class Sha256 {
 public:
  Sha256();
  void update(std::span<const uint8_t> bytes);
  void update(std::string_view text);
  // Little-endian, so that fields cannot run into one another.
  void update_u64(uint64_t value);
  // A length, then the text.
  void update_field(std::string_view text);
  // Once; the object is spent after it.
  Digest finish();

 private:
  void block(const uint8_t* data);
  std::array<uint32_t, 8> state_;
  std::array<uint8_t, 64> pending_{};
  uint64_t total_ = 0;
};

Digest sha256(std::span<const uint8_t> bytes);
// Lower-case hexadecimal.
std::string to_hex(std::span<const uint8_t> bytes);
// 64 hexadecimal digits, or nothing.
std::optional<Digest> parse_digest(std::string_view hex);

}  // namespace wago::base
