#include "capture/code_metadata.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "base/json.h"
#include "capture/rows.h"

namespace wago::capture {

namespace {

using base::Json;
using base::JsonReader;
using Names = std::span<const std::string_view>;

constexpr std::array<std::string_view, 11> kSiteKinds = {
    "none",          "spill",       "reload",          "rematerialize", "move", "bounds-check",
    "indirect-call", "stack-check", "interrupt-check", "helper-call",   "frame"};
constexpr std::array<std::string_view, 4> kUnwindRules = {"entry", "pushed", "framed", "adapter"};

constexpr std::array<std::string_view, 3> kInlineSiteColumns = {"callee", "call_pc", "parent"};
constexpr std::array<std::string_view, 3> kPositionColumns = {"offset", "wasm_pc", "inline_site"};
constexpr std::array<std::string_view, 2> kSiteColumns = {"offset", "kind"};
constexpr std::array<std::string_view, 5> kDecisionColumns = {"function", "kind", "wasm_pc", "inline_site",
                                                              "callee"};
constexpr std::array<std::string_view, 3> kOriginColumns = {"function", "built_instructions",
                                                            "placed_instructions"};
constexpr std::array<std::string_view, 3> kInstructionColumns = {"function", "wasm_pc", "text"};
constexpr std::array<std::string_view, 4> kSourceFrameColumns = {"function", "file", "line", "caller"};
constexpr std::array<std::string_view, 3> kSourceRangeColumns = {"function", "wasm_pc", "frame"};
constexpr std::array<std::string_view, 2> kUnwindColumns = {"offset", "rule"};
constexpr std::array<std::string_view, 4> kBlockColumns = {"begin", "size", "function",
                                                           "machine_instructions"};
constexpr std::array<std::string_view, 5> kBlockRangeColumns = {"block", "inline_site", "wasm_begin",
                                                                "wasm_end", "wasm_instructions"};

// Members of a row, in the order of its columns.
template <class T, size_t n>
Json table(std::span<const T> rows, const std::array<std::string_view, n>& names,
           const std::array<uint32_t T::*, n>& members) {
  ColumnsOf<T> columns(rows);
  for (size_t i = 0; i < n; ++i) {
    columns.add(names[i], [&](const T& row) { return row.*members[i]; });
  }
  return columns.json();
}

template <class T, size_t n>
std::vector<T> read_table(JsonReader& reader, std::string_view key,
                          const std::array<std::string_view, n>& names,
                          const std::array<uint32_t T::*, n>& members, const Limits& limits) {
  Columns columns(reader, key, names, limits.metadata_rows, "metadata_rows");
  std::vector<T> rows(columns.rows());
  for (size_t row = 0; row < rows.size(); ++row) {
    for (size_t i = 0; i < n; ++i) rows[row].*members[i] = columns.u32_or_absent(row, i);
  }
  return rows;
}

template <class T, class Kind>
Json kind_table(std::span<const T> rows, const std::array<std::string_view, 2>& names, Kind T::*kind) {
  return ColumnsOf<T>(rows)
      .add(names[0], [](const T& row) { return row.offset; })
      .add(names[1], [&](const T& row) { return static_cast<uint32_t>(row.*kind); })
      .json();
}

// Kinds are numbers in the table, and the words that they stand for are listed beside it.
template <class T, class Kind>
std::vector<T> read_kind_table(JsonReader& reader, std::string_view key,
                               const std::array<std::string_view, 2>& names, Kind T::*kind, uint32_t kinds,
                               const Limits& limits) {
  Columns columns(reader, key, names, limits.metadata_rows, "metadata_rows");
  std::vector<T> rows(columns.rows());
  for (size_t row = 0; row < rows.size(); ++row) {
    rows[row].offset = columns.u32(row, 0);
    rows[row].*kind = static_cast<Kind>(columns.u32(row, 1, kinds - 1));
  }
  return rows;
}

constexpr std::array kInlineSite = {&InlineSite::callee, &InlineSite::call_pc, &InlineSite::parent};
constexpr std::array kPosition = {&Position::offset, &Position::wasm_pc, &Position::inline_site};
constexpr std::array kOrigin = {&CodeOrigin::function, &CodeOrigin::built_instructions,
                                &CodeOrigin::placed_instructions};
constexpr std::array kInstruction = {&WasmInstruction::function, &WasmInstruction::wasm_pc,
                                     &WasmInstruction::text};
constexpr std::array kSourceFrame = {&SourceFrame::function, &SourceFrame::file, &SourceFrame::line,
                                     &SourceFrame::caller};
constexpr std::array kSourceRange = {&SourceRange::function, &SourceRange::wasm_pc, &SourceRange::frame};
constexpr std::array kBlock = {&Block::begin, &Block::size, &Block::function, &Block::machine_instructions};
constexpr std::array kBlockRange = {&BlockRange::block, &BlockRange::inline_site, &BlockRange::wasm_begin,
                                    &BlockRange::wasm_end, &BlockRange::wasm_instructions};

Json decision_table(std::span<const Decision> decisions) {
  return ColumnsOf<Decision>(decisions)
      .add(kDecisionColumns[0], [](const Decision& d) { return d.function; })
      .add(kDecisionColumns[1], [](const Decision& d) { return static_cast<uint32_t>(d.kind); })
      .add(kDecisionColumns[2], [](const Decision& d) { return d.wasm_pc; })
      .add(kDecisionColumns[3], [](const Decision& d) { return d.inline_site; })
      .add(kDecisionColumns[4], [](const Decision& d) { return d.callee; })
      .json();
}

// The file's own list of kinds, so that one that is added here leaves older captures readable.
std::vector<base::DecisionKind> read_decision_kinds(JsonReader& reader) {
  constexpr uint64_t kMostKinds = 256;
  std::vector<base::DecisionKind> kinds;
  reader.array(
      "decision_kinds",
      [&](JsonReader& word) {
        const auto kind = base::parse<base::DecisionKind>(word.as_string());
        if (!kind) word.fail("is no decision that this program knows");
        kinds.push_back(kind.value_or(base::DecisionKind::Inlined));
      },
      false, kMostKinds);
  return kinds;
}

std::vector<Decision> read_decisions(JsonReader& reader, const Limits& limits) {
  const std::vector<base::DecisionKind> kinds = read_decision_kinds(reader);
  Columns columns(reader, "decisions", kDecisionColumns, limits.metadata_rows, "metadata_rows");
  if (columns.rows() > 0 && kinds.empty()) {
    reader.fail("must be there with decisions", "decision_kinds");
    return {};
  }
  std::vector<Decision> decisions(columns.rows());
  for (size_t row = 0; row < decisions.size(); ++row) {
    decisions[row] = {.function = columns.u32(row, 0),
                      .kind = kinds[columns.u32(row, 1, static_cast<uint32_t>(kinds.size() - 1))],
                      .wasm_pc = columns.u32(row, 2),
                      .inline_site = columns.u32_or_absent(row, 3),
                      .callee = columns.u32_or_absent(row, 4)};
  }
  return decisions;
}

// Each entry's parent is before it, so that chains end.
template <class T>
bool parents_first(const std::vector<T>& rows, uint32_t T::*parent) {
  for (uint32_t i = 0; i < rows.size(); ++i) {
    if (rows[i].*parent != kNone && rows[i].*parent >= i) return false;
  }
  return true;
}

template <class T>
bool sorted_within(const std::vector<T>& rows, uint32_t T::*offset, uint32_t size) {
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].*offset > size || (i > 0 && rows[i].*offset < rows[i - 1].*offset)) return false;
  }
  return true;
}

