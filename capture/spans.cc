#include "capture/spans.h"

#include <array>

#include "base/json.h"
#include "capture/rows.h"

namespace wago::capture {

namespace {

using base::Json;
using base::JsonReader;

constexpr std::array<std::string_view, kSpanKinds> kKinds = {"lifecycle", "invocation", "host-call", "helper",
                                                             "re-entry"};
constexpr std::array<std::string_view, 6> kSpanColumns = {"kind",     "name",       "parent",
                                                          "start_ns", "elapsed_ns", "trapped"};

bool may_be_part(SpanKind kind, const Span* parent) {
  const bool of_step = parent && parent->kind == SpanKind::Lifecycle;
  switch (kind) {
    case SpanKind::Lifecycle:
    case SpanKind::Invocation:
      return !parent || of_step;
    case SpanKind::Reentry:
      return parent && !of_step;
    case SpanKind::HostCall:
    case SpanKind::Helper:
      return true;
  }
  return false;
}

// Ends are sums of what a stranger wrote.
bool end_of(uint64_t start_ns, uint64_t elapsed_ns, uint64_t& end_ns) {
  return !__builtin_add_overflow(start_ns, elapsed_ns, &end_ns);
}

std::string problem_of(const Spans& spans) {
  const std::vector<Span>& all = spans.spans;
  uint64_t phase_end_ns = 0;
  if (!end_of(spans.phase_start_ns, spans.phase_elapsed_ns, phase_end_ns)) {
    return "the measured phase ends after the last time that there is";
  }
  std::vector<uint64_t> ends(all.size());       // of each span
  std::vector<uint64_t> free_from(all.size());  // where the next child of each may begin
  uint64_t root_free_from = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    const Span& span = all[i];
    const std::string name = "span " + std::to_string(i);
    if (span.name >= spans.names.size()) return name + " has no name";
    if (!end_of(span.start_ns, span.elapsed_ns, ends[i]))
      return name + " ends after the last time that there is";
    if (i > 0 && span.start_ns < all[i - 1].start_ns) return "the starts of spans fall";
    const Span* parent = nullptr;
    if (span.parent != kNoParent) {
      if (span.parent >= i) return name + " comes before its parent";
      parent = &all[span.parent];
      if (ends[i] > ends[span.parent]) return name + " ends after its parent";
    }
    if (!may_be_part(span.kind, parent)) {
      return name + ", kind " + std::string(spelling(span.kind)) + ", cannot be part of " +
             (parent ? "kind " + std::string(spelling(parent->kind)) : "nothing");
    }
    uint64_t& free = parent ? free_from[span.parent] : root_free_from;
    if (span.start_ns < free) return name + " overlaps the span before it";
    free = ends[i];
    if (span.kind != SpanKind::Lifecycle && !in_measured_phase(spans, span)) {
      return name + " is no step in the module's life and outside the measured phase";
    }
  }
  return {};
}

}  // namespace

std::string_view spelling(SpanKind kind) {
  return kKinds.at(static_cast<size_t>(kind));
}

std::string to_json_text(const Spans& spans) {
  Json json;
  json.append("version", kVersion);
  json.append("phase_start_ns", spans.phase_start_ns);
  json.append("phase_elapsed_ns", spans.phase_elapsed_ns);
  json.append("lost", spans.lost);
  json.append("kinds", words_table(kKinds));
  json.append("spans", ColumnsOf<Span>(spans.spans)
                           .add("kind", [](const auto& it) { return static_cast<uint32_t>(it.kind); })
                           .add("name", [](const auto& it) { return it.name; })
                           .add("parent", [](const auto& it) { return it.parent; })
                           .add("start_ns", [](const auto& it) { return it.start_ns; })
                           .add("elapsed_ns", [](const auto& it) { return it.elapsed_ns; })
                           .add("trapped", [](const auto& it) { return uint32_t{it.trapped}; })
                           .json());
  json.append("names", text_table(spans.names));
  return json.dump() + "\n";
}

base::Result<Spans> parse_spans(std::string_view text, const std::string& file, const Limits& limits) {
  auto json = base::parse_json(text, file,
                               {.bytes = limits.decoded_bytes,
                                .depth = limits.json_depth,
                                .values = (kSpanColumns.size() + 1) * limits.spans + 1000});
  if (!json) return json.error();
  JsonReader root(*json, file);
  const uint64_t version = root.u64("version");
  if (root.error()) return *root.error();
  if (auto known = check_version(version, file); !known) return known.error();
  Spans spans;
  spans.phase_start_ns = root.u64("phase_start_ns");
  spans.phase_elapsed_ns = root.u64("phase_elapsed_ns");
  spans.lost = root.u64("lost");
  expect_words(root, "kinds", kKinds);
  spans.names = read_text_table(root, "names", limits, limits.spans, "spans");
  Columns rows(root, "spans", kSpanColumns, limits.spans, "spans");
  spans.spans.reserve(rows.rows());
  for (size_t i = 0; i < rows.rows(); ++i) {
    spans.spans.push_back({static_cast<SpanKind>(rows.u32(i, 0, kSpanKinds - 1)), rows.u32(i, 1),
                           rows.u32_or_absent(i, 2), rows.u64(i, 3), rows.u64(i, 4), rows.u32(i, 5, 1) != 0});
  }
  if (root.error()) return *root.error();
  if (std::string problem = problem_of(spans); !problem.empty()) {
    return base::usage_error(problem, {.file = file});
  }
  return spans;
}

}  // namespace wago::capture
