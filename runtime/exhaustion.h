// Where the embedding API ends, memory that is not to be had becomes an error: no exception leaves a fallible
// call.
#pragma once

#include <new>
#include <string>

#include "base/result.h"

namespace wago::runtime {

// "no memory to <what>".
inline base::Error exhausted(const char* what) {
  return base::unmeasurable(std::string("no memory to ") + what + "; allow the process more");
}

// What `body` gives, a Result.
template <class Body>
auto unless_exhausted(const char* what, Body body) -> decltype(body()) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return exhausted(what);
  }
}

}  // namespace wago::runtime
