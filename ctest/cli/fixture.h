// The "@" steps of a session: what a shell would do, without a shell.
//
//   @ write FILE TEXT             TEXT and a newline
//   @ copy FROM TO
//   @ truncate FILE BYTES         keeps the first BYTES
//   @ flip FILE OFFSET            inverts one byte
//   @ zeros FILE BYTES            appends zeros (a sparse file)
//   @ append FILE HEX             appends bytes
//   @ replace FILE OLD NEW        replaces text that must be there
//   @ mkdir DIR                   @ remove PATH (with all in it)
//   @ link TARGET NAME            a symbolic link
//   @ mode PATH OCTAL             PATH must have these permissions
//   @ absent PATH                 PATH must not exist
//   @ contains FILE TEXT          FILE must hold TEXT
//   @ same FILE OTHER             both files must hold the same bytes
//   @ chmod PATH OCTAL
//   @ skip-for-root               ends the session here, passed, when run as root
#pragma once

#include <string>
#include <vector>

namespace wago::ctest {

enum class FixtureOutcome { Done, EndSession };

// Relative to `directory`. Throws std::runtime_error when a step cannot be done or finds what it must not.
FixtureOutcome run_fixture(const std::vector<std::string>& words, const std::string& directory);

}  // namespace wago::ctest
