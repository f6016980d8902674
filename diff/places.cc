#include "diff/places.h"

#include <filesystem>
#include <system_error>

namespace wago::diff {

base::Result<void> Places::add(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code unseen;
  const fs::path place = fs::weakly_canonical(fs::absolute(path, unseen), unseen);
  if (known_.insert(unseen ? path : place.string()).second) return {};
  return base::usage_error("is named twice on one side, and would count as two measurements", {.file = path});
}

}  // namespace wago::diff
