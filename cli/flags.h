// What a program accepts on its command line: commands, flags, operands, and the sentences printed when they
// are used wrongly. The library underneath (CLI11) throws and is seen by flags.cc alone; commands see plain
// strings and parse them with parsers of their own, so that every refusal reads the same.
//
// Flags may stand before or after operands; "--" ends them. Negative numbers are operands, never flags. A
// flag that is given twice is refused, unless it takes several values: then they add up.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/vocabulary.h"

namespace wago::cli {

class Output;

// One command, or the program itself. The variables that flags and operands are bound to must outlive
// parse().
class Command {
 public:
  explicit Command(std::string program, std::string summary);
  ~Command();
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  // A command below this one; lives as long as this one.
  Command& add_command(std::string name, std::string summary);
  // Flags added from here on are listed under this heading in --help.
  void group(std::string heading);
  void add_operand(std::string name, std::string help, std::string* value);
  // Whatever remains, negative numbers included; only for the last operand.
  void add_rest(std::string name, std::string help, std::vector<std::string>* values);
  void add_flag(std::string name, std::string help, bool* given);
  void add_option(std::string name, std::string value_name, std::string help,
                  std::optional<std::string>* value);
  // A flag that takes one or more values.
  void add_list(std::string name, std::string value_name, std::string help, std::vector<std::string>* values);
  // Nothing on the command line of this command is an error.
  void accept_anything();
  // What happens when this command is the one named; returns the exit code. Without an action the answer is
  // missing_command().
  void set_action(std::function<int(Output&)> action);
  // The error of a command that needs one of its commands named.
  base::Error missing_command() const;
  // Printed below the flags by --help.
  void set_footer(std::string text);

  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  explicit Command(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Parses and runs. Help and usage errors included; returns the exit code.
int parse_and_run(Command& program, std::span<const std::string> arguments, Output& output);

// The candidate nearest to `word`, if it is near enough to be what was meant.
std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates);

// A whole number in [min, max]; the error names the flag and the range.
base::Result<uint64_t> parse_number(std::string_view flag, std::string_view text, uint64_t min, uint64_t max);
// The same error, behind the flag whose value it is about.
base::Error in_flag(std::string_view flag, base::Error error);
// Whether a directory to write into is there, or only its last part must be made. Error (Usage), which names
// the flag: an empty name, a file, no directory to make it in.
base::Result<void> check_directory(std::string_view flag, const std::string& path);
// The same, and makes it where there is none.
base::Result<void> make_directory(std::string_view flag, const std::string& path);
// One of a list of words; the error names the flag and the words.
base::Error not_a_word(std::string_view flag, std::string_view text,
                       std::span<const std::string_view> allowed);

template <class Word>
base::Result<Word> parse_word(std::string_view flag, std::string_view text) {
  if (auto word = base::parse<Word>(text)) return *word;
  return not_a_word(flag, text, base::spellings<Word>());
}

}  // namespace wago::cli
