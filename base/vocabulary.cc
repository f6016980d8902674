#include "base/vocabulary.h"

#include <array>

namespace wago::base {

namespace {

constexpr std::array kTraps = {
#define WAGO_TRAP(name, spelling, sentence) std::string_view(spelling),
#include "base/vocabulary.def"
};
constexpr std::array kTrapSentences = {
#define WAGO_TRAP(name, spelling, sentence) std::string_view(sentence),
#include "base/vocabulary.def"
};
constexpr std::array kPhases = {
#define WAGO_PHASE(name, spelling) std::string_view(spelling),
#include "base/vocabulary.def"
};
constexpr std::array kModes = {
#define WAGO_MODE(name, spelling) std::string_view(spelling),
#include "base/vocabulary.def"
};
constexpr std::array kBackends = {
#define WAGO_BACKEND(name, spelling) std::string_view(spelling),
#include "base/vocabulary.def"
};
constexpr std::array kBounds = {
#define WAGO_BOUNDS(name, spelling) std::string_view(spelling),
#include "base/vocabulary.def"
};

}  // namespace

std::string_view spelling(TrapCode trap) {
  if (trap == TrapCode::Interrupted) return "interrupted";
  return kTraps.at(static_cast<size_t>(trap));
}
std::string_view spelling(Phase phase) {
  return kPhases.at(static_cast<size_t>(phase));
}
std::string_view spelling(Mode mode) {
  return kModes.at(static_cast<size_t>(mode));
}
std::string_view spelling(Backend backend) {
  return kBackends.at(static_cast<size_t>(backend));
}
std::string_view spelling(Bounds bounds) {
  return kBounds.at(static_cast<size_t>(bounds));
}
std::string_view sentence(TrapCode trap) {
  if (trap == TrapCode::Interrupted) return "interrupted";
  return kTrapSentences.at(static_cast<size_t>(trap));
}

template <>
std::span<const std::string_view> spellings<TrapCode>() {
  return kTraps;
}
template <>
std::span<const std::string_view> spellings<Phase>() {
  return kPhases;
}
template <>
std::span<const std::string_view> spellings<Mode>() {
  return kModes;
}
template <>
std::span<const std::string_view> spellings<Backend>() {
  return kBackends;
}
template <>
std::span<const std::string_view> spellings<Bounds>() {
  return kBounds;
}

std::string join(std::span<const std::string_view> words) {
  std::string text;
  for (std::string_view word : words) {
    if (!text.empty()) text += ", ";
    text += word;
  }
  return text;
}

}  // namespace wago::base
