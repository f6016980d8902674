// What reports are written with, in the formats that have a syntax of their own.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace wago::diff {

// An HTML page that needs nothing from elsewhere, in light and dark and on a phone, with sortable tables.
// `title` is text, `body` markup. Classes: table "sortable" (a <button> in every head that sorts; cells may
// have data-key), cells "n" of numbers, "wide" around tables; "quiet", "note", "bad", "doubt", "good".
std::string report_page(const std::string& title, const std::string& body);

// A document within a quoted attribute of another: "data:image/svg+xml,%3Csvg..." (RFC 2397).
std::string data_url(std::string_view type, std::string_view document);

// A file beside the document, as a link to it: "a%20b.html".
std::string file_link(std::string_view name);

// Text as Markdown's tables and lines hold it.
std::string markdown_cell(std::string_view text);

// What became of a test in a JUnit document.
enum class JunitOutcome : uint8_t { Passed, Skipped, Failed, Error };
struct JunitCase {
  std::string group;  // "classname"
  std::string name;
  JunitOutcome outcome = JunitOutcome::Passed;
  std::string message;  // why; of one that passed, what it says
  std::string details;  // of one that failed
};
// One suite, after the schema that CI servers read. They take a suite of another name for another suite, so
// `name` is the same from run to run; what differs, as paths do, are properties.
std::string junit_suite(const std::string& name,
                        std::span<const std::pair<std::string, std::string>> properties,
                        std::span<const JunitCase> cases);

// A line for GitHub Actions. `level`: "error", "warning", "notice".
std::string workflow_command(std::string_view level, std::string_view title, std::string_view message);

}  // namespace wago::diff
