// The measurement contract: what must be equal in two captures for their numbers to mean the same thing. What
// is compared - revision, module, code - is not part of it, nor is how long was measured, since everything is
// normalised by completed work.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capture/manifest.h"
#include "diff/evidence.h"

namespace wago::diff {

// A field of the contract in which captures differ, named as in the manifest, with both values and whose they
// are.
struct ContractDifference {
  std::string_view field;  // "effective_settings.bounds"
  std::string value;
  std::string capture;
  std::string other_value;
  std::string other_capture;
  std::string workload;
  std::string other_workload;
  bool operator==(const ContractDifference&) const = default;
};

// Every field of the contract, in the order of the manifest.
std::vector<std::string_view> contract_fields();

// Each field in which any capture differs from the first; one difference a field. Empty: the captures are
// comparable.
std::vector<ContractDifference> contract_differences(std::span<const Evidence* const> captures);

}  // namespace wago::diff
