#include "cli/verdict_flags.h"

#include <array>
#include <charconv>
#include <cmath>

#include "base/text.h"
#include "cli/flags.h"
#include "cli/output.h"

namespace wago::cli {

namespace {

constexpr std::array kFailOnWords = {
#define WAGO_FAIL_ON(name, spelling) std::string_view(spelling),
#include "base/reports.def"
};

// A plain decimal number, all of `text`; from_chars would take "inf" and "nan" for numbers too.
std::optional<double> decimal(std::string_view text) {
  double value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || !std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace

int graver(int code, int other) {
  auto rank = [](int of) { return of == kExitDone ? 0 : of == kExitInconclusive ? 1 : 1 + of; };
  return rank(other) > rank(code) ? other : code;
}

base::Result<double> parse_percent(std::string_view flag, std::string_view text) {
  std::string_view digits = text;
  if (digits.ends_with('%')) digits.remove_suffix(1);
  if (digits.ends_with(' ')) digits.remove_suffix(1);
  const auto value = decimal(digits);
  if (value && *value >= 0 && *value < 100) return *value / 100;
  return base::usage_error(std::string(flag) + ": " + base::display(text) +
                           " is not a percentage, such as 0.25%");
}

bool VerdictFlags::need_pairs() const {
  return confidence || margin || floor ||
         (fail_on && fail_on != kFailOnWords[static_cast<size_t>(diff::FailOn::Instructions)]);
}

base::Result<int> with_gate(int code, const diff::GatedInstructions& gated, const Reading& reading,
                            const std::string& path, Output& output) {
  if (!reading.instruction_floor) return code;
  for (const auto* sentences : {&gated.failures, &gated.unknown}) {
    for (const std::string& sentence : *sentences) output.note(sentence);
  }
  if (gated.known == 0) {
    return base::usage_error(
        "--fail-on instructions: no workload can be gated; both sides must have counted the same work, as "
        "captures of `record --backend count --iterations N` have, and experiments but for those of "
        "--no-captures and of programs that cannot count",
        {.file = path});
  }
  if (reading.strict && !gated.unknown.empty()) code = graver(code, kExitInconclusive);
  return gated.failures.empty() ? code : graver(code, kExitFailed);
}

void VerdictFlags::add_to(Command& command) {
  command.add_option("--confidence", "P", "Of the intervals, 0.5 to 0.99999 (default 0.99)", &confidence);
  command.add_option("--floor", "PERCENT", "Changes up to this are not told from none (default 0.25%)",
                     &floor);
  command.add_option("--margin", "PERCENT", "\"Same\" is within this (default 1%)", &margin);
  command.add_option("--fail-on", "WHAT",
                     "Exit 1 on: regression (default), change, inconclusive, instructions, never", &fail_on);
  command.add_option("--instruction-floor", "PERCENT",
                     "With --fail-on instructions: more up to this are let pass (default 0.25%)",
                     &instruction_floor);
  command.add_flag("--strict", "Exit 3 when a verdict is inconclusive", &strict);
}

base::Result<Reading> reading_of(const VerdictFlags& flags) {
  Reading reading;
  reading.strict = flags.strict;
  if (flags.confidence) {
    const auto value = decimal(*flags.confidence);
    if (!value || *value < 0.5 || *value > 0.99999) {
      return base::usage_error("--confidence: " + base::display(*flags.confidence) +
                               " is not a number from 0.5 to 0.99999");
    }
    reading.settings.verdicts.confidence = *value;
  }
  diff::VerdictSettings& verdicts = reading.settings.verdicts;
  for (const auto& [flag, given, to] : {std::tuple("--floor", &flags.floor, &verdicts.floor),
                                        std::tuple("--margin", &flags.margin, &verdicts.margin)}) {
    if (!*given) continue;
    auto value = parse_percent(flag, **given);
    if (!value) return value.error();
    *to = *value;
  }
  reading.settings.floor_given = flags.floor.has_value();
  reading.settings.margin_given = flags.margin.has_value();
  // Whatever a history teaches beyond it.
  if (auto by = diff::read_by(reading.settings, "", ""); !by) return by.error();
  if (flags.fail_on) {
    size_t word = 0;
    while (word < kFailOnWords.size() && kFailOnWords[word] != *flags.fail_on) ++word;
    if (word == kFailOnWords.size()) return not_a_word("--fail-on", *flags.fail_on, kFailOnWords);
    reading.fail_on = static_cast<diff::FailOn>(word);
  }
  if (reading.fail_on == diff::FailOn::Instructions) reading.instruction_floor = diff::kInstructionFloor;
  if (flags.instruction_floor) {
    if (!reading.instruction_floor)
      return base::usage_error("--instruction-floor is for --fail-on instructions");
    auto floor = parse_percent("--instruction-floor", *flags.instruction_floor);
    if (!floor) return floor.error();
    reading.instruction_floor = *floor;
  }
  return reading;
}

}  // namespace wago::cli
