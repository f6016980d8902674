#include "diff/report_markup.h"

#include <algorithm>
#include <cctype>
#include <cstdio>

#include "base/text.h"

namespace wago::diff {

namespace {

constexpr const char* kStyle = R"(
:root{color-scheme:light dark;--paper:#fff;--ink:#1c2024;--quiet:#60646c;--line:#dfe3e8;--soft:#f4f6f8;--bad:#c62a2f;--doubt:#946800;--good:#18794e;--mark:#0b68cb}
@media(prefers-color-scheme:dark){:root{--paper:#15181b;--ink:#e8eaed;--quiet:#9aa0a8;--line:#31363c;--soft:#1e2226;--bad:#ff8589;--doubt:#f0c000;--good:#5fd39b;--mark:#6cb3ff}}
*{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,sans-serif}
main{max-width:1100px;margin:0 auto;padding:1.2rem}h1{font-size:1.4rem;margin:.2rem 0}h2{font-size:1.1rem;margin:1.6rem 0 .5rem}
p{margin:.4rem 0;overflow-wrap:anywhere}.quiet{color:var(--quiet)}.bad{color:var(--bad)}.doubt{color:var(--doubt)}.good{color:var(--good)}
.note{border-left:4px solid var(--bad);background:var(--soft);padding:.5rem .8rem;margin:.6rem 0}
.wide{overflow-x:auto}table{border-collapse:collapse;width:100%}th,td{padding:.35rem .6rem;text-align:left;border-bottom:1px solid var(--line);white-space:nowrap}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}th button{all:unset;cursor:pointer;font-weight:600}th button:focus-visible{outline:2px solid var(--mark)}
th[aria-sort=ascending] button::after{content:" \25B2"}th[aria-sort=descending] button::after{content:" \25BC"}
details{border:1px solid var(--line);border-radius:6px;margin:.5rem 0;padding:.4rem .8rem}summary{cursor:pointer;font-weight:600}
code{background:var(--soft);padding:.1rem .3rem;border-radius:4px;overflow-wrap:anywhere;white-space:normal}
iframe{display:block;width:100%;max-height:90vh;border:1px solid var(--line);border-radius:4px}
svg{display:block}svg .axis{stroke:var(--line)}svg .zero{stroke:var(--quiet)}svg .band{fill:var(--soft)}
svg .o0{fill:#0b68cb}svg .o16{fill:#c8531b}svg .o32{fill:#2a8a57}svg .o48{fill:#9b4fc4}
svg text{fill:var(--quiet);font:11px system-ui,sans-serif}a{color:var(--mark)}
@media(max-width:640px){main{padding:.7rem}td,th{padding:.3rem .4rem}}
)";

constexpr const char* kScript = R"(
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = head.querySelector("button");
    if (!button) return;
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const key = (row) => row.cells[column].dataset.key ?? row.cells[column].textContent;
      const rows = [...body.rows].sort((a, b) => {
        const x = key(a), y = key(b);
        const order = isNaN(x) || isNaN(y) ? x.localeCompare(y) : x - y;
        return down ? -order : order;
      });
      body.append(...rows);
    });
  });
}
const unfold = () => {
  const target = document.getElementById(location.hash.slice(1));
  if (target?.tagName === "DETAILS") target.open = true;
};
addEventListener("hashchange", unfold);
unfold();
)";

// What a workflow command may hold: https://docs.github.com/actions, "Workflow commands".
std::string escaped(std::string_view text, bool property) {
  std::string result;
  for (char c : text) {
    const bool special = c == '%' || c == '\r' || c == '\n' || (property && (c == ':' || c == ','));
    char code[8];
    std::snprintf(code, sizeof code, "%%%02X", static_cast<unsigned char>(c));
    result += special ? std::string(code) : std::string(1, c);
  }
  return result;
}

// All but what addresses hold as it is (RFC 3986, 2.3).
std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kPlain = "-_.~";
  std::string encoded;
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || kPlain.find(c) != std::string_view::npos) {
      encoded += c;
      continue;
    }
    char code[8];
    std::snprintf(code, sizeof code, "%%%02X", byte);
    encoded += code;
  }
  return encoded;
}

// Text of strangers: as everywhere in reports, what a line cannot show is escaped.
std::string markup(std::string_view text) {
  return base::as_markup(base::printable(text));
}

std::string junit_case(const JunitCase& test) {
  const std::string message = markup(test.message);
  std::string inside;
  switch (test.outcome) {
    case JunitOutcome::Passed:
      inside = "<system-out>" + message + "</system-out>";
      break;
    case JunitOutcome::Skipped:
      inside = "<skipped message=\"" + message + "\"/>";
      break;
    case JunitOutcome::Failed:
      inside =
          "<failure type=\"regressed\" message=\"" + message + "\">" + markup(test.details) + "</failure>";
      break;
    case JunitOutcome::Error:
      inside = "<error message=\"" + message + "\"/>";
      break;
  }
  return "  <testcase classname=\"" + markup(test.group) + "\" name=\"" + markup(test.name) +
         "\" time=\"0\">\n    " + inside + "\n  </testcase>\n";
}

}  // namespace

std::string report_page(const std::string& title, const std::string& body) {
  return "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
         "content=\"width=device-width,initial-scale=1\"><title>" +
         base::as_markup(title) + "</title><style>" + kStyle + "</style></head><body><main>\n" + body +
         "</main><script>" + kScript + "</script></body></html>\n";
}

std::string data_url(std::string_view type, std::string_view document) {
  return "data:" + std::string(type) + "," + percent_encoded(document);
}

std::string file_link(std::string_view name) {
  return percent_encoded(name);
}

std::string markdown_cell(std::string_view text) {
  std::string result;
  for (char c : base::printable(text)) {
    if (c == '|' || c == '\\' || c == '`' || c == '*' || c == '_' || c == '<' || c == '[') result += '\\';
    result += c;
  }
  return result;
}

std::string junit_suite(const std::string& name,
                        std::span<const std::pair<std::string, std::string>> properties,
                        std::span<const JunitCase> cases) {
  auto count = [&](const char* what, JunitOutcome outcome) {
    return " " + std::string(what) + "=\"" +
           std::to_string(std::ranges::count(cases, outcome, &JunitCase::outcome)) + "\"";
  };
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"" + markup(name) +
                     "\" tests=\"" + std::to_string(cases.size()) + "\"" +
                     count("failures", JunitOutcome::Failed) + count("errors", JunitOutcome::Error) +
                     count("skipped", JunitOutcome::Skipped) + ">\n  <properties>\n";
  for (const auto& [property, value] : properties)
    text += "    <property name=\"" + markup(property) + "\" value=\"" + markup(value) + "\"/>\n";
  text += "  </properties>\n";
  for (const JunitCase& test : cases) text += junit_case(test);
  return text + "</testsuite>\n";
}

std::string workflow_command(std::string_view level, std::string_view title, std::string_view message) {
  return "::" + std::string(level) + " title=" + escaped(base::printable(title), true) +
         "::" + escaped(base::printable(message), false) + "\n";
}

}  // namespace wago::diff
