// What reports are written with, in the formats that have a syntax of their own.
#pragma once

#include <string>
#include <string_view>

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

// A line for GitHub Actions. `level`: "error", "warning", "notice".
std::string workflow_command(std::string_view level, std::string_view title, std::string_view message);

}  // namespace wago::diff
