// Reading what FILE names.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace wago::runtime {
class Module;
}

namespace wago::cli {

// The bytes of a module. Errors (Usage) name the file and the system's reason.
base::Result<std::vector<uint8_t>> read_module(const std::string& path);

// Decoded and validated. Errors name the file.
base::Result<std::shared_ptr<const runtime::Module>> decode_file(const std::string& path);

// `error` with the file it is about.
base::Error in_file(base::Error error, const std::string& path);

}  // namespace wago::cli
