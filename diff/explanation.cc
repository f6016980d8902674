#include "diff/explanation.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "diff/annotate.h"
#include "diff/contract.h"
#include "diff/quantity.h"

namespace wago::diff {

namespace {

using capture::ExperimentSide;
using Key = std::pair<std::string, std::string>;  // name, signature

// Of how many functions the instructions are shown.
constexpr size_t kAligned = 10;

constexpr const char* kRecordAgain = "`profile explain --catalog` records both sides again";

// "--level 0" -> "effective_settings.level"
std::string field_of(const std::string& setting) {
  if (!setting.starts_with("--")) return {};
  return "effective_settings." + setting.substr(2, setting.find(' ') - 2);
}

base::Result<void> check_contracts(const BothSides& sides, const capture::Experiment& experiment) {
  const std::array<const Evidence*, 2> both = {&sides[0], &sides[1]};
  auto differences = contract_differences(both);
  const bool sampled = sides[0].samples || sides[1].samples;
  std::erase_if(differences, [&](const ContractDifference& difference) {
    // A program that is too old to count leaves a capture of the same code without counts.
    if (!sampled && (difference.field == "backend" || difference.field == "event")) return true;
    return std::any_of(experiment.sides.begin(), experiment.sides.end(),
                       [&](const auto& side) { return field_of(side.setting) == difference.field; });
  });
  if (differences.empty()) return {};
  std::vector<std::string_view> fields;
  for (const ContractDifference& difference : differences) fields.push_back(difference.field);
  return base::usage_error("cannot be compared with " + base::display(sides[1].path) + ": they differ in " +
                               base::join_some(fields) + "; " + kRecordAgain,
                           {.file = sides[0].path});
}

std::array<const Evidence*, 1> one(const BothSides& sides, size_t side) {
  return {&sides[side]};
}

void say_what_is_not_known(const ExplainedCaptures& captures, Explanation& result) {
  auto say = [&](std::string sentence, bool record) {
    result.remarks.push_back(std::move(sentence));
    result.can_say_more |= record;
  };
  if (!captures.exact) {
    say("of code and counts nothing is known: the experiment has no captures of both sides", true);
  } else {
    const BothSides& exact = *captures.exact;
    if (!result.counts) {
      say("nothing was counted: a side's program has no backend count", false);
    } else if (!exact[0].manifest.effective_settings.source_maps) {
      say("not by source line: these captures have no source maps", true);
    } else if (!result.counts->by_line) {
      say("not by source line: the module has none; compilers keep them with -g", false);
    }
  }
  if (!captures.sampled) {
    say("nothing was sampled: where the time went is not known", true);
  } else if (std::string why = why_no_costs(one(*captures.sampled, 0), one(*captures.sampled, 1));
             !why.empty()) {
    say(std::move(why), true);
  }
  const auto& sides = result.report.experiment.sides;
  if (sides[0].slowdown_ppm != sides[1].slowdown_ppm) {
    say("a side was slowed down as a self-test, which no capture shows", false);
  }
  const bool same_counts = result.counts && result.counts->same();
  const Finding finding = result.reported.found.finding;
  if (result.code && result.code->same() && same_counts &&
      (finding == Finding::Regressed || finding == Finding::Improved ||
       finding == Finding::LayoutSensitive)) {
    say("both sides executed the same code equally often: what the clock says is where code and data lie, or "
        "the machine",
        false);
  }
}

// The only function of that name and signature, if there is just one.
std::optional<FunctionChoice> only_function(const Evidence& evidence, const ExplainedFunction& wanted) {
  const Locations locations(evidence);
  std::optional<FunctionChoice> found;
  for (uint32_t i = 0; i < evidence.images.images.size(); ++i) {
    const capture::Image& image = evidence.images.images[i];
    if (image.kind != capture::ImageKind::Module || locations.canonical(i) != i) continue;
    for (const capture::Function& function : image.functions) {
      if (function.name != wanted.name || function.signature != wanted.signature) continue;
      if (found) return std::nullopt;
      found = FunctionChoice{i, &function};
    }
  }
  return found;
}

// What a side without the function has of it: nothing, in the units of the other side.
Annotation nothing_of(const Annotation& other, const std::string& capture) {
  Annotation nothing;
  nothing.capture = capture;
  nothing.name = other.name;
  nothing.signature = other.signature;
  nothing.unit = other.unit;
  nothing.work = other.work;
  nothing.work_unit = other.work_unit;
  nothing.counted = other.counted;
  nothing.has_code = other.has_code;
  return nothing;
}

std::optional<SideBySide> instructions_of(const ExplainedFunction& function, const BothSides& sides,
                                          const Disassemble& disassemble) {
  std::array<std::optional<Annotation>, 2> annotations;
  for (size_t i = 0; i < 2; ++i) {
    const auto choice = only_function(sides[i], function);
    if (!choice) continue;
    auto made = annotate(sides[i], *choice, disassemble, nullptr, false);
    if (made) annotations[i] = std::move(*made);
  }
  // Where neither side lacks it, both must tell it apart.
  const bool one_side = function.code && function.code->fate != FunctionFate::Changed;
  if (annotations[0].has_value() != annotations[1].has_value() && one_side) {
    const size_t known = annotations[0] ? 0 : 1;
    annotations[1 - known] = nothing_of(*annotations[known], sides[1 - known].path);
  }
  if (!annotations[0] || !annotations[1]) return std::nullopt;
  return align(std::move(*annotations[0]), std::move(*annotations[1]));
}

double part_of(double change, double whole) {
  return whole > 0 ? std::fabs(change) / whole : 0;
}

// Every function that differs in anything, under its name.
std::vector<ExplainedFunction> collect(const Explanation& about) {
  std::map<Key, ExplainedFunction> functions;
  auto of = [&](const std::string& name, const std::string& signature) -> ExplainedFunction& {
    ExplainedFunction& function = functions[{name, signature}];
    function.name = name;
    function.signature = signature;
    return function;
  };
  if (about.code) {
    for (const FunctionDifference& difference : about.code->differences) {
      of(difference.name, difference.signature).code = difference;
    }
  }
  if (about.counts) {
    const auto per_work = [&](const CountPair& pair, bool after) {
      return after ? static_cast<double>(pair.candidate) / static_cast<double>(about.counts->candidate_work)
                   : static_cast<double>(pair.baseline) / static_cast<double>(about.counts->baseline_work);
    };
    for (const FunctionCountChange& change : about.counts->functions) {
      ExplainedFunction& function = of(change.name, change.signature);
      function.counts = change;
      function.part = part_of(per_work(change.machine, true) - per_work(change.machine, false),
                              per_work(about.counts->machine, false));
    }
  }
  if (about.costs) {
    double whole = 0;
    for (const SideCost& side : about.costs->baseline_by_side) whole += side.self;
    for (const FunctionCost& cost : about.costs->functions) {
      if (cost.side != capture::Side::Guest || !cost.beyond_sampling) continue;
      ExplainedFunction& function = of(cost.name, cost.detail);
      function.cost = cost;
      function.part = std::max(function.part, part_of(cost.change(), whole));
    }
  }
  std::vector<ExplainedFunction> all;
  for (auto& [key, function] : functions) all.push_back(std::move(function));
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.part > b.part; });
  return all;
}

