#include "base/result.h"

#include <cstdio>

namespace wago::base {

std::string Error::to_string() const {
  std::string text;
  if (!place.file.empty()) text += place.file + ": ";
  if (!place.section.empty()) text += place.section;
  if (place.offset) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%sat offset 0x%llx", place.section.empty() ? "" : " ",
                  static_cast<unsigned long long>(*place.offset));
    text += buffer;
  }
  if (!place.section.empty() || place.offset) text += ": ";
  if (!place.json_path.empty()) text += place.json_path + ": ";
  return text + message;
}

int exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::Failed:
      return 1;
    case ErrorKind::Usage:
      return 2;
    case ErrorKind::Unmeasurable:
      return 5;
  }
  return 1;
}

}  // namespace wago::base
