#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/duration.h"
#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "base/vocabulary.h"
#include "capture/catalog.h"
#include "cli/experimenting.h"
#include "cli/flags.h"
#include "cli/history_file.h"
#include "cli/output.h"
#include "cli/profile_commands.h"
#include "cli/side_flags.h"
#include "cli/verdict_flags.h"
#include "diff/quantity.h"
#include "harness/experiment.h"

namespace wago::cli::profile {

namespace {

using base::Result;
using base::usage_error;

constexpr double kMillion = 1e6;
constexpr std::array<std::string_view, 2> kInjectable = {"candidate", "controls"};

struct ExperimentFlags {
  std::optional<std::string> catalog;
  std::vector<std::string> workloads;
  SideFlags sides;
  std::optional<std::string> baseline_arg, candidate_arg;
  AmountFlags amount;
  std::optional<std::string> seed, cpu, answer_timeout, inject_slowdown, inject_into, history;
  bool no_captures = false;
  std::optional<std::string> out;
  bool json = false;
};

Result<harness::SideRequest> side_of(const char* flag, const std::optional<std::string>& program,
                                     const std::optional<std::string>& modules, const char* arg_flag,
                                     const std::optional<std::string>& arg) {
  harness::SideRequest side;
  if (!program)
    return usage_error(std::string(flag) + " is missing: a wago-profile of the revision to measure");
  auto found = find_side_program(flag, *program);
  if (!found) return found.error();
  side.program = std::move(*found);
  side.modules = modules.value_or("");
  if (modules && !base::system_files().is_directory(*modules)) {
    return usage_error(std::string(flag) + "-modules: is no directory", {.file = *modules});
  }
  if (arg) {
    auto setting = parse_setting(arg_flag, *arg);
    if (!setting) return setting.error();
    side.setting = std::move(*setting);
  }
  return side;
}

Result<std::vector<capture::Workload>> workloads_of(const ExperimentFlags& flags, std::string& name) {
  if (!flags.catalog) return usage_error("--catalog is missing: the workloads to measure");
  auto catalog = capture::read_catalog(*flags.catalog);
  if (!catalog) return catalog.error();
  name = catalog->name;
  if (flags.workloads.empty()) return catalog->workloads;
  std::vector<capture::Workload> chosen;
  for (const std::string& id : flags.workloads) {
    auto workload = catalog->find(id);
    if (!workload) return workload.error();
    for (const capture::Workload& other : chosen) {
      if (other.id == id) return usage_error("--workload " + id + " is given twice");
    }
    chosen.push_back(std::move(*workload));
  }
  return chosen;
}

struct Parsed {
  harness::ExperimentRequest request;
  std::unique_ptr<harness::StoppingRule> rule;
  diff::ReadSettings settings;  // by which it is decided what is settled
};

base::Result<void> parse_amounts(const ExperimentFlags& flags, Parsed& parsed) {
  harness::ExperimentRequest& request = parsed.request;
  if (flags.history) {
    if (auto learned = learn_floor_from(*flags.history, parsed.settings); !learned) return learned;
  }
  auto amount = amount_of(flags.amount, parsed.settings);
  if (!amount) return amount.error();
  request.budget_ns = amount->budget_ns;
  parsed.rule = std::move(amount->rule);
  if (flags.answer_timeout) {
    auto timeout = base::parse_duration_ns(*flags.answer_timeout);
    if (!timeout) return in_flag("--answer-timeout", timeout.error());
    request.answer_timeout_ns = *timeout;
  }
  if (flags.seed) {
    auto seed = parse_number("--seed", *flags.seed, 0, UINT64_MAX);
    if (!seed) return seed.error();
    request.seed = *seed;
  }
  if (flags.cpu) {
    auto cpu = parse_number("--cpu", *flags.cpu, 0, UINT32_MAX);
    if (!cpu) return cpu.error();
    request.cpu = static_cast<uint32_t>(*cpu);
  }
  return {};
}

bool is_one_place(const std::string& a, const std::string& b) {
  std::error_code unseen;
  return a == b || (std::filesystem::equivalent(a, b, unseen) && !unseen);
}

// A copy is the same program. What cannot be read is not.
bool is_one_program(const std::string& a, const std::string& b) {
  if (is_one_place(a, b)) return true;
  std::error_code unseen;
  const auto bytes = std::filesystem::file_size(a, unseen);
  if (unseen || bytes != std::filesystem::file_size(b, unseen) || unseen) return false;
  auto one = base::system_files().read(a, bytes);
  auto other = base::system_files().read(b, bytes);
  return one && other && *one == *other;
}

// Or it would not be known what a change comes from.
Result<void> check_one_difference(const ExperimentFlags& flags, const harness::SideRequest& baseline,
                                  const harness::SideRequest& candidate) {
  if (flags.baseline_arg && flags.candidate_arg &&
      split_setting(*flags.baseline_arg).first != split_setting(*flags.candidate_arg).first) {
    return usage_error("the sides may differ in one setting, not in " + baseline.setting.text + " and " +
                       candidate.setting.text);
  }
  std::vector<std::string_view> differ;
  if (!is_one_program(baseline.program, candidate.program))
    differ.push_back("the program (--baseline and --candidate)");
  if (!is_one_place(baseline.modules, candidate.modules))
    differ.push_back("the modules (--baseline-modules, --candidate-modules)");
  if (baseline.setting.text != candidate.setting.text)
    differ.push_back("a setting (--baseline-arg, --candidate-arg)");
  if (differ.size() <= 1) return {};
  return usage_error(
      "the sides may differ in one thing, or it is not known what a change comes from; here they differ in " +
      base::join(differ));
}

Result<Parsed> parse(const ExperimentFlags& flags) {
  Parsed parsed;
  harness::ExperimentRequest& request = parsed.request;
  auto workloads = workloads_of(flags, request.catalog);
  if (!workloads) return workloads.error();
  request.workloads = std::move(*workloads);
  auto baseline = side_of("--baseline", flags.sides.baseline, flags.sides.baseline_modules, "--baseline-arg",
                          flags.baseline_arg);
  if (!baseline) return baseline.error();
  auto candidate = side_of("--candidate", flags.sides.candidate, flags.sides.candidate_modules,
                           "--candidate-arg", flags.candidate_arg);
  if (!candidate) return candidate.error();
  if (auto one = check_one_difference(flags, *baseline, *candidate); !one) return one.error();
  if (flags.inject_slowdown) {
    auto share = parse_percent("--inject-slowdown", *flags.inject_slowdown);
    if (!share) return share.error();
    const auto ppm = static_cast<uint64_t>(std::llround(*share * kMillion));
    const std::string into = flags.inject_into.value_or(std::string(kInjectable[0]));
    if (into != kInjectable[0] && into != kInjectable[1])
      return not_a_word("--inject-into", into, kInjectable);
    (into == kInjectable[0] ? candidate->slowdown_ppm : request.control_slowdown_ppm) = ppm;
  } else if (flags.inject_into) {
    return usage_error("--inject-into says where --inject-slowdown goes, which is missing");
  }
  request.sides = {std::move(*baseline), std::move(*candidate)};
  if (auto amounts = parse_amounts(flags, parsed); !amounts) return amounts.error();
  if (!flags.out || flags.out->empty()) {
    return usage_error("--out is missing: the directory of the experiment, NAME.wagoexp");
  }
  request.out = *flags.out;
  request.record_captures = !flags.no_captures;
  return parsed;
}

int print_outcome(const harness::ExperimentOutcome& outcome, const std::string& out,
                  const diff::ReadSettings& settings, bool json, Output& output) {
  const auto by = diff::read_by(settings, outcome.experiment.target, outcome.experiment.cpu_model);
  std::vector<std::string> failed;
  size_t controls = 0;
  for (const capture::ExperimentWorkload& workload : outcome.experiment.workloads) {
    controls += workload.control ? 1 : 0;
    if (workload.state == capture::WorkloadState::Failed) {
      failed.push_back((workload.control ? "control " : "") + workload.id + ": " + workload.diagnostic);
    }
  }
  const size_t workloads = outcome.experiment.workloads.size() - controls;
  if (json) {
    output.print(base::Json::object({{"experiment", out},
                                     {"complete", outcome.experiment.complete},
                                     {"workloads", workloads},
                                     {"controls", controls},
                                     {"failed", failed.size()},
                                     {"pairs", outcome.pairs},
                                     {"new_pairs", outcome.new_pairs},
                                     {"elapsed_ns", outcome.experiment.elapsed_ns},
                                     {"floor", by ? diff::to_json(by->floor) : base::Json()}})
                     .dump() +
                 "\n");
  } else {
    output.print(base::display(out) + ": " + diff::format_plural(outcome.pairs, "pair") + " of " +
                 diff::format_plural(workloads, "workload") + " and " +
                 diff::format_plural(controls, "control") +
                 (outcome.continued ? ", " + diff::format_count(outcome.new_pairs) + " of them new" : "") +
                 ", " + diff::format_ns(static_cast<double>(outcome.experiment.elapsed_ns)) + "\n");
    if (by && !settings.history.empty()) output.print("  floor " + diff::to_text(by->floor) + "\n");
    for (const std::string& sentence : failed) output.print("  failed: " + base::printable(sentence) + "\n");
  }
  return failed.empty() ? kExitDone : kExitFailed;
}

int experiment(const ExperimentFlags& flags, Output& output) {
  auto parsed = parse(flags);
  if (!parsed) return output.fail(parsed.error());
  harness::ExperimentRequest& request = parsed->request;
  const harness::ExperimentOutcome outcome = experiment_with_progress(request, *parsed->rule, output);
  if (outcome.error) return fail_experiment(outcome, request.out, output);
  output.set_done("the experiment " + request.out + " is complete");
  return print_outcome(outcome, request.out, parsed->settings, flags.json, output);
}

}  // namespace

void add_experiment(Command& profile) {
  auto flags = std::make_shared<ExperimentFlags>();
  Command& command =
      profile.add_command("experiment", "Measure two revisions, modules or settings together, in pairs");
  command.group("What is measured");
  command.add_option("--catalog", "FILE", "A catalog of declared workloads", &flags->catalog);
  command.add_list("--workload", "ID", "Only these (default: all of the catalog)", &flags->workloads);
  command.group("Sides");
  flags->sides.add_to(command);
  command.add_option("--baseline-arg", "SETTING", "A setting of the baseline alone: 'level 0'",
                     &flags->baseline_arg);
  command.add_option("--candidate-arg", "SETTING", "A setting of the candidate alone: 'bounds explicit'",
                     &flags->candidate_arg);
  command.group("How long");
  command.add_option("--budget", "D", "Time for everything (default 150s; none with --pairs)",
                     &flags->amount.budget);
  command.add_option("--pairs", "N", "So many pairs of each workload (default: until there are verdicts)",
                     &flags->amount.pairs);
  command.add_option("--history", "STORE", "What is settled goes by the floor that its controls teach",
                     &flags->history);
  command.add_option("--answer-timeout", "D", "When a silent side counts as hung (default 60s)",
                     &flags->answer_timeout);
  command.group("Conditions");
  command.add_option("--seed", "N", "Of what is drawn at random (default: another each time)", &flags->seed);
  command.add_option("--cpu", "N", "The CPU that both sides share (default: drawn for each pair)",
                     &flags->cpu);
  command.add_option("--inject-slowdown", "P%", "Self-test: the candidate takes so much longer",
                     &flags->inject_slowdown);
  command.add_option("--inject-into", "WHAT",
                     "Self-test: candidate (default), or the controls, which must not move",
                     &flags->inject_into);
  command.group("Output");
  command.add_flag("--no-captures", "Only pairs: no captures for the exact lanes", &flags->no_captures);
  command.add_option("--out", "DIR", "The experiment; one that is there is continued", &flags->out);
  command.add_flag("--json", "Outcome and errors as JSON", &flags->json);
  command.set_footer(
      "Both sides of a pair run on the same CPU at the same time and take turns. An experiment that was "
      "interrupted is\n"
      "continued by the same command. Exit 1 when a workload failed on a side; the others are measured.");
  command.set_action([flags](Output& output) { return experiment(*flags, output); });
}

}  // namespace wago::cli::profile
