#include <unistd.h>

#include <memory>
#include <utility>

#include "base/duration.h"
#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "capture/catalog.h"
#include "cli/disassemble.h"
#include "cli/flags.h"
#include "cli/output.h"
#include "cli/profile_commands.h"
#include "cli/side_flags.h"
#include "cli/status_line.h"
#include "diff/explanation.h"
#include "harness/explain_captures.h"
#include "harness/recorder.h"

namespace wago::cli::profile {

namespace {

using base::Result;
using base::usage_error;
using capture::ExperimentSide;
using capture::ExplainPart;
using capture::index_of;
using capture::kExperimentSides;

constexpr const char* kThisProgram = "/proc/self/exe";

struct ExplainFlags {
  std::string experiment;
  std::string workload;
  std::optional<std::string> catalog;
  SideFlags sides;
  std::optional<std::string> duration, rate;
  std::optional<std::string> out;
  bool assembly = false;
  bool json = false;
};

Result<harness::SideRequest> side_of(const ExplainFlags& flags, const capture::SideRecord& recorded,
                                     ExperimentSide which) {
  const bool baseline = which == ExperimentSide::Baseline;
  const auto& program = baseline ? flags.sides.baseline : flags.sides.candidate;
  harness::SideRequest side;
  auto found = find_side_program(baseline ? "--baseline" : "--candidate", program.value_or(kThisProgram));
  if (!found) return found.error();
  side.program = std::move(*found);
  side.modules = (baseline ? flags.sides.baseline_modules : flags.sides.candidate_modules).value_or("");
  if (!recorded.setting.empty()) {
    auto setting =
        parse_setting("the setting of the " + std::string(capture::spelling(which)), recorded.setting);
    if (!setting) return setting.error();
    side.setting = std::move(*setting);
  }
  side.slowdown_ppm = recorded.slowdown_ppm;
  return side;
}

// Before anything of it is run: it might fail, or never end.
Result<void> check_contract(const ExplainFlags& flags, const capture::Workload& declared,
                            const capture::ExperimentWorkload& measured) {
  const std::string contract = base::to_hex(capture::contract_sha256(declared));
  // What failed may have none.
  if (measured.contract_sha256.empty() || measured.contract_sha256 == contract) return {};
  return usage_error(declared.id + " is not what was measured: its contract was " + measured.contract_sha256 +
                         " and is " + contract + "; name the catalog of the experiment",
                     {.file = *flags.catalog});
}

Result<harness::ExplainRequest> request_of(const ExplainFlags& flags, const capture::Experiment& experiment,
                                           size_t number, const std::string& directory) {
  harness::ExplainRequest request;
  request.path = flags.experiment;
  request.experiment = experiment;
  request.number = number;
  request.out = directory;
  auto catalog = capture::read_catalog(*flags.catalog);
  if (!catalog) return catalog.error();
  request.catalog = catalog->name;
  auto workload = catalog->find(flags.workload);
  if (!workload) return workload.error();
  if (auto same = check_contract(flags, *workload, experiment.workloads[number]); !same) return same.error();
  request.workload = std::move(*workload);
  for (ExperimentSide side : kExperimentSides) {
    auto made = side_of(flags, experiment.sides[index_of(side)], side);
    if (!made) return made.error();
    request.sides[index_of(side)] = std::move(*made);
  }
  if (flags.duration) {
    auto duration = base::parse_duration_ns(*flags.duration);
    if (!duration) return in_flag("--duration", duration.error());
    request.duration_ns = *duration;
  }
  if (flags.rate) {
    auto rate = parse_number("--rate", *flags.rate, 1, harness::kMaxRateHz);
    if (!rate) return rate.error();
    request.rate_hz = *rate;
  }
  return request;
}

// Captures of both sides; nothing: not of both.
Result<std::optional<diff::BothSides>> load_both(const std::string& baseline, const std::string& candidate) {
  std::optional<diff::BothSides> both;
  base::Files& files = base::system_files();
  if (!files.exists(baseline) || !files.exists(candidate)) return both;
  auto before = diff::load(baseline);
  if (!before) return before.error();
  auto after = diff::load(candidate);
  if (!after) return after.error();
  both = {std::move(*before), std::move(*after)};
  return both;
}

Result<std::optional<diff::BothSides>> load_part(const std::string& directory, const std::string& workload,
                                                 ExplainPart part) {
  const auto path = [&](ExperimentSide side) {
    return base::join_path(directory, capture::explain_capture(workload, side, part));
  };
  return load_both(path(ExperimentSide::Baseline), path(ExperimentSide::Candidate));
}

// What was recorded to explain it, else what the experiment itself has.
Result<diff::ExplainedCaptures> load_captures(const std::string& experiment, const std::string& directory,
                                              const capture::ExperimentWorkload& workload) {
  diff::ExplainedCaptures captures;
  auto exact = load_part(directory, workload.id, ExplainPart::Exact);
  if (!exact) return exact.error();
  if (!*exact && !workload.captures[0].empty() && !workload.captures[1].empty()) {
    exact = load_both(base::join_path(experiment, workload.captures[0]),
                      base::join_path(experiment, workload.captures[1]));
    if (!exact) return exact.error();
  }
  captures.exact = std::move(*exact);
  auto sampled = load_part(directory, workload.id, ExplainPart::Sampled);
  if (!sampled) return sampled.error();
  captures.sampled = std::move(*sampled);
  return captures;
}

// Whether the directory that was named is of any use.
Result<void> check_out(const ExplainFlags& flags) {
  if (!flags.out) return {};
  if (auto good = check_directory("--out", *flags.out); !good || flags.catalog) return good;
  base::Files& files = base::system_files();
  for (ExplainPart part : {ExplainPart::Exact, ExplainPart::Sampled}) {
    const auto there = [&](ExperimentSide side) {
      return files.exists(base::join_path(*flags.out, capture::explain_capture(flags.workload, side, part)));
    };
    if (there(ExperimentSide::Baseline) && there(ExperimentSide::Candidate)) return {};
  }
  return usage_error("--out: " + base::display(*flags.out) + " holds no recordings of both sides of " +
                     base::printable(flags.workload) + ", and without --catalog none are made");
}

harness::ExplainOutcome record(harness::ExplainRequest request, const Output& output) {
  StatusLine line(!output.json() && isatty(STDERR_FILENO) == 1);
  request.on_progress = [&](const std::string& doing) {
    if (line.shown()) line.show(doing);
  };
  return harness::record_for_explanation(request);
}

int explain(const ExplainFlags& flags, Output& output) {
  if (!flags.catalog && (flags.sides.given() || flags.duration || flags.rate)) {
    return output.fail(
        usage_error("--catalog is missing: what is given besides it is for recording, which needs it"));
  }
  auto report = diff::report_on(flags.experiment);
  if (!report) return output.fail(report.error());
  auto number = capture::find_workload(report->experiment, flags.workload, flags.experiment);
  if (!number) return output.fail(number.error());
  if (auto good = check_out(flags); !good) return output.fail(good.error());
  const std::string directory =
      flags.out.value_or(base::join_path(flags.experiment, capture::kExplainDirectory));
  std::vector<std::string> remarks;
  if (flags.catalog) {
    auto request = request_of(flags, report->experiment, *number, directory);
    if (!request) return output.fail(request.error());
    harness::ExplainOutcome outcome = record(std::move(*request), output);
    if (outcome.error) return ended_by(outcome.interrupted_by, output.fail(*outcome.error));
    remarks = std::move(outcome.remarks);
  }
  auto captures = load_captures(flags.experiment, directory, report->experiment.workloads[*number]);
  if (!captures) return output.fail(captures.error());
  auto explanation = diff::explain(std::move(*report), *number, *captures, disassembler());
  if (!explanation) return output.fail(explanation.error());
  explanation->remarks.insert(explanation->remarks.begin(), remarks.begin(), remarks.end());
  // Just now all was tried.
  if (flags.catalog) explanation->can_say_more = false;
  const diff::ExplanationShown shown = {flags.assembly, output.colour()};
  output.print(flags.json ? diff::to_json(*explanation, shown).dump(2) + "\n"
                          : diff::to_text(*explanation, shown));
  return kExitDone;
}

}  // namespace

void add_explain(Command& profile) {
  auto flags = std::make_shared<ExplainFlags>();
  Command& command =
      profile.add_command("explain", "What differs between the sides of an experiment, and where");
  command.add_operand("EXPERIMENT", "An experiment (.wagoexp)", &flags->experiment);
  command.add_operand("WORKLOAD", "A workload of it", &flags->workload);
  command.group("Recording");
  command.add_option("--catalog", "FILE", "Record both sides first: the catalog that declares the workload",
                     &flags->catalog);
  flags->sides.add_to(command);
  command.add_option("--duration", "D", "Of sampling each side (default 5s)", &flags->duration);
  command.add_option("--rate", "HZ", "Samples a second (default 999)", &flags->rate);
  command.add_option("--out", "DIR", "Where recordings go and are looked for (default EXPERIMENT/explain)",
                     &flags->out);
  command.group("Output");
  command.add_flag("--assembly", "Both sides of each function whole, not only the instructions that differ",
                   &flags->assembly);
  command.add_flag("--json", "As JSON", &flags->json);
  command.set_footer(
      "Without --catalog nothing is recorded: what was, or what the experiment itself holds, is shown. "
      "Programs that are\n"
      "not named are this one. What is not what was measured - program, module, code - is refused (exit 2).");
  command.set_action([flags](Output& output) { return explain(*flags, output); });
}

}  // namespace wago::cli::profile
