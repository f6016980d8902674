// Where a command's words go. Results to standard output; errors to standard error, as a sentence or, under
// --json, as one JSON object. Every function that reports a failure returns the exit code that goes with it.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "base/result.h"

namespace wago {
class Trap;
}
namespace wago::base {
class Json;
}

namespace wago::cli {

// The exit codes (docs/command-line.md) that are not an ErrorKind's.
constexpr int kExitDone = 0;
constexpr int kExitFailed = 1;
constexpr int kExitUsage = 2;
constexpr int kExitInconclusive = 3;

class Output {
 public:
  // `program` starts every error sentence. The streams are borrowed.
  Output(std::string program, std::FILE* out, std::FILE* err);

  const std::string& program() const { return program_; }
  void set_json(bool json) { json_ = json; }
  bool json() const { return json_; }
  // Colour is for terminals, and only where NO_COLOR is not set.
  bool colour() const { return colour_; }

  void print(std::string_view text);
  // A remark on standard error that is not a failure; silent under --json.
  void note(std::string_view sentence);

  int fail(const base::Error& error);
  // With particulars: lines below the sentence, or members of the JSON object.
  int fail(const base::Error& error, std::string_view lines, const base::Json& members);
  // The guest trapped: the trap's own lines, or an object with its code and frames.
  int trap(const Trap& trap);

  // What is done already even if standard output cannot be written, to be said then.
  void set_done(std::string sentence) { done_ = std::move(sentence); }

  // Flushes; `code`, unless standard output could not be written.
  int finish(int code);

 private:
  void note_broken();

  std::string program_;
  std::FILE* out_;
  std::FILE* err_;
  bool json_ = false;
  bool colour_ = false;
  std::string done_;
  int write_error_ = 0;  // errno of the first write that failed
};

// Dies of the signal that interrupted the work, once all is said, so that whoever started the program sees
// it; `code` if there was none.
int ended_by(int signal, int code);

// What an error object says of a trap: kind, trap, frames, frames_truncated.
base::Json trap_members(const Trap& trap);

}  // namespace wago::cli
