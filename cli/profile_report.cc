#include <array>
#include <memory>

#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/flags.h"
#include "cli/output.h"
#include "cli/profile_commands.h"
#include "cli/verdict_flags.h"
#include "diff/report.h"

namespace wago::cli::profile {

namespace {

struct ReportFlags {
  std::vector<std::string> experiments;
  std::optional<std::string> format;
  std::optional<std::string> out;
  VerdictFlags verdicts;
};

struct Format {
  std::string_view word;
  const char* file;  // what is appended to the report's name
  std::string (*write)(const diff::Report&);
};
constexpr std::array kFormats = {
    Format{"text", ".txt", [](const diff::Report& report) { return diff::to_text(report); }},
    Format{"html", ".html", diff::to_html},
    Format{"markdown", ".md", diff::to_markdown},
    Format{"json", ".json", [](const diff::Report& report) { return diff::to_json(report).dump(2) + "\n"; }},
    Format{"junit", ".junit.xml", diff::to_junit},
    Format{"annotations", ".annotations.txt", diff::to_annotations},
};

// "html,markdown" -> the formats, each once.
base::Result<std::vector<const Format*>> parse_formats(const std::string& text) {
  std::vector<const Format*> formats;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t comma = std::min(text.find(',', begin), text.size());
    const std::string word = text.substr(begin, comma - begin);
    begin = comma + 1;
    const Format* found = nullptr;
    for (const Format& format : kFormats) {
      if (format.word == word) found = &format;
    }
    if (!found) {
      std::vector<std::string_view> words;
      for (const Format& format : kFormats) words.push_back(format.word);
      return not_a_word("--format", word, words);
    }
    for (const Format* known : formats) {
      if (known == found) return base::usage_error("--format: " + word + " is named twice");
    }
    formats.push_back(found);
  }
  return formats;
}

// release.wagoexp -> "release"
std::string report_name(const std::string& path) {
  std::string name = base::base_name(path);
  if (name.ends_with(".wagoexp")) name.resize(name.size() - 8);
  return name.empty() ? "report" : name;
}

base::Result<void> write_all(const std::vector<diff::Report>& reports,
                             const std::vector<const Format*>& formats, const std::string& directory) {
  base::Files& files = base::system_files();
  if (!files.is_directory(directory)) {
    if (auto created = files.create_directory(directory); !created) return created;
  }
  for (const diff::Report& report : reports) {
    for (const Format* format : formats) {
      const std::string path = base::join_path(directory, report_name(report.path) + format->file);
      if (auto written = files.publish(path, base::as_bytes(format->write(report))); !written) return written;
    }
  }
  return {};
}

int report(const ReportFlags& flags, Output& output) {
  if (flags.experiments.empty())
    return output.fail(base::usage_error("name an experiment, such as release.wagoexp"));
  auto reading = reading_of(flags.verdicts);
  if (!reading) return output.fail(reading.error());
  auto formats = parse_formats(flags.format.value_or("text"));
  if (!formats) return output.fail(formats.error());
  const bool to_standard_output = !flags.out;
  if (to_standard_output && (formats->size() != 1 || flags.experiments.size() != 1)) {
    return output.fail(
        base::usage_error("--out is missing: several formats or experiments need a directory"));
  }
  std::vector<diff::Report> reports;
  int code = kExitDone;
  for (const std::string& path : flags.experiments) {
    auto made = diff::report_on(path, reading->settings);
    if (!made) return output.fail(made.error());
    code = std::max(code, diff::exit_code(made->findings, reading->fail_on, reading->strict));
    reports.push_back(std::move(*made));
  }
  if (to_standard_output) {
    const Format& format = *formats->front();
    output.print(format.word == "text" ? diff::to_text(reports[0], output.colour())
                                       : format.write(reports[0]));
    return code;
  }
  if (auto written = write_all(reports, *formats, *flags.out); !written) return output.fail(written.error());
  for (const diff::Report& one : reports)
    output.print(base::display(one.path) + ": " + diff::headline(one) + "\n");
  output.print("report in " + base::display(*flags.out) + "\n");
  return code;
}

}  // namespace

void add_report(Command& profile) {
  auto flags = std::make_shared<ReportFlags>();
  Command& command = profile.add_command("report", "What experiments say of a release");
  command.add_rest("EXPERIMENT", "Experiments (.wagoexp)", &flags->experiments);
  command.add_option("--format", "LIST", "text (default), html, markdown, json, junit, annotations",
                     &flags->format);
  command.add_option("--out", "DIR", "Where to; without it to standard output", &flags->out);
  flags->verdicts.add_to(command);
  command.set_footer(
      "Exit 0 done, 1 a regression that holds over all workloads (see --fail-on), 3 inconclusive under "
      "--strict,\n"
      "5 the environment was invalid. Verdicts can be read again with other settings; nothing is measured.");
  command.set_action([flags](Output& output) { return report(*flags, output); });
}

}  // namespace wago::cli::profile
