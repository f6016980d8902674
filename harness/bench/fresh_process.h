// Figures of memory are taken in a process of their own, in which nothing freed earlier is used again unseen:
// this program once more, with an argument that makes it print one number and end.
#pragma once

#include <string>

#include "base/result.h"

namespace wago::harness::bench {

// The number that wago_figures prints for `argument`.
base::Result<double> number_from_fresh_process(const std::string& argument);

}  // namespace wago::harness::bench
