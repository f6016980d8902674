// The flags by which an experiment is read; the same wherever one is.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "diff/floor.h"
#include "diff/instruction_gate.h"
#include "diff/verdict.h"

namespace wago::cli {

class Command;
class Output;

struct VerdictFlags {
  std::optional<std::string> confidence, floor, margin, fail_on, instruction_floor;
  bool strict = false;

  void add_to(Command& command);
  // Whether they are about intervals, which sides that did not run together have none of: all but the gate on
  // what was executed.
  bool need_pairs() const;
};

// What is left of them for sides that did not run together.
inline constexpr const char* kUnpairedGate = "--fail-on instructions, with --instruction-floor";

struct Reading {
  diff::ReadSettings settings;
  diff::FailOn fail_on = diff::FailOn::Regression;
  bool strict = false;

  std::optional<double> instruction_floor;  // nothing: executed instructions are no gate
};

// Errors name the flag and what it takes.
base::Result<Reading> reading_of(const VerdictFlags& flags);

// The exit code of several readings, from those of two of them: what is wrong counts before what is only
// inconclusive, whatever the numbers are.
int graver(int code, int other);

// Gives the report the gate on executed instructions, if it is read with one.
template <class Report>
void set_gate(Report& report, const Reading& reading) {
  if (reading.instruction_floor) diff::set_instruction_gate(report, *reading.instruction_floor);
}

// The exit code of reports that have `code` by themselves, with their gates on executed instructions, if they
// are read with one; what fails there is noted. Error (Usage), at `path`: nothing is known of any workload,
// so that the gate could not fail.
base::Result<int> with_gate(int code, const diff::GatedInstructions& gated, const Reading& reading,
                            const std::string& path, Output& output);

// "1%", "0.25 %" or "1": percent, as a share. From 0 to below 100.
base::Result<double> parse_percent(std::string_view flag, std::string_view text);

}  // namespace wago::cli
