// Words of commands that are printed to be pasted into a shell. Paths and names in them come from strangers:
// a shell must pass each on as it is, and run none of it.
#pragma once

#include <string>
#include <string_view>

namespace wago::base {

// `text` as one word: plain words stay as they are, others stand in single quotes, and those with control
// characters, or bytes that are not UTF-8, as $'...' (POSIX 2024; bash, zsh, ksh), which keeps them in a
// line.
std::string shell_word(std::string_view text);

// The same of a file or directory, which no program takes for a flag.
std::string shell_path(std::string_view path);

// "--flag word", or "--flag=-word" where the word itself would be taken for a flag.
std::string shell_flag(std::string_view flag, std::string_view value);

}  // namespace wago::base
