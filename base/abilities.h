// What this version can, generated from abilities.def: limits, and which words of the vocabulary it has more
// than the name of.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/vocabulary.h"

namespace wago::base {

// kMaxLevel, kMaxNameBytes.
#define WAGO_LIMIT(name, value) inline constexpr uint64_t kMax##name = value;
#include "base/abilities.def"

bool is_available(Backend backend);
// Whether it looks at the workload a number of times a second.
bool samples(Backend backend);
std::span<const std::string_view> available_backends();

// "backend perf is not available in this version; none is": for what is not available.
std::string not_available(Backend backend);

}  // namespace wago::base
