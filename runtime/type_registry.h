// One number for each signature, the same in the whole process, so that call_indirect compares two words
// across modules and instances. Signatures are never forgotten: there are as many as distinct ones were ever
// loaded.
//
// Load time only: every call takes a lock.
#pragma once

#include <cstdint>

#include "runtime/types.h"

namespace wago::runtime {

// From 1 up; 0 is never a signature's id, so a zeroed FuncRef matches none.
uint32_t canonical_type_id(const FuncType& type);

// The signature behind an id; the reference stays valid for the life of the process.
const FuncType& canonical_type(uint32_t id);

}  // namespace wago::runtime
