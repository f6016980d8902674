// The refusal of captures whose numbers do not mean the same thing, for whoever compares some.
#pragma once

#include <span>

#include "cli/output.h"
#include "diff/contract.h"

namespace wago::cli::profile {

// Precondition: there are differences.
int refuse_contract(std::span<const diff::ContractDifference> differences, Output& output);

}  // namespace wago::cli::profile
