// One number for each signature, the same in the whole process, so that call_indirect compares two words
// across modules and instances.
//
// A signature is registered while anybody holds it; its number may be another's afterwards. Whoever lets
// guest code see the number therefore holds the signature as long.
//
// Load time only: registering and letting go take a lock.
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/types.h"

namespace wago::runtime {

struct CanonicalType {
  uint32_t id;  // from 1 up; 0 is never a signature's, so a zeroed FuncRef matches none
  FuncType type;
};

// The same object for equal signatures, from any thread, while it is held.
std::shared_ptr<const CanonicalType> canonical_type(const FuncType& type);

// How many are held.
size_t canonical_types();

}  // namespace wago::runtime
