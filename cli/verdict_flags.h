// The flags by which an experiment is read; the same wherever one is.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "diff/floor.h"
#include "diff/verdict.h"

namespace wago::cli {

class Command;

struct VerdictFlags {
  std::optional<std::string> confidence, floor, margin, fail_on;
  bool strict = false;

  void add_to(Command& command);
  bool given() const { return confidence || floor || margin || fail_on; }
};

struct Reading {
  diff::ReadSettings settings;
  diff::FailOn fail_on = diff::FailOn::Regression;
  bool strict = false;
};

// Errors name the flag and what it takes.
base::Result<Reading> reading_of(const VerdictFlags& flags);

// The exit code of several readings, from those of two of them: what is wrong counts before what is only
// inconclusive, whatever the numbers are.
int graver(int code, int other);

// "1%", "0.25 %" or "1": percent, as a share. From 0 to below 100.
base::Result<double> parse_percent(std::string_view flag, std::string_view text);

}  // namespace wago::cli
