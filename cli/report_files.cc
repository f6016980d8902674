#include "cli/report_files.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "base/check.h"
#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/flags.h"
#include "diff/report_flames.h"

namespace wago::cli {

namespace {

constexpr std::array kWords = {
#define WAGO_REPORT_FORMAT(name, spelling, extension) std::string_view(spelling),
#include "base/reports.def"
};
constexpr std::array kExtensions = {
#define WAGO_REPORT_FORMAT(name, spelling, extension) std::string_view(extension),
#include "base/reports.def"
};

template <class Report>
std::string write(const Report& report, const std::string& name, ReportFormat format, bool colour) {
  switch (format) {
    case ReportFormat::Text:
      return to_text(report, colour);
    case ReportFormat::Html:
      return to_html(report);
    case ReportFormat::Markdown:
      return to_markdown(report);
    case ReportFormat::Json:
      return to_json(report).dump(2) + "\n";
    case ReportFormat::Junit:
      return to_junit(report, name);
    case ReportFormat::Annotations:
      return to_annotations(report);
  }
  WAGO_UNREACHABLE("report format");
}

}  // namespace

base::Result<std::vector<ReportFormat>> parse_report_formats(const std::string& text) {
  std::vector<ReportFormat> formats;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t comma = std::min(text.find(',', begin), text.size());
    const std::string word = text.substr(begin, comma - begin);
    begin = comma + 1;
    const auto* const found = std::find(kWords.begin(), kWords.end(), word);
    if (found == kWords.end()) return not_a_word("--format", word, kWords);
    const auto format = static_cast<ReportFormat>(found - kWords.begin());
    if (std::find(formats.begin(), formats.end(), format) != formats.end()) {
      return base::usage_error("--format: " + word + " is named twice");
    }
    formats.push_back(format);
  }
  return formats;
}

std::string headline(const AnyReport& report) {
  return std::visit([](const auto& one) { return diff::headline(one); }, report);
}

std::string write_report(const NamedReport& named, ReportFormat format, bool colour) {
  return std::visit([&](const auto& one) { return write(one, named.name, format, colour); }, named.report);
}

base::Result<diff::Report> report_for(const std::string& experiment, const diff::ReadSettings& settings,
                                      std::span<const ReportFormat> formats) {
  auto report = diff::report_on(experiment, settings);
  if (report && std::find(formats.begin(), formats.end(), ReportFormat::Html) != formats.end())
    diff::add_flame_graphs(*report);
  return report;
}

std::string own_name(const std::string& path) {
  std::string name = base::base_name(path);
  if (std::error_code unseen; name == "." || name == "..")
    name = base::base_name(std::filesystem::weakly_canonical(path, unseen).string());
  return name;
}

std::string report_file(const std::string& name, ReportFormat format) {
  return name + std::string(kExtensions.at(static_cast<size_t>(format)));
}

bool has_overview(ReportFormat format) {
  return format != ReportFormat::Junit && format != ReportFormat::Annotations;
}

std::string write_overview(const diff::Releases& releases, ReportFormat format, bool links, bool colour) {
  const std::string_view extension = links ? kExtensions.at(static_cast<size_t>(format)) : "";
  switch (format) {
    case ReportFormat::Text:
      return diff::to_text(releases, colour);
    case ReportFormat::Html:
      return diff::to_html(releases, extension);
    case ReportFormat::Markdown:
      return diff::to_markdown(releases, extension);
    case ReportFormat::Json:
      return diff::to_json(releases).dump(2) + "\n";
    case ReportFormat::Junit:
    case ReportFormat::Annotations:
      break;
  }
  WAGO_UNREACHABLE("format with an overview");
}

base::Result<void> write_overviews(const diff::Releases& releases, std::span<const ReportFormat> formats,
                                   const std::string& directory) {
  for (const ReportFormat format : formats) {
    if (!has_overview(format)) continue;
    const std::string path = base::join_path(directory, report_file(kOverview, format));
    const std::string text = write_overview(releases, format, true);
    if (auto written = base::system_files().publish(path, base::as_bytes(text)); !written) return written;
  }
  return {};
}

base::Result<void> check_names(std::span<const NamedReport> reports) {
  std::set<std::string> names;
  for (const NamedReport& named : reports) {
    if (!names.insert(named.name).second) {
      return base::usage_error("two reports are called " + base::display(named.name) +
                               ", and so would their files be; write them to different directories");
    }
  }
  return {};
}

base::Result<void> write_reports(std::span<const NamedReport> reports, std::span<const ReportFormat> formats,
                                 const std::string& directory) {
  base::Files& files = base::system_files();
  for (const NamedReport& named : reports) {
    for (const ReportFormat format : formats) {
      const std::string path = base::join_path(directory, report_file(named.name, format));
      const std::string text = write_report(named, format);
      if (auto written = files.publish(path, base::as_bytes(text)); !written) return written;
    }
  }
  return {};
}

}  // namespace wago::cli