bool names_within(uint32_t index, size_t count) {
  return index == kNone || index < count;
}

template <class T>
bool sorted_by_pc(const std::vector<T>& rows) {
  return std::is_sorted(rows.begin(), rows.end(), [](const T& a, const T& b) {
    return a.function != b.function ? a.function < b.function : a.wasm_pc < b.wasm_pc;
  });
}

std::string decisions_problem(const CodeMetadata& m) {
  auto key = [](const Decision& d) { return std::tuple(d.function, d.inline_site + 1, d.wasm_pc); };
  for (size_t i = 0; i < m.decisions.size(); ++i) {
    if (!names_within(m.decisions[i].inline_site, m.inline_sites.size())) {
      return "a decision that names an inline site that is not there";
    }
    if (i > 0 && key(m.decisions[i]) < key(m.decisions[i - 1])) return "decisions out of order";
  }
  for (size_t i = 1; i < m.origins.size(); ++i) {
    if (m.origins[i].function <= m.origins[i - 1].function) return "origins of functions out of order";
  }
  return {};
}

std::string sources_problem(const CodeMetadata& m) {
  if (!parents_first(m.source_frames, &SourceFrame::caller)) return "source frames before their callers";
  for (const SourceFrame& frame : m.source_frames) {
    if (!names_within(frame.function, m.texts.size()) || !names_within(frame.file, m.texts.size())) {
      return "a source frame that names a text that is not there";
    }
  }
  if (!sorted_by_pc(m.source_ranges)) return "source ranges out of order";
  for (const SourceRange& range : m.source_ranges) {
    if (!names_within(range.frame, m.source_frames.size())) {
      return "a source range that names a frame that is not there";
    }
  }
  if (!sorted_by_pc(m.instructions)) return "wasm instructions out of order";
  for (const WasmInstruction& it : m.instructions) {
    if (it.text >= m.texts.size()) return "a wasm instruction that names a text that is not there";
  }
  return {};
}

