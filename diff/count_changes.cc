#include "diff/count_changes.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

#include "base/json.h"
#include "base/text.h"
#include "diff/elapsed.h"
#include "diff/executed.h"
#include "diff/executions.h"
#include "diff/hot_spots.h"
#include "diff/identity.h"
#include "diff/locations.h"
#include "diff/quantity.h"

namespace wago::diff {

namespace {

using Key = std::pair<std::string, std::string>;  // name, signature
using Range = std::pair<uint32_t, uint32_t>;      // of wasm pcs

struct FunctionSum {
  uint64_t machine = 0, wasm = 0, entered = 0;
  std::set<std::string> inlined_into;
  std::map<Range, uint64_t> blocks;
  std::map<Range, std::string> lines;
};

class Side {
 public:
  explicit Side(const Evidence& evidence) : evidence_(evidence), locations_(evidence) {
    for (const FunctionExecutions& own : executions_of(evidence).functions) {
      FunctionSum& sum = functions_[key_of(own.image, own.function)];
      sum.machine += own.machine_instructions;
      sum.wasm += own.wasm_instructions;
      sum.entered += own.entered;
      for (const uint32_t holder : own.inlined_into)
        sum.inlined_into.insert(locations_.function_name(own.image, holder));
    }
    for (uint32_t image = 0; image < evidence.images.images.size(); ++image) add_blocks(image);
  }
  std::map<Key, FunctionSum>& functions() { return functions_; }

 private:
  Key key_of(uint32_t image, uint32_t index) const {
    const capture::Function* known = locations_.function(image, index);
    return {locations_.function_name(image, index), known ? known->signature : ""};
  }

  void add_blocks(uint32_t image) {
    if (evidence_.counts->entered[image].empty()) return;
    const capture::CodeMetadata& metadata = evidence_.images.images[image].metadata;
    const InstructionExecutions executions(evidence_, image);
    std::map<std::pair<uint32_t, Range>, bool> seen;  // the same body may have been placed several times
    for (const capture::BlockRange& range : metadata.block_ranges) {
      const uint32_t function = range.inline_site == capture::kNone
                                    ? metadata.blocks[range.block].function
                                    : metadata.inline_sites[range.inline_site].callee;
      const Range wasm = {range.wasm_begin, range.wasm_end};
      if (range.wasm_instructions == 0 || !seen.emplace(std::pair(function, wasm), true).second) continue;
      auto sum = functions_.find(key_of(image, function));
      if (sum == functions_.end()) continue;  // nothing of it was executed
      sum->second.blocks[wasm] += executions.wasm(function, range.wasm_begin);
      const auto source = locations_.source(image, {function, range.wasm_begin});
      if (!source.empty()) sum->second.lines[wasm] = to_string(source.back());
    }
  }

