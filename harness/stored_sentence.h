// What a capture keeps of an error: it may be handed on, and where its maker's files lay is nobody's concern.
#pragma once

#include <string>

#include "base/files.h"
#include "base/result.h"

namespace wago::harness {

// The sentence, with the file's base name.
inline std::string stored_sentence(base::Error error) {
  error.place.file = base::base_name(error.place.file);
  return error.to_string();
}

}  // namespace wago::harness
