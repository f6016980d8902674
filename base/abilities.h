// What this version can, generated from abilities.def, and what its words stand for.
#pragma once

#include <cstdint>

#include "base/vocabulary.h"

namespace wago::base {

// kMaxLevel, kMaxNameBytes.
#define WAGO_LIMIT(name, value) inline constexpr uint64_t kMax##name = value;
#include "base/abilities.def"

// Whether it looks at the workload a number of times a second.
bool samples(Backend backend);

}  // namespace wago::base
