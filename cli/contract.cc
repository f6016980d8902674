#include "cli/contract.h"

#include "base/json.h"
#include "diff/compare.h"
#include "diff/quantity.h"

namespace wago::cli::profile {

int refuse_contract(std::span<const diff::ContractDifference> differences, Output& output) {
  auto error = base::usage_error("these captures cannot be compared: their measurement contracts differ in " +
                                 diff::format_plural(differences.size(), "field"));
  return output.fail(error, diff::to_text(differences),
                     base::Json::object({{"differences", diff::to_json(differences)}}));
}

}  // namespace wago::cli::profile