std::array<std::string, 2> paths_of(const std::optional<BothSides>& sides) {
  if (!sides) return {};
  return {(*sides)[0].path, (*sides)[1].path};
}

}  // namespace

base::Result<void> check_own(const Evidence& evidence, const capture::ExperimentWorkload& workload,
                             ExperimentSide side) {
  const size_t i = capture::index_of(side);
  auto check = [&](const char* what, const std::string& wanted, const std::string& seen) -> std::string {
    return wanted.empty() || wanted == seen ? "" : what;
  };
  std::string other =
      check("it computes something else", workload.contract_sha256, evidence.manifest.contract_sha256);
  if (other.empty())
    other = check("its module is another", workload.module_sha256[i], evidence.manifest.module_sha256);
  if (other.empty())
    other = check("its code is another", workload.code_sha256[i], evidence.manifest.code_sha256);
  if (other.empty()) return {};
  return base::usage_error("is no capture of the experiment's " + std::string(capture::spelling(side)) +
                               ": " + other + "; " + kRecordAgain,
                           {.file = evidence.path});
}

base::Result<void> check_captures(const BothSides& sides, const capture::Experiment& experiment,
                                  const capture::ExperimentWorkload& workload) {
  for (ExperimentSide side : capture::kExperimentSides) {
    if (auto own = check_own(sides[capture::index_of(side)], workload, side); !own) return own;
  }
  return check_contracts(sides, experiment);
}

base::Result<Explanation> explain(Report report, size_t number, const ExplainedCaptures& captures,
                                  const Disassemble& disassemble) {
  Explanation result;
  const auto reported = std::find_if(report.workloads.begin(), report.workloads.end(),
                                     [&](const auto& workload) { return workload.workload == number; });
  WAGO_CHECK(reported != report.workloads.end());
  result.reported = *reported;
  result.report = std::move(report);
  for (const auto* sides : {&captures.exact, &captures.sampled}) {
    if (!*sides) continue;
    if (auto good = check_captures(**sides, result.report.experiment, result.workload()); !good)
      return good.error();
  }
  result.exact = paths_of(captures.exact);
  result.sampled = paths_of(captures.sampled);
  if (captures.exact) {
    const BothSides& exact = *captures.exact;
    result.code = compare_code(exact[0], exact[1]);
    result.counts = compare_counts(exact[0], exact[1], disassemble);
  }
  if (captures.sampled) {
    result.costs = compare_costs(one(*captures.sampled, 0), one(*captures.sampled, 1));
  }
  result.functions = collect(result);
  // Exact ones where they were counted: every instruction has its number.
  const auto& shown = result.counts || !captures.sampled ? captures.exact : captures.sampled;
  for (size_t i = 0; shown && i < std::min(result.functions.size(), kAligned); ++i) {
    result.functions[i].instructions = instructions_of(result.functions[i], *shown, disassemble);
  }
  say_what_is_not_known(captures, result);
  return result;
}

}  // namespace wago::diff
