// What the compiler can decide about an instruction of a module, generated from decisions.def.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/vocabulary.h"

namespace wago::base {

enum class DecisionKind : uint8_t {
#define WAGO_DECISION(name, spelling, phrase, code) name,
#include "base/decisions.def"
};

std::string_view spelling(DecisionKind kind);  // "not-inlined-large"
std::string_view phrase(DecisionKind kind);    // "not inlined: too large"
bool leaves_code(DecisionKind kind);           // the instruction that it is about has code all the same
template <>
std::span<const std::string_view> spellings<DecisionKind>();

}  // namespace wago::base
