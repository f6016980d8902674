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
  std::optional<std::string> confidence, floor, margin, fail_on;
  bool strict = false;

  void add_to(Command& command);
  // Sides that did not run together have no intervals: but for a gate on what was executed, and its floor.
  bool need_pairs() const;
};

// What is left of them for sides that did not run together.
inline constexpr const char* kUnpairedGate = "--fail-on instructions, with --floor";

struct Reading {
  diff::ReadSettings settings;
  diff::FailOn fail_on = diff::FailOn::Regression;
  bool strict = false;

  // What the reports that are read so have as theirs.
  std::optional<double> instruction_floor() const {
    return fail_on == diff::FailOn::Instructions ? std::optional(settings.verdicts.floor) : std::nullopt;
  }
};

// Errors name the flag and what it takes.
base::Result<Reading> reading_of(const VerdictFlags& flags);

// The exit code of several readings, from those of two of them: what is wrong counts before what is only
// inconclusive, whatever the numbers are.
int graver(int code, int other);

// The exit code of a report that has `code` by itself, with its gate on executed instructions, if it has one.
// What fails there, and what is not gated, is noted. Error (Usage): nothing is known of any workload, so that
// the gate could not fail.
base::Result<int> with_instruction_gate(int code, const diff::GatedInstructions& gated,
                                        const Reading& reading, const std::string& path, Output& output);
template <class Report>
base::Result<int> with_instruction_gate(int code, const Report& report, const Reading& reading,
                                        const std::string& path, Output& output) {
  if (!report.instruction_floor) return code;
  return with_instruction_gate(code, diff::gate_instructions(report), reading, path, output);
}

// "1%", "0.25 %" or "1": percent, as a share. From 0 to below 100.
base::Result<double> parse_percent(std::string_view flag, std::string_view text);

}  // namespace wago::cli