std::string blocks_problem(const CodeMetadata& m, uint32_t image_size) {
  if (!sorted_within(m.blocks, &Block::begin, image_size)) return "blocks out of order";
  for (const Block& block : m.blocks) {
    if (block.size > image_size - block.begin) return "a block beyond its end";
  }
  for (size_t i = 0; i < m.block_ranges.size(); ++i) {
    const BlockRange& range = m.block_ranges[i];
    if (range.block >= m.blocks.size() || !names_within(range.inline_site, m.inline_sites.size())) {
      return "a block range that names a block or an inline site that is not there";
    }
    if (range.wasm_begin > range.wasm_end) return "a block range that ends before it begins";
    if (i > 0 && range.block < m.block_ranges[i - 1].block) return "block ranges out of order";
  }
  return {};
}

}  // namespace

std::string_view spelling(SiteKind kind) {
  return kSiteKinds.at(static_cast<size_t>(kind));
}
std::string_view spelling(UnwindRule rule) {
  return kUnwindRules.at(static_cast<size_t>(rule));
}

std::span<const BlockRange> ranges_of(const CodeMetadata& metadata, uint32_t block) {
  const auto [begin, end] =
      std::equal_range(metadata.block_ranges.begin(), metadata.block_ranges.end(), BlockRange{.block = block},
                       [](const BlockRange& a, const BlockRange& b) { return a.block < b.block; });
  return {begin, end};
}

std::span<const Decision> decisions_of(const CodeMetadata& metadata, uint32_t function) {
  const auto [begin, end] =
      std::equal_range(metadata.decisions.begin(), metadata.decisions.end(), Decision{.function = function},
                       [](const Decision& a, const Decision& b) { return a.function < b.function; });
  return {begin, end};
}

const CodeOrigin* origin_of(const CodeMetadata& metadata, uint32_t function) {
  auto at = std::lower_bound(metadata.origins.begin(), metadata.origins.end(), function,
                             [](const CodeOrigin& origin, uint32_t f) { return origin.function < f; });
  return at != metadata.origins.end() && at->function == function ? &*at : nullptr;
}

const Position* position_at(std::span<const Position> positions, uint32_t offset) {
  auto after = std::upper_bound(positions.begin(), positions.end(), offset,
                                [](uint32_t at, const Position& p) { return at < p.offset; });
  return after == positions.begin() ? nullptr : &*(after - 1);
}

