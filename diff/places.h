// The places that one side of a comparison names on the command line. What leads to one twice, in whatever
// words, is refused (Usage): it would count as two measurements.
#pragma once

#include <set>
#include <string>

#include "base/result.h"

namespace wago::diff {

class Places {
 public:
  base::Result<void> add(const std::string& path);

 private:
  std::set<std::string> known_;
};

}  // namespace wago::diff
