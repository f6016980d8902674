#include "base/decisions.h"

#include <array>

namespace wago::base {

namespace {

constexpr std::array kSpellings = {
#define WAGO_DECISION(name, spelling, phrase, code) std::string_view(spelling),
#include "base/decisions.def"
};
constexpr std::array kPhrases = {
#define WAGO_DECISION(name, spelling, phrase, code) std::string_view(phrase),
#include "base/decisions.def"
};

enum class Code : uint8_t { Gone, There };
constexpr std::array kCodes = {
#define WAGO_DECISION(name, spelling, phrase, code) Code::code,
#include "base/decisions.def"
};

}  // namespace

std::string_view spelling(DecisionKind kind) {
  return kSpellings.at(static_cast<size_t>(kind));
}
std::string_view phrase(DecisionKind kind) {
  return kPhrases.at(static_cast<size_t>(kind));
}
bool leaves_code(DecisionKind kind) {
  return kCodes.at(static_cast<size_t>(kind)) == Code::There;
}
template <>
std::span<const std::string_view> spellings<DecisionKind>() {
  return kSpellings;
}

}  // namespace wago::base