Json to_json(const CodeMetadata& m) {
  Json json;
  json.append("site_kinds", words_table(kSiteKinds));
  json.append("unwind_rules", words_table(kUnwindRules));
  auto add = [&](std::string_view key, bool empty, auto make) {
    if (!empty) json.append(std::string(key), make());
  };
  add("inline_sites", m.inline_sites.empty(),
      [&] { return table<InlineSite>(m.inline_sites, kInlineSiteColumns, kInlineSite); });
  add("positions", m.positions.empty(),
      [&] { return table<Position>(m.positions, kPositionColumns, kPosition); });
  add("sites", m.sites.empty(),
      [&] { return kind_table<EmittedSite>(m.sites, kSiteColumns, &EmittedSite::kind); });
  add("decision_kinds", m.decisions.empty(),
      [] { return words_table(base::spellings<base::DecisionKind>()); });
  add("decisions", m.decisions.empty(), [&] { return decision_table(m.decisions); });
  add("origins", m.origins.empty(), [&] { return table<CodeOrigin>(m.origins, kOriginColumns, kOrigin); });
  add("instructions", m.instructions.empty(),
      [&] { return table<WasmInstruction>(m.instructions, kInstructionColumns, kInstruction); });
  add("source_frames", m.source_frames.empty(),
      [&] { return table<SourceFrame>(m.source_frames, kSourceFrameColumns, kSourceFrame); });
  add("source_ranges", m.source_ranges.empty(),
      [&] { return table<SourceRange>(m.source_ranges, kSourceRangeColumns, kSourceRange); });
  add("unwind_rows", m.unwind_rows.empty(),
      [&] { return kind_table<UnwindRow>(m.unwind_rows, kUnwindColumns, &UnwindRow::rule); });
  add("blocks", m.blocks.empty(), [&] { return table<Block>(m.blocks, kBlockColumns, kBlock); });
  add("block_ranges", m.block_ranges.empty(),
      [&] { return table<BlockRange>(m.block_ranges, kBlockRangeColumns, kBlockRange); });
  add("texts", m.texts.empty(), [&] { return text_table(m.texts); });
  return json;
}

CodeMetadata read_code_metadata(JsonReader& reader, const Limits& limits) {
  CodeMetadata m;
  expect_words(reader, "site_kinds", kSiteKinds);
  expect_words(reader, "unwind_rules", kUnwindRules);
  m.inline_sites = read_table(reader, "inline_sites", kInlineSiteColumns, kInlineSite, limits);
  m.positions = read_table(reader, "positions", kPositionColumns, kPosition, limits);
  m.sites = read_kind_table(reader, "sites", kSiteColumns, &EmittedSite::kind, kSiteKinds.size(), limits);
  m.decisions = read_decisions(reader, limits);
  m.origins = read_table(reader, "origins", kOriginColumns, kOrigin, limits);
  m.instructions = read_table(reader, "instructions", kInstructionColumns, kInstruction, limits);
  m.source_frames = read_table(reader, "source_frames", kSourceFrameColumns, kSourceFrame, limits);
  m.source_ranges = read_table(reader, "source_ranges", kSourceRangeColumns, kSourceRange, limits);
  m.unwind_rows =
      read_kind_table(reader, "unwind_rows", kUnwindColumns, &UnwindRow::rule, kUnwindRules.size(), limits);
  m.blocks = read_table(reader, "blocks", kBlockColumns, kBlock, limits);
  m.block_ranges = read_table(reader, "block_ranges", kBlockRangeColumns, kBlockRange, limits);
  m.texts = read_text_table(reader, "texts", limits, limits.metadata_rows, "metadata_rows");
  return m;
}

std::string problem_of(const CodeMetadata& m, uint32_t image_size) {
  if (!parents_first(m.inline_sites, &InlineSite::parent)) return "inline sites before their parents";
  if (!sorted_within(m.positions, &Position::offset, image_size)) return "positions out of order";
  for (const Position& position : m.positions) {
    if (!names_within(position.inline_site, m.inline_sites.size())) {
      return "a position that names an inline site that is not there";
    }
  }
  if (!sorted_within(m.sites, &EmittedSite::offset, image_size)) return "emitted sites out of order";
  if (!sorted_within(m.unwind_rows, &UnwindRow::offset, image_size)) return "unwind rows out of order";
  if (std::string problem = decisions_problem(m); !problem.empty()) return problem;
  if (std::string problem = sources_problem(m); !problem.empty()) return problem;
  return blocks_problem(m, image_size);
}

}  // namespace wago::capture
