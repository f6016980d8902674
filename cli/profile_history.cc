#include <memory>

#include "base/json.h"
#include "base/text.h"
#include "capture/history_store.h"
#include "cli/flags.h"
#include "cli/history_file.h"
#include "cli/output.h"
#include "cli/profile_commands.h"
#include "cli/report_files.h"
#include "cli/verdict_flags.h"
#include "diff/history.h"
#include "diff/report.h"

namespace wago::cli::profile {

namespace {

struct HistoryFlags {
  std::string store;
  std::string workload;
  std::vector<std::string> experiments;
  std::optional<std::string> baseline_as, candidate_as;
  std::optional<std::string> anchor, floor;
  std::optional<std::string> catalog, runners;
  bool json = false;
};

base::Result<diff::History> load(const HistoryFlags& flags) {
  diff::HistoryOptions options{.anchor = flags.anchor};
  if (flags.floor) {
    auto floor = parse_percent("--floor", *flags.floor);
    if (!floor) return floor.error();
    options.floor = *floor;
  }
  return load_history(flags.store, options);
}

std::string_view spelling(capture::HistoryAddition addition) {
  switch (addition) {
    case capture::HistoryAddition::Added:
      return "added";
    case capture::HistoryAddition::Replaced:
      return "replaced";
    case capture::HistoryAddition::Older:
      return "an older copy, left out";
    case capture::HistoryAddition::Present:
      break;
  }
  return "already there";
}

int add(const HistoryFlags& flags, Output& output) {
  if (flags.experiments.empty())
    return output.fail(base::usage_error("name an experiment, such as release.wagoexp"));
  if ((flags.baseline_as || flags.candidate_as) && flags.experiments.size() != 1) {
    return output.fail(
        base::usage_error("--baseline-as and --candidate-as name the sides of one experiment"));
  }
  for (const auto* name : {&flags.baseline_as, &flags.candidate_as}) {
    if (*name && (*name)->empty()) return output.fail(base::usage_error("a version has a name"));
  }
  std::vector<capture::HistoryExperiment> entries;
  for (const std::string& path : flags.experiments) {
    auto report = diff::report_on(path);
    if (!report) return output.fail(report.error());
    auto entry = diff::history_entry(*report, {flags.baseline_as, flags.candidate_as});
    if (!entry) return output.fail(entry.error());
    entry->name = own_name(path);
    entries.push_back(std::move(*entry));
  }
  auto additions = capture::add_to_history(flags.store, entries);
  if (!additions) return output.fail(additions.error());
  base::Json list = base::Json::array();
  for (size_t i = 0; i < entries.size(); ++i) {
    const std::string_view done = spelling((*additions)[i]);
    if (flags.json) {
      list.push(base::Json::object({{"experiment", flags.experiments[i]},
                                    {"baseline", entries[i].sides[0].version},
                                    {"candidate", entries[i].sides[1].version},
                                    {"outcome", done}}));
    } else {
      output.print(base::display(flags.experiments[i]) + ": " + std::string(done) + ", " +
                   base::display(entries[i].sides[0].version) + " to " +
                   base::display(entries[i].sides[1].version) + "\n");
    }
  }
  if (flags.json)
    output.print(base::Json::object({{"history", flags.store}, {"experiments", std::move(list)}}).dump(2) +
                 "\n");
  return kExitDone;
}

int list(const HistoryFlags& flags, Output& output) {
  auto history = load(flags);
  if (!history) return output.fail(history.error());
  output.print(flags.json ? diff::list_json(*history).dump(2) + "\n" : diff::list_text(*history));
  return kExitDone;
}

int show(const HistoryFlags& flags, Output& output) {
  auto history = load(flags);
  if (!history) return output.fail(history.error());
  auto series = diff::series_of(*history, flags.workload);
  if (!series) return output.fail(series.error());
  base::Json all = base::Json::array();
  std::string text;
  for (const diff::HistorySeries* one : *series) {
    if (flags.json) {
      all.push(diff::series_json(*history, *one));
    } else {
      text += (text.empty() ? "" : "\n\n") + diff::series_text(*history, *one, output.colour());
    }
  }
  if (flags.json) {
    const std::vector<base::Json> remarks(history->remarks.begin(), history->remarks.end());
    text = base::Json::object({{"version", 1},
                               {"history", flags.store},
                               {"remarks", base::Json::array(remarks)},
                               {"series", std::move(all)}})
               .dump(2) +
           "\n";
  }
  output.print(text);
  return kExitDone;
}

int changes(const HistoryFlags& flags, Output& output) {
  auto history = load(flags);
  if (!history) return output.fail(history.error());
  const diff::ConfirmationPaths paths = {flags.catalog.value_or(""), flags.runners.value_or("")};
  output.print(flags.json ? diff::changes_json(*history, paths).dump(2) + "\n"
                          : diff::changes_text(*history, paths, output.colour()));
  return kExitDone;
}

using Action = int (*)(const HistoryFlags&, Output&);

Command& add_one(Command& history, std::shared_ptr<HistoryFlags> flags, const char* name, const char* summary,
                 Action action) {
  Command& command = history.add_command(name, summary);
  command.add_operand("STORE", "The history: one file", &flags->store);
  command.set_action([flags, action](Output& output) { return action(*flags, output); });
  return command;
}

void add_json(Command& command, HistoryFlags& flags) {
  command.add_flag("--json", "As JSON", &flags.json);
}

}  // namespace

void add_history(Command& profile) {
  auto flags = std::make_shared<HistoryFlags>();
  Command& history = profile.add_command("history", "Keep what experiments found, and where it changed");
  Command& add_command = add_one(history, flags, "add", "Add experiments; creates the history", add);
  add_command.add_rest("EXPERIMENT", "Experiments (.wagoexp)", &flags->experiments);
  add_command.add_option("--baseline-as", "NAME",
                         "What the baseline's version is called (default: its revision)",
                         &flags->baseline_as);
  add_command.add_option("--candidate-as", "NAME", "What the candidate's version is called",
                         &flags->candidate_as);
  add_json(add_command, *flags);
  add_command.set_footer(
      "All of them are added or none. One that is there is not added again; one that was continued replaces "
      "what was there.");
  Command& list_command = add_one(history, flags, "list", "The experiments of a history", list);
  add_json(list_command, *flags);
  Command& show_command = add_one(history, flags, "show", "One workload, version by version", show);
  show_command.add_operand("WORKLOAD", "ID, or CATALOG/ID", &flags->workload);
  show_command.add_option("--anchor", "VERSION", "What others are compared with (default: the first)",
                          &flags->anchor);
  add_json(show_command, *flags);
  Command& changes_command = add_one(history, flags, "changes", "Where workloads changed for good", changes);
  changes_command.add_option("--floor", "PERCENT", "Changes up to this are none (default 0.25%)",
                             &flags->floor);
  changes_command.add_option("--catalog", "FILE",
                             "Of the experiments that are proposed (default CATALOG.json)", &flags->catalog);
  changes_command.add_option("--runners", "DIR", "Where they find VERSION/wago-profile (default runners)",
                             &flags->runners);
  add_json(changes_command, *flags);
}

}  // namespace wago::cli::profile
