#include "diff/side_by_side.h"

#include <algorithm>
#include <cstdio>

#include "base/json.h"
#include "base/text.h"
#include "diff/hot_spots.h"
#include "diff/quantity.h"

namespace wago::diff {

namespace {

// What makes two rows the same instruction.
std::string key_of(const AnnotatedRow& row, bool by_code) {
  if (!by_code) return row.wasm + (row.site ? "\n" + std::string(capture::spelling(*row.site)) : "");
  std::string text = row.assembly;
  const bool jumps = text.starts_with("j") || text.starts_with("call");
  if (const size_t target = text.rfind(" 0x"); jumps && target != std::string::npos) text.resize(target);
  if (const size_t literal = text.find("[rip"); literal != std::string::npos) {
    const size_t end = text.find(']', literal);
    text = text.substr(0, literal) + "[rip]" + (end == std::string::npos ? "" : text.substr(end + 1));
  }
  return text + "\n" + row.target;
}

std::vector<std::string> keys_of(const Annotation& annotation, bool by_code) {
  std::vector<std::string> keys;
  for (const AnnotatedRow& row : annotation.rows) keys.push_back(key_of(row, by_code));
  return keys;
}

// The longest common subsequence of a[a0, a1) and b[b0, b1), as rows.
void align_middle(const std::vector<std::string>& a, const std::vector<std::string>& b, size_t a0, size_t a1,
                  size_t b0, size_t b1, std::vector<AlignedRow>& rows) {
  const size_t n = a1 - a0;
  const size_t m = b1 - b0;
  const bool looked_at = uint64_t{n} * m <= kMaxCells;
  // longest[i][j]: of a from i and b from j.
  std::vector<uint32_t> longest(looked_at ? (n + 1) * (m + 1) : 0);
  auto at = [&](size_t i, size_t j) -> uint32_t& { return longest[i * (m + 1) + j]; };
  for (size_t i = looked_at ? n : 0; i-- > 0;) {
    for (size_t j = m; j-- > 0;) {
      at(i, j) = a[a0 + i] == b[b0 + j] ? at(i + 1, j + 1) + 1 : std::max(at(i + 1, j), at(i, j + 1));
    }
  }
  size_t i = 0, j = 0;
  while (i < n || j < m) {
    if (looked_at && i < n && j < m && a[a0 + i] == b[b0 + j]) {
      rows.push_back({static_cast<uint32_t>(a0 + i++), static_cast<uint32_t>(b0 + j++)});
    } else if (j == m || (i < n && (!looked_at || at(i + 1, j) >= at(i, j + 1)))) {
      rows.push_back({static_cast<uint32_t>(a0 + i++), std::nullopt});
    } else {
      rows.push_back({std::nullopt, static_cast<uint32_t>(b0 + j++)});
    }
  }
}

std::string head_of(const Annotation& a) {
  std::string text = base::display(a.capture) + ": " + format_plural(a.bytes, "byte");
  if (a.unit.empty()) return text;
  text += ", self " +
          format_weight(static_cast<double>(a.self) / static_cast<double>(a.work.value_or(1)), a.unit);
  if (a.work) text += " per " + a.work_unit;
  return text + ", " + format_plural(a.samples, "sample");
}

std::string offset_text(uint32_t offset) {
  char buffer[16];
  std::snprintf(buffer, sizeof buffer, "%x", offset);
  return buffer;
}

using Row = std::vector<std::string>;

// Per unit of work, so that captures of different lengths can be held side by side.
std::string executed_text(const Annotation& a, uint64_t executed) {
  return format_quotient(executed, a.work.value_or(1));
}

void append_side(const Annotation& a, const AnnotatedRow* row, Row& cells) {
  if (!a.unit.empty()) {
    cells.push_back(row && row->samples > 0 ? format_share(share_of(row->self, a.self)) : "");
  }
  if (a.counted) cells.push_back(row && row->executed ? executed_text(a, *row->executed) : "");
  cells.push_back(row ? offset_text(row->offset) : "");
}

std::string text_of(const Annotation& a, const AnnotatedRow& row) {
  if (!a.has_code) return base::printable(row.wasm);
  std::string text = base::printable(row.assembly);
  return row.target.empty() ? text : text + " <" + base::function_label(row.target) + ">";
}

base::Json row_json(const std::optional<uint32_t>& index) {
  return index ? base::Json(*index) : base::Json();
}

}  // namespace

SideBySide align(Annotation baseline, Annotation candidate) {
  SideBySide both;
  const bool by_code = baseline.has_code && candidate.has_code;
  const auto a = keys_of(baseline, by_code);
  const auto b = keys_of(candidate, by_code);
  size_t front = 0;
  while (front < a.size() && front < b.size() && a[front] == b[front]) ++front;
  size_t back = 0;
  while (back < a.size() - front && back < b.size() - front &&
         a[a.size() - 1 - back] == b[b.size() - 1 - back]) {
    ++back;
  }
  for (uint32_t i = 0; i < front; ++i) both.rows.push_back({i, i});
  align_middle(a, b, front, a.size() - back, front, b.size() - back, both.rows);
  for (size_t i = back; i > 0; --i) {
    both.rows.push_back({static_cast<uint32_t>(a.size() - i), static_cast<uint32_t>(b.size() - i)});
  }
  both.kept =
      static_cast<uint64_t>(std::count_if(both.rows.begin(), both.rows.end(), [](const AlignedRow& row) {
        return row.baseline && row.candidate;
      }));
  both.baseline = std::move(baseline);
  both.candidate = std::move(candidate);
  return both;
}

namespace {

// How much of it happened on the side where more did.
double cost_of(const Annotation& a, const std::optional<uint32_t>& index) {
  if (!index) return 0;
  const AnnotatedRow& row = a.rows[*index];
  const double whole = static_cast<double>(a.work.value_or(1));
  return static_cast<double>(a.counted ? row.executed.value_or(0) : row.self) / whole;
}

bool executed_equally(const SideBySide& both, const AlignedRow& row) {
  using Wide = unsigned __int128;
  if (!both.baseline.counted || !both.candidate.counted) return true;
  const uint64_t before = both.baseline.rows[*row.baseline].executed.value_or(0);
  const uint64_t after = both.candidate.rows[*row.candidate].executed.value_or(0);
  return Wide{before} * both.candidate.work.value_or(1) == Wide{after} * both.baseline.work.value_or(1);
}

}  // namespace

std::vector<AlignedRow> differing_rows(const SideBySide& both) {
  std::vector<std::pair<double, AlignedRow>> found;
  for (const AlignedRow& row : both.rows) {
    if (row.baseline && row.candidate && executed_equally(both, row)) continue;
    const double cost =
        std::max(cost_of(both.baseline, row.baseline), cost_of(both.candidate, row.candidate));
    if (cost > 0 || !both.baseline.counted || !both.candidate.counted) found.emplace_back(cost, row);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<AlignedRow> rows;
  for (const auto& [cost, row] : found) rows.push_back(row);
  return rows;
}

std::string rows_text(const SideBySide& both, const std::vector<AlignedRow>& rows, bool colour) {
  using enum base::Align;
  const Annotation& a = both.baseline;
  const Annotation& b = both.candidate;
  std::vector<Row> lines = {{}};
  std::vector<base::Align> alignment;
  auto column = [&](const char* title, base::Align align) {
    lines[0].push_back(title);
    alignment.push_back(align);
  };
  for (const Annotation* side : {&a, &b}) {
    if (!side->unit.empty()) column("share", Right);
    if (side->counted) column("executed", Right);
    column(side == &a ? "baseline" : "candidate", Right);
  }
  column("", Left);
  column(b.has_code ? "machine code" : "wasm", Left);
  column(b.has_code ? "wasm" : "", Left);
  column("source", Left);
  for (const AlignedRow& aligned : rows) {
    const AnnotatedRow* before = aligned.baseline ? &a.rows[*aligned.baseline] : nullptr;
    const AnnotatedRow* after = aligned.candidate ? &b.rows[*aligned.candidate] : nullptr;
    Row cells;
    append_side(a, before, cells);
    append_side(b, after, cells);
    cells.push_back(!after ? "-" : !before ? "+" : "");
    const AnnotatedRow& shown = after ? *after : *before;
    cells.push_back(text_of(after ? b : a, shown));
    cells.push_back(b.has_code ? base::printable(shown.wasm) : "");
    cells.push_back(shown.source.empty() ? "" : base::printable(to_string(shown.source.front())));
    lines.push_back(std::move(cells));
  }
  const std::string plain = base::columns(lines, alignment);
  std::string text;
  size_t begin = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    const size_t end = plain.find('\n', begin);
    const std::string_view line = std::string_view(plain).substr(begin, end - begin);
    const AlignedRow* aligned = i > 0 ? &rows[i - 1] : nullptr;
    const bool changed = aligned && (!aligned->baseline || !aligned->candidate);
    text += changed ? base::painted(line, aligned->candidate ? base::Paint::Good : base::Paint::Bad, colour)
                    : std::string(line);
    text += "\n";
    begin = end + 1;
  }
  if (a.counted || b.counted) text += "executed: per " + b.work_unit + "\n";
  return text;
}

std::string to_text(const SideBySide& both, bool colour) {
  const Annotation& a = both.baseline;
  const Annotation& b = both.candidate;
  auto label = [](const Annotation& of) {
    return base::function_label(of.name) + " " + base::printable(of.signature);
  };
  std::string text = "function   " + label(b) + "\n";
  // Asked for by what it is on one side, and exported as on the other.
  if (label(a) != label(b)) {
    text += "against    " + label(a) + ": index " + std::to_string(b.index) + " against index " +
            std::to_string(a.index) + ", which may be two functions\n";
  }
  text += "baseline   " + head_of(a) + "\ncandidate  " + head_of(b) + "\nrows       " +
          format_count(both.kept) + " the same, " + format_count(a.rows.size() - both.kept) + " gone, " +
          format_count(b.rows.size() - both.kept) + " new\n\n";
  return text + rows_text(both, both.rows, colour);
}

base::Json to_json(const SideBySide& both) {
  base::Json rows = base::Json::array();
  for (const AlignedRow& row : both.rows) {
    rows.push(
        base::Json::object({{"baseline", row_json(row.baseline)}, {"candidate", row_json(row.candidate)}}));
  }
  return base::Json::object({{"kept", both.kept},
                             {"rows", std::move(rows)},
                             {"baseline", to_json(both.baseline)},
                             {"candidate", to_json(both.candidate)}});
}

}  // namespace wago::diff
