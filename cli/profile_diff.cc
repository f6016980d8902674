#include <memory>

#include "base/json.h"
#include "cli/contract.h"
#include "cli/disassemble.h"
#include "cli/flags.h"
#include "cli/history_file.h"
#include "cli/output.h"
#include "cli/profile_commands.h"
#include "cli/result_files.h"
#include "cli/verdict_flags.h"
#include "diff/compare.h"
#include "diff/report.h"
#include "diff/side_by_side.h"
#include "diff/unpaired.h"

namespace wago::cli::profile {

namespace {

struct DiffFlags {
  std::vector<std::string> pair;
  std::vector<std::string> baseline;
  std::vector<std::string> candidate;
  std::optional<std::string> function, history;
  bool assembly = false;
  VerdictFlags verdicts;
  bool json = false;
};

// One experiment, which holds both sides.
int read_experiment(const DiffFlags& flags, Output& output) {
  auto reading = reading_of(flags.verdicts);
  if (!reading) return output.fail(reading.error());
  if (flags.history) {
    if (auto learned = learn_floor_from(*flags.history, reading->settings); !learned)
      return output.fail(learned.error());
  }
  auto report = diff::report_on(flags.pair[0], reading->settings);
  if (!report) return output.fail(report.error());
  set_gate(*report, *reading);
  output.print(flags.json ? diff::to_json(*report).dump(2) + "\n" : diff::to_text(*report, output.colour()));
  auto code = with_gate(diff::exit_code(report->findings, reading->fail_on, reading->strict),
                        diff::gate_instructions(*report), *reading, flags.pair[0], output);
  return code ? *code : output.fail(code.error());
}

// The two sides, however they were given.
base::Result<void> resolve(DiffFlags& flags) {
  if (flags.assembly && !flags.function) {
    return base::usage_error("--assembly needs --function: the function whose machine code is compared");
  }
  bool named = !flags.baseline.empty() || !flags.candidate.empty();
  if (!flags.pair.empty()) {
    if (named) return base::usage_error("name either A B or --baseline and --candidate, not both");
    if (flags.pair.size() != 2) {
      return base::usage_error("two captures are wanted, " + std::to_string(flags.pair.size()) +
                               (flags.pair.size() == 1 ? " was" : " were") +
                               " given; sets are named with --baseline A... --candidate B...");
    }
    flags.baseline = {flags.pair[0]};
    flags.candidate = {flags.pair[1]};
  }
  if (named && (flags.baseline.empty() || flags.candidate.empty())) {
    return base::usage_error(flags.baseline.empty() ? "--baseline is missing: the captures to compare with"
                                                    : "--candidate is missing: the captures to compare");
  }
  if (flags.baseline.empty()) {
    return base::usage_error("two captures are wanted: diff A B, or diff --baseline A... --candidate B...");
  }
  return {};
}

base::Result<diff::Annotation> annotate_side(const diff::Evidence& evidence, const DiffFlags& flags) {
  auto choice = diff::choose_function(evidence, *flags.function);
  if (!choice) return choice.error();
  return diff::annotate(evidence, *choice, disassembler(), nullptr, flags.assembly);
}

// One function of two captures, which may be compared: whoever calls has seen to it.
int compare_function(const diff::Evidence& baseline, const diff::Evidence& candidate, const DiffFlags& flags,
                     Output& output) {
  auto before = annotate_side(baseline, flags);
  if (!before) return output.fail(before.error());
  auto after = annotate_side(candidate, flags);
  if (!after) return output.fail(after.error());
  const diff::SideBySide both = diff::align(std::move(*before), std::move(*after));
  output.print(flags.json ? diff::to_json(both).dump(2) + "\n" : diff::to_text(both, output.colour()));
  return kExitDone;
}

int compare_results(const DiffFlags& flags, Output& output) {
  if (flags.verdicts.fail_on) {
    return output.fail(
        base::usage_error("--fail-on instructions needs captures: other tools' results hold no counts"));
  }
  if (flags.function) {
    return output.fail(base::usage_error("--function needs captures: other tools' results have no code"));
  }
  auto report = compare_result_files(flags.baseline, flags.candidate);
  if (!report) return output.fail(report.error());
  output.print(flags.json ? diff::to_json(*report).dump(2) + "\n" : diff::to_text(*report, output.colour()));
  return flags.verdicts.strict ? kExitInconclusive : kExitDone;
}

int compare(DiffFlags& flags, Output& output) {
  if (flags.pair.size() == 1 && capture::is_experiment(flags.pair[0])) {
    if (!flags.function && !flags.assembly) return read_experiment(flags, output);
    return output.fail(base::usage_error(
        "--function and --assembly are for captures; `profile explain` shows functions of an experiment"));
  }
  for (const std::string& path : flags.pair) {
    if (!capture::is_experiment(path)) continue;
    return output.fail(base::usage_error(
        "is an experiment, which has both sides in it: name it alone, or several to `profile report`",
        {.file = path}));
  }
  auto reading = reading_of(flags.verdicts);
  if (!reading) return output.fail(reading.error());
  if (flags.verdicts.need_pairs() || flags.history) {
    return output.fail(
        base::usage_error("--confidence, --floor, --history, --margin and --fail-on are for "
                          "experiments: captures did not run together; of them there is " +
                          std::string(kUnpairedGate)));
  }
  if (auto sides = resolve(flags); !sides) return output.fail(sides.error());
  auto results = are_result_files(flags.baseline, flags.candidate);
  if (!results) return output.fail(results.error());
  if (*results) return compare_results(flags, output);
  auto baseline = diff::load_all(flags.baseline);
  if (!baseline) return output.fail(baseline.error());
  auto candidate = diff::load_all(flags.candidate);
  if (!candidate) return output.fail(candidate.error());
  auto comparison = diff::compare(*baseline, *candidate, disassembler());
  if (!comparison) return output.fail(comparison.error());
  if (!comparison->contract.empty()) return refuse_contract(comparison->contract, output);
  if (flags.function) {
    if (flags.verdicts.fail_on || flags.verdicts.strict)
      return output.fail(
          base::usage_error("--fail-on and --strict are of whole captures: leave --function out"));
    if (baseline->size() != 1 || candidate->size() != 1) {
      return output.fail(base::usage_error("--function compares two captures, not sets of them"));
    }
    return compare_function(baseline->front(), candidate->front(), flags, output);
  }
  const int code = flags.verdicts.strict && !comparison->conclusive() ? kExitInconclusive : kExitDone;
  base::Json json = flags.json ? diff::to_json(*comparison) : base::Json();
  if (!flags.json) output.print(diff::to_text(*comparison, output.colour()));
  diff::UnpairedReport report =
      diff::compare_captures(std::move(*comparison), flags.baseline, flags.candidate);
  set_gate(report, *reading);
  const diff::GatedInstructions gated = diff::gate_instructions(report);
  if (flags.json) {
    auto list = [](const std::vector<std::string>& sentences) {
      return base::Json::array(std::vector<base::Json>(sentences.begin(), sentences.end()));
    };
    json.set("instruction_failures", list(gated.failures));
    json.set("instructions_not_gated",
             list(reading->instruction_floor ? gated.unknown : std::vector<std::string>()));
    output.print(json.dump(2) + "\n");
  }
  auto its = with_gate(code, gated, *reading, flags.candidate.front(), output);
  return its ? *its : output.fail(its.error());
}

}  // namespace

void add_diff(Command& profile) {
  auto flags = std::make_shared<DiffFlags>();
  Command& command = profile.add_command("diff", "Compare two captures, or two sets of captures");
  command.add_rest("CAPTURE",
                   "Two captures or files of results, the baseline, then the candidate; or one experiment",
                   &flags->pair);
  command.add_list("--baseline", "CAPTURE", "The captures or files of the baseline", &flags->baseline);
  command.add_list("--candidate", "CAPTURE", "The captures or files of the candidate", &flags->candidate);
  flags->verdicts.add_to(command);
  command.add_option("--history", "STORE",
                     "Of an experiment: learns the floor from the controls of a history", &flags->history);
  command.add_option("--function", "NAME|INDEX", "One function on both sides, its instructions aligned",
                     &flags->function);
  command.add_flag("--assembly",
                   "With --function: machine instructions, or exit 2 where a capture does not hold its code",
                   &flags->assembly);
  command.add_flag("--json", "As JSON", &flags->json);
  command.set_footer(
      "Captures whose measurement contracts differ are refused (exit 2). Elapsed times of captures that did "
      "not run\n"
      "together are shown but decide nothing; nor do results of Google Benchmark (JSON), Go (text) and "
      "hyperfine (JSON).");
  command.set_action([flags](Output& output) { return compare(*flags, output); });
}

}  // namespace wago::cli::profile
