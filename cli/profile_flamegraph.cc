#include <array>
#include <memory>
#include <vector>

#include "base/files.h"
#include "base/text.h"
#include "cli/contract.h"
#include "cli/flags.h"
#include "cli/output.h"
#include "cli/pattern.h"
#include "cli/profile_commands.h"
#include "cli/stacks.h"
#include "diff/contract.h"
#include "diff/flame_graph.h"

namespace wago::cli::profile {

namespace {

struct FlameGraphFlags {
  std::string input;
  std::optional<std::string> baseline, title, exclude, out;
};

// What an --exclude leaves of a side.
base::Result<void> leave_out(const std::optional<std::string>& exclude, Stacks& stacks) {
  if (!exclude) return {};
  auto pattern = Pattern::compile("--exclude", *exclude);
  if (!pattern) return pattern.error();
  stacks.tree = diff::without(stacks.tree, [&](const diff::Label& label) {
    return pattern->matches(label.name) || pattern->matches(base::function_label(label.name));
  });
  if (stacks.tree.weight() > 0) return {};
  return base::usage_error("--exclude leaves no stack that cost anything", {.file = stacks.name});
}

diff::FlameSide side_of(const Stacks& stacks) {
  return {&stacks.tree, stacks.work, stacks.work_unit, base::printable(base::base_name(stacks.name))};
}

// Files of folded stacks do not say how they were measured; they are compared by parts of their wholes.
std::vector<diff::ContractDifference> contract_differences(const Stacks& baseline, const Stacks& candidate) {
  if (!baseline.contract || !candidate.contract) return {};
  const std::array<const diff::Evidence*, 2> both = {&*baseline.contract, &*candidate.contract};
  return diff::contract_differences(both);
}

int flamegraph(const FlameGraphFlags& flags, Output& output) {
  if (!flags.out) return output.fail(base::usage_error("--out is missing: the file to write, F.svg"));
  if (base::system_files().exists(*flags.out)) {
    return output.fail(base::usage_error(
        "exists already and is never replaced; name another file or remove it", {.file = *flags.out}));
  }
  auto stacks = read_stacks(flags.input);
  if (!stacks) return output.fail(stacks.error());
  if (auto left = leave_out(flags.exclude, *stacks); !left) return output.fail(left.error());
  diff::FlameGraph graph;
  if (flags.baseline) {
    auto baseline = read_stacks(*flags.baseline);
    if (!baseline) return output.fail(baseline.error());
    if (auto left = leave_out(flags.exclude, *baseline); !left) return output.fail(left.error());
    if (auto differences = contract_differences(*baseline, *stacks); !differences.empty()) {
      return refuse_contract(differences, output);
    }
    graph = diff::differential_flame_graph(side_of(*baseline), side_of(*stacks),
                                           flags.title.value_or(stacks->title + ", what changed"));
  } else {
    graph = diff::flame_graph(side_of(*stacks), flags.title.value_or(stacks->title));
  }
  if (auto written = base::system_files().create(*flags.out, base::as_bytes(diff::to_svg(graph))); !written) {
    return output.fail(written.error());
  }
  return kExitDone;
}

}  // namespace

void add_flamegraph(Command& profile) {
  auto flags = std::make_shared<FlameGraphFlags>();
  Command& command = profile.add_command("flamegraph", "Where the time went, as a picture");
  command.add_operand("CAPTURE", "A capture directory, or a file of folded stacks", &flags->input);
  command.add_option("--baseline", "CAPTURE",
                     "Colour by what changed since this capture or file of folded stacks", &flags->baseline);
  command.add_option("--title", "TEXT", "Title (default: workload and module)", &flags->title);
  command.add_option("--exclude", "REGEX", "Leave out stacks with a function that this matches",
                     &flags->exclude);
  command.add_option("--out", "F.svg", "The file to write, which must not exist", &flags->out);
  command.set_footer(
      "One SVG file that needs nothing else: open it in a browser. Click zooms, / searches, Escape resets.");
  command.set_action([flags](Output& output) { return flamegraph(*flags, output); });
}

}  // namespace wago::cli::profile
