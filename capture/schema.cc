#include "capture/schema.h"

namespace wago::capture {

base::Result<void> check_version(uint64_t version, const std::string& file, uint64_t oldest,
                                 uint64_t newest) {
  if (version >= oldest && version <= newest) return {};
  std::string text = "schema version " + std::to_string(version);
  if (version > newest) {
    text += " is too new for this program, which reads up to " + std::to_string(newest) + ": use a newer one";
  } else {
    text += " is too old for this program, which reads from " + std::to_string(oldest) +
            ": use the one that wrote it";
  }
  return base::usage_error(std::move(text), {.file = file});
}

std::string within_limit(std::string_view name, uint64_t name_bytes) {
  if (name.size() <= name_bytes) return std::string(name);
  // Bytes of a character that begin with bits 10 follow others.
  while (name_bytes > 0 && (static_cast<uint8_t>(name[name_bytes]) & 0xc0) == 0x80) --name_bytes;
  return std::string(name.substr(0, name_bytes));
}

}  // namespace wago::capture
