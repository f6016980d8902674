#include "cli/module_file.h"

#include "base/files.h"
#include "runtime/module.h"

namespace wago::cli {

base::Error in_file(base::Error error, const std::string& path) {
  if (error.place.file.empty()) error.place.file = path;
  return error;
}

base::Result<std::vector<uint8_t>> read_module(const std::string& path) {
  return base::system_files().read_stream(path, runtime::DecodeOptions{}.max_module_bytes);
}

base::Result<std::shared_ptr<const runtime::Module>> decode_file(const std::string& path) {
  auto bytes = read_module(path);
  if (!bytes) return bytes.error();
  auto module = runtime::decode_module(std::move(*bytes));
  if (!module) return in_file(module.error(), path);
  return module;
}

}  // namespace wago::cli
