// Enumerations generated from vocabulary.def, with their spellings.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace wago::base {

enum class TrapCode : uint8_t {
#define WAGO_TRAP(name, spelling, sentence) name,
#include "base/vocabulary.def"
  // Not a trap, and no word of files and flags: the guest was stopped from outside.
  Interrupted,
};
enum class Phase : uint8_t {
#define WAGO_PHASE(name, spelling) name,
#include "base/vocabulary.def"
};
enum class Mode : uint8_t {
#define WAGO_MODE(name, spelling) name,
#include "base/vocabulary.def"
};
enum class Backend : uint8_t {
#define WAGO_BACKEND(name, spelling) name,
#include "base/vocabulary.def"
};
enum class Bounds : uint8_t {
#define WAGO_BOUNDS(name, spelling) name,
#include "base/vocabulary.def"
};

// The spelling used in files, flags and CMake.
std::string_view spelling(TrapCode trap);
std::string_view spelling(Phase phase);
std::string_view spelling(Mode mode);
std::string_view spelling(Backend backend);
std::string_view spelling(Bounds bounds);

// The sentence printed for a person: "integer divide by zero".
std::string_view sentence(TrapCode trap);

// All spellings in order, for messages that list what is allowed.
template <class Word>
std::span<const std::string_view> spellings();

// The word spelled so, or nothing.
template <class Word>
std::optional<Word> parse(std::string_view text) {
  auto all = spellings<Word>();
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i] == text) return static_cast<Word>(i);
  }
  return std::nullopt;
}

// "a, b, c": for messages.
std::string join(std::span<const std::string_view> words);

}  // namespace wago::base
