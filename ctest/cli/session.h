// File tests of the programs: a session is a text file of commands with what each must print and how it must
// end.
//
//   # a comment; empty lines are free
//   @ write hello.wat (module)        a step that prepares or inspects files, see fixture.h
//   $ wago run --invoke f m.wasm 1    a command: NAME=VALUE... program arguments, split at spaces, '...' and
//   "..." quote exit 1                            its exit code, 0 when not said; "signal 9" for a death by
//   signal > a line of standard output ! a line of standard error
//
// All lines must be there, in order, and no others. In an expected line <number> stands for a number, <time>
// for a number with a unit of time, <hex> for hexadecimal digits and <any> for anything; a line of just "..."
// stands for any lines.
//
// A session runs in an empty directory that holds copies of the test modules; $PROGRAMS is the folder of the
// programs, for the few commands that need a shell ($ sh -c '...').
#pragma once

#include <string>
#include <vector>

namespace wago::ctest {

// A command and what is expected of it, or a fixture step (then `words` begins with "@").
struct Step {
  int line = 0;  // in the session file, from 1
  std::vector<std::string> words;
  std::string exit = "exit 0";
  std::vector<std::string> out;
  std::vector<std::string> err;
};

// Throws std::runtime_error with file and line for what is not a session.
std::vector<Step> parse_session(const std::string& file);

// Splits at spaces; single and double quotes group, a backslash in double quotes escapes.
std::vector<std::string> split_words(const std::string& text);

// Whether the lines of `text` are the expected ones; else `why` says which line is not.
bool lines_match(const std::vector<std::string>& expected, const std::string& text, std::string& why);

}  // namespace wago::ctest
