// Regression reports as files: the formats there are, and a directory of them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "diff/releases.h"
#include "diff/report.h"
#include "diff/unpaired.h"

namespace wago::cli {

enum class ReportFormat : uint8_t {
#define WAGO_REPORT_FORMAT(name, spelling, extension) name,
#include "base/reports.def"
};

inline constexpr const char* kOverview = "releases";  // the name of what is of several experiments

// "html,markdown" -> the formats, each once. Errors name --format and the words.
base::Result<std::vector<ReportFormat>> parse_report_formats(const std::string& text);

// Of an experiment, or of what did not run together.
using AnyReport = std::variant<diff::Report, diff::UnpairedReport>;

std::string headline(const AnyReport& report);

struct NamedReport {
  std::string name;  // of its files, without what their format appends, and of its suite of tests
  AnyReport report;
};
// `colour` is of text alone.
std::string write_report(const NamedReport& named, ReportFormat format, bool colour = false);

// With what only a document shows, where one is among the formats: pictures of where the time went.
base::Result<diff::Report> report_for(const std::string& experiment, const diff::ReadSettings& settings,
                                      std::span<const ReportFormat> formats);

// What a file or directory is called, without the directory it is in: of "." and ".." what those are.
std::string own_name(const std::string& path);

// "release.junit.xml"
std::string report_file(const std::string& name, ReportFormat format);

// Of several experiments together: in text, HTML, Markdown and JSON, "releases.html"; in the formats of
// servers each experiment has its own alone. `links`: to those that lie beside it.
bool has_overview(ReportFormat format);
std::string write_overview(const diff::Releases& releases, ReportFormat format, bool links,
                           bool colour = false);
base::Result<void> write_overviews(const diff::Releases& releases, std::span<const ReportFormat> formats,
                                   const std::string& directory);

// Error (Usage): two reports have one name, and so would their files.
base::Result<void> check_names(std::span<const NamedReport> reports);
// Precondition: check_names(). Into a directory that is there; files of an older report are replaced, each in
// one step.
base::Result<void> write_reports(std::span<const NamedReport> reports, std::span<const ReportFormat> formats,
                                 const std::string& directory);

}  // namespace wago::cli
