// Input bytes as decisions: what a structured generator asks instead of a random number generator, so that a
// fuzzer that changes a byte changes a decision. When the bytes are used up every answer is 0, which
// generators make their simplest choice: the input's length bounds what comes of it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace wago::fuzz {

class Choices {
 public:
  // The bytes must outlive the object.
  explicit Choices(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  bool exhausted() const { return at_ >= bytes_.size(); }
  uint8_t byte() { return exhausted() ? 0 : bytes_[at_++]; }
  // In [0, bound); bound is at most 65536 and not 0.
  uint32_t below(uint32_t bound) {
    uint32_t value = byte();
    if (bound > 256) value = value << 8 | byte();
    return value % bound;
  }
  // True n times in 256 on random bytes.
  bool chance(uint32_t n) { return 256 - n <= byte(); }
  uint64_t bits(uint32_t bytes) {
    uint64_t value = 0;
    while (bytes-- > 0) value = value << 8 | byte();
    return value;
  }

 private:
  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
};

// splitmix64: small, seedable by any number, good enough to choose bytes.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  size_t below(size_t bound) { return bound == 0 ? 0 : next() % bound; }
  std::vector<uint8_t> bytes(size_t count) {
    std::vector<uint8_t> result(count);
    for (uint8_t& byte : result) byte = static_cast<uint8_t>(next() >> 24);
    return result;
  }

 private:
  uint64_t state_;
};

}  // namespace wago::fuzz
