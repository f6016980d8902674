// What our messages must say to mean what the official suite's texts mean.
//
// An assertion of the suite carries the text of the reference interpreter's message. Ours are sentences of
// our own with places and numbers in them; for each official text one row names the fact that such a sentence
// has to state. A text without a row is a failure, so that a new version of the suite is looked at by a
// person.
#pragma once

#include <string>
#include <string_view>

namespace wago::spec {

// Empty if `message` states the fact of an assertion's official text; else what is missing.
std::string difference_in_meaning(std::string_view assertion, std::string_view official,
                                  std::string_view message);

}  // namespace wago::spec
