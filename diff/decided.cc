#include "diff/decided.h"

#include <map>
#include <utility>

#include "base/json.h"
#include "diff/annotate.h"
#include "diff/quantity.h"

namespace wago::diff {

namespace {

using base::DecisionKind;
using base::Json;
using capture::kNone;

// The row of an instruction of the module, by inline site and wasm pc.
class RowIndex {
 public:
  RowIndex(const capture::CodeMetadata& metadata, uint32_t begin, std::span<const AnnotatedRow> rows) {
    for (size_t i = 0; i < rows.size(); ++i) {
      const capture::Position* at = capture::position_at(metadata.positions, rows[i].offset);
      if (!at || at->offset < begin) continue;
      const auto [found, first] = rows_.emplace(std::pair(at->inline_site, at->wasm_pc), i);
      const bool calls = rows[i].assembly.starts_with("call");
      if (!first && calls && !rows[found->second].assembly.starts_with("call")) found->second = i;
    }
  }
  std::optional<size_t> of(const capture::Decision& decision) const {
    const auto found = rows_.find(std::pair(decision.inline_site, decision.wasm_pc));
    return found == rows_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  std::map<std::pair<uint32_t, uint32_t>, size_t> rows_;
};

Json number_or_null(uint32_t number) {
  return number == kNone ? Json() : Json(number);
}

}  // namespace

Decided decided_about(const Evidence& evidence, const FunctionChoice& choice, const Locations& locations,
                      std::vector<AnnotatedRow>& rows) {
  const capture::CodeMetadata& metadata = evidence.images.images[choice.image].metadata;
  Decided decided;
  if (const capture::CodeOrigin* origin = origin_of(metadata, choice.function->index))
    decided.origin = *origin;
  const auto decisions = decisions_of(metadata, choice.function->index);
  if (decisions.empty()) return decided;
  const RowIndex index(metadata, choice.function->begin, rows);
  for (const capture::Decision& decision : decisions) {
    if (const auto row = index.of(decision)) {
      rows[*row].decided.push_back(static_cast<uint32_t>(decided.instructions.size()));
    }
    decided.instructions.push_back(
        {decision.kind, decision.wasm_pc, decision.inline_site, decision.callee,
         decision.callee == kNone ? std::string() : locations.function_name(choice.image, decision.callee)});
  }
  return decided;
}

std::string to_text(const Decided& decided) {
  std::map<DecisionKind, uint64_t> counts;
  for (const DecidedInstruction& instruction : decided.instructions) ++counts[instruction.kind];
  std::string text;
  for (const auto& [kind, count] : counts) {
    text += (text.empty() ? "" : ", ") + format_count(count) + " " + std::string(spelling(kind));
  }
  return text;
}

std::string row_text(const Decided& decided, const AnnotatedRow& row) {
  std::string text;
  std::optional<DecisionKind> last;
  for (const uint32_t number : row.decided) {
    const DecisionKind kind = decided.instructions[number].kind;
    if (!leaves_code(kind) || kind == last) continue;
    text += (text.empty() ? "" : "; ") + std::string(phrase(kind));
    last = kind;
  }
  return text;
}

Json to_json(const Decided& decided) {
  Json list = Json::array();
  for (const DecidedInstruction& it : decided.instructions) {
    Json json = Json::object({{"kind", spelling(it.kind)},
                              {"wasm_pc", it.wasm_pc},
                              {"inline_site", number_or_null(it.inline_site)},
                              {"callee", number_or_null(it.callee)}});
    if (it.callee != kNone) json.set("name", it.callee_name);
    list.push(std::move(json));
  }
  return list;
}

}  // namespace wago::diff