  const Evidence& evidence_;
  Locations locations_;
  std::map<Key, FunctionSum> functions_;
};

bool same_ranges(const FunctionSum& a, const FunctionSum& b) {
  return std::equal(a.blocks.begin(), a.blocks.end(), b.blocks.begin(), b.blocks.end(),
                    [](const auto& left, const auto& right) { return left.first == right.first; });
}

double per_work(uint64_t count, uint64_t work) {
  return static_cast<double>(count) / static_cast<double>(work);
}

double change_per_work(const CountComparison& counts, const CountPair& pair) {
  return std::fabs(per_work(pair.candidate, counts.candidate_work) -
                   per_work(pair.baseline, counts.baseline_work));
}

bool has_lines(const Evidence& evidence) {
  return expect_counts(evidence, Grouping::Line) &&
         std::any_of(evidence.images.images.begin(), evidence.images.images.end(),
                     [](const auto& image) { return !image.metadata.source_frames.empty(); });
}

LineComparison compare_lines(const Evidence& baseline, const Evidence& candidate,
                             const Disassemble& disassemble, const CountComparison& counts) {
  std::map<Key, CountPair> joined;
  for (const ExecutedRow& row : executed(baseline, Grouping::Line, disassemble).rows) {
    joined[{row.label.name, row.label.detail}].baseline += row.machine;
  }
  for (const ExecutedRow& row : executed(candidate, Grouping::Line, disassemble).rows) {
    joined[{row.label.name, row.label.detail}].candidate += row.machine;
  }
  LineComparison result;
  for (const auto& [key, machine] : joined) {
    if (counts.differs(machine)) {
      result.lines.push_back({key.first, key.second, machine});
    } else {
      ++result.same;
    }
  }
  std::stable_sort(result.lines.begin(), result.lines.end(), [&](const auto& a, const auto& b) {
    return change_per_work(counts, a.machine) > change_per_work(counts, b.machine);
  });
  return result;
}

}  // namespace

bool CountComparison::differs(const CountPair& pair) const {
  using Wide = unsigned __int128;
  return Wide{pair.baseline} * candidate_work != Wide{pair.candidate} * baseline_work;
}

std::optional<CountComparison> compare_counts(const Evidence& baseline, const Evidence& candidate,
                                              const Disassemble& disassemble) {
  const auto work_before = work_behind_samples(baseline.manifest);
  const auto work_after = work_behind_samples(candidate.manifest);
  if (!baseline.counts || !candidate.counts || !work_before || !work_after) return std::nullopt;
  CountComparison result;
  result.work_unit = elapsed_of(baseline).unit;
  result.baseline_work = *work_before;
  result.candidate_work = *work_after;
  Side left(baseline), right(candidate);
  auto& before = left.functions();
  auto& after = right.functions();
  std::map<Key, std::pair<const FunctionSum*, const FunctionSum*>> joined;
  for (const auto& [key, sum] : before) joined[key].first = &sum;
  for (const auto& [key, sum] : after) joined[key].second = &sum;
  static const FunctionSum kNothing;
  for (const auto& [key, sums] : joined) {
    const FunctionSum& a = sums.first ? *sums.first : kNothing;
    const FunctionSum& b = sums.second ? *sums.second : kNothing;
    FunctionCountChange row = {key.first,
                               key.second,
                               sums.first != nullptr,
                               sums.second != nullptr,
                               {a.machine, b.machine},
                               {a.wasm, b.wasm},
                               {a.entered, b.entered},
                               {},
                               same_ranges(a, b),
                               {}};
    std::set_union(a.inlined_into.begin(), a.inlined_into.end(), b.inlined_into.begin(), b.inlined_into.end(),
                   std::back_inserter(row.inlined_into));
    result.machine.baseline += a.machine;
    result.machine.candidate += b.machine;
    result.wasm.baseline += a.wasm;
    result.wasm.candidate += b.wasm;
    if (row.blocks_joined) {
      for (const auto& [range, times] : b.blocks) {
        const CountPair executed = {a.blocks.at(range), times};
        if (!result.differs(executed)) continue;
        const auto line = b.lines.find(range);
        row.blocks.push_back(
            {range.first, range.second, line == b.lines.end() ? "" : line->second, executed});
      }
    }
    if (result.differs(row.machine) || result.differs(row.wasm) || result.differs(row.entered) ||
        !row.blocks.empty()) {
      result.functions.push_back(std::move(row));
    } else {
      ++result.functions_same;
    }
  }
  std::stable_sort(result.functions.begin(), result.functions.end(), [&](const auto& a, const auto& b) {
    return change_per_work(result, a.machine) > change_per_work(result, b.machine);
  });
  if (disassemble && has_lines(baseline) && has_lines(candidate)) {
    result.by_line = compare_lines(baseline, candidate, disassemble, result);
  }
  return result;
}

namespace {

constexpr size_t kListed = 40;
constexpr size_t kListedBlocks = 8;

std::string change_text(const CountComparison& counts, const CountPair& pair) {
  if (!counts.differs(pair)) return "same";
  if (pair.baseline == 0) return "from none";
  const double change =
      per_work(pair.candidate, counts.candidate_work) / per_work(pair.baseline, counts.baseline_work) - 1;
  return format_exact_change(change);
}

std::string more_text(size_t unlisted) {
  return unlisted == 0 ? "" : "and " + format_count(unlisted) + " more; --json lists all\n";
}

std::vector<std::string> cells_of(const CountComparison& counts, const CountPair& pair) {
  return {format_quotient(pair.baseline, counts.baseline_work),
          format_quotient(pair.candidate, counts.candidate_work), change_text(counts, pair)};
}

void append_function(const CountComparison& counts, const FunctionCountChange& row,
                     std::vector<std::vector<std::string>>& rows) {
  std::string label = base::function_label(row.name) + " " + base::printable(row.signature);
  if (!row.in_baseline) label += ", new";
  if (!row.in_candidate) label += ", no longer executed";
  if (!row.own_code_ran() && !row.inlined_into.empty()) label += "; " + not_run_text(row.inlined_into);
  auto add = [&](const CountPair& pair, const char* what, const std::string& name) {
    auto cells = cells_of(counts, pair);
    cells.emplace_back(what);
    cells.push_back(name);
    rows.push_back(std::move(cells));
  };
  add(row.machine, "machine", label);
  if (counts.differs(row.wasm)) add(row.wasm, "wasm", "");
  if (counts.differs(row.entered)) add(row.entered, "entered", "");
  for (size_t i = 0; i < std::min(row.blocks.size(), kListedBlocks); ++i) {
    const BlockChange& block = row.blocks[i];
    add(block.executed, "block",
        "  wasm " + std::to_string(block.wasm_begin) + ".." + std::to_string(block.wasm_end) +
            (block.line.empty() ? "" : "  " + base::printable(block.line)));
  }
  if (row.blocks.size() > kListedBlocks) {
    rows.push_back(
        {"", "", "", "", "  and " + format_count(row.blocks.size() - kListedBlocks) + " more blocks"});
  }
}

std::string lines_text(const CountComparison& counts, const LineComparison& by_line) {
  using enum base::Align;
  std::string text = "lines      exact, machine instructions per " + counts.work_unit + ": " +
                     format_plural(by_line.same, "line") + " executed the same, " +
                     format_count(by_line.lines.size()) + " not\n";
  if (by_line.lines.empty()) return text;
  std::vector<std::vector<std::string>> rows = {{"baseline", "candidate", "change", "line", "function"}};
  for (size_t i = 0; i < std::min(by_line.lines.size(), kListed); ++i) {
    const LineCountChange& row = by_line.lines[i];
    auto cells = cells_of(counts, row.machine);
    cells.push_back(base::printable(row.line));
    cells.push_back(base::function_label(row.function));
    rows.push_back(std::move(cells));
  }
  return text + base::columns(rows, {Right, Right, Right, Left, Left}) +
         more_text(by_line.lines.size() - std::min(by_line.lines.size(), kListed));
}

}  // namespace

std::string to_text(const CountComparison& counts) {
  using enum base::Align;
  std::string text = "counts     exact, per " + counts.work_unit + ": " +
                     format_plural(counts.functions_same, "function") + " executed the same, " +
                     format_count(counts.functions.size()) + " not\n";
  std::vector<std::vector<std::string>> rows = {{"baseline", "candidate", "change", "of", "function"}};
  auto add = [&](const CountPair& pair, const char* what) {
    auto cells = cells_of(counts, pair);
    cells.emplace_back(what);
    cells.emplace_back("all");
    rows.push_back(std::move(cells));
  };
  add(counts.machine, "machine");
  add(counts.wasm, "wasm");
  for (size_t i = 0; i < std::min(counts.functions.size(), kListed); ++i) {
    append_function(counts, counts.functions[i], rows);
  }
  text += base::columns(rows, {Right, Right, Right, Left, Left}) +
          more_text(counts.functions.size() - std::min(counts.functions.size(), kListed));
  return counts.by_line ? text + "\n" + lines_text(counts, *counts.by_line) : text;
}

base::Json to_json(const CountComparison& counts) {
  using base::Json;
  auto pair_json = [&](const CountPair& pair) {
    return Json::object(
        {{"baseline", pair.baseline}, {"candidate", pair.candidate}, {"same", !counts.differs(pair)}});
  };
  Json functions = Json::array();
  for (const FunctionCountChange& row : counts.functions) {
    Json blocks = Json::array();
    for (const BlockChange& block : row.blocks) {
      blocks.push(Json::object({{"wasm_begin", block.wasm_begin},
                                {"wasm_end", block.wasm_end},
                                {"line", block.line},
                                {"executed", pair_json(block.executed)}}));
    }
    functions.push(Json::object(
        {{"name", row.name},
         {"signature", row.signature},
         {"in_baseline", row.in_baseline},
         {"in_candidate", row.in_candidate},
         {"machine_instructions", pair_json(row.machine)},
         {"wasm_instructions", pair_json(row.wasm)},
         {"entered", pair_json(row.entered)},
         {"inlined_into", Json::array(std::vector<Json>(row.inlined_into.begin(), row.inlined_into.end()))},
         {"blocks_joined", row.blocks_joined},
         {"blocks", std::move(blocks)}}));
  }
  Json by_line;
  if (counts.by_line) {
    Json lines = Json::array();
    for (const LineCountChange& row : counts.by_line->lines) {
      lines.push(Json::object({{"line", row.line},
                               {"function", row.function},
                               {"machine_instructions", pair_json(row.machine)}}));
    }
    by_line = Json::object({{"same", counts.by_line->same}, {"lines", std::move(lines)}});
  }
  return Json::object({{"work_unit", counts.work_unit},
                       {"baseline_work", counts.baseline_work},
                       {"candidate_work", counts.candidate_work},
                       {"same", counts.same()},
                       {"machine_instructions", pair_json(counts.machine)},
                       {"wasm_instructions", pair_json(counts.wasm)},
                       {"functions_same", counts.functions_same},
                       {"functions", std::move(functions)},
                       {"by_line", std::move(by_line)}});
}

}  // namespace wago::diff
