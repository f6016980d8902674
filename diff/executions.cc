#include "diff/executions.h"

#include <algorithm>
#include <span>

#include "base/check.h"

namespace wago::diff {

namespace {

using capture::CodeMetadata;
using capture::Unfinished;

uint64_t sum(uint64_t a, uint64_t b) {
  uint64_t result = 0;
  return __builtin_add_overflow(a, b, &result) ? UINT64_MAX : result;
}
uint64_t product(uint64_t a, uint64_t b) {
  uint64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? UINT64_MAX : result;
}

// One block of an image, with the times that it was left before its end.
struct BlockRuns {
  const capture::Block& block;
  std::span<const capture::BlockRange> ranges;
  uint64_t entered;
  std::span<const Unfinished> left;  // by offset

  uint64_t machine_instructions() const {
    uint64_t finished = entered, instructions = 0;
    for (const Unfinished& row : left) {
      finished -= row.times;
      instructions = sum(instructions, product(row.times, row.machine_instructions));
    }
    return sum(instructions, product(finished, block.machine_instructions));
  }
  // How often the range with this number in the block was executed.
  uint64_t range(size_t number) const {
    uint64_t times = entered;
    for (const Unfinished& row : left) times -= row.ranges <= number ? row.times : 0;
    return times;
  }
};

uint32_t function_of(const CodeMetadata& metadata, const BlockRuns& runs, const capture::BlockRange& range) {
  return range.inline_site == capture::kNone ? runs.block.function
                                             : metadata.inline_sites[range.inline_site].callee;
}

template <class Visit>
void for_each_block(const Evidence& evidence, uint32_t image, Visit visit) {
  WAGO_CHECK(evidence.counts);
  const capture::Counts& counts = *evidence.counts;
  if (image >= counts.entered.size() || counts.entered[image].empty()) return;
  std::vector<Unfinished> left;
  for (const Unfinished& row : counts.unfinished) {
    if (row.image == image) left.push_back(row);
  }
  std::sort(left.begin(), left.end(), [](const Unfinished& a, const Unfinished& b) {
    return a.block != b.block ? a.block < b.block : a.offset < b.offset;
  });
  const CodeMetadata& metadata = evidence.images.images[image].metadata;
  size_t first_left = 0, first_range = 0;
  for (uint32_t b = 0; b < metadata.blocks.size(); ++b) {
    size_t end_left = first_left, end_range = first_range;
    while (end_left < left.size() && left[end_left].block == b) ++end_left;
    while (end_range < metadata.block_ranges.size() && metadata.block_ranges[end_range].block == b)
      ++end_range;
    visit(BlockRuns{metadata.blocks[b],
                    std::span(metadata.block_ranges).subspan(first_range, end_range - first_range),
                    counts.entered[image][b],
                    std::span<const Unfinished>(left).subspan(first_left, end_left - first_left)});
    first_left = end_left;
    first_range = end_range;
  }
}

}  // namespace

Executions executions_of(const Evidence& evidence) {
  Executions all;
  for (uint32_t image = 0; image < evidence.images.images.size(); ++image) {
    const capture::Image& code = evidence.images.images[image];
    std::map<uint32_t, FunctionExecutions> functions;
    auto function = [&](uint32_t index) -> FunctionExecutions& {
      FunctionExecutions& executions = functions[index];
      executions.image = image;
      executions.function = index;
      return executions;
    };
    for_each_block(evidence, image, [&](const BlockRuns& runs) {
      FunctionExecutions& holder = function(runs.block.function);
      holder.machine_instructions = sum(holder.machine_instructions, runs.machine_instructions());
      const auto at =
          std::lower_bound(code.functions.begin(), code.functions.end(), runs.block.function,
                           [](const capture::Function& f, uint32_t index) { return f.index < index; });
      // Of the blocks that stand at its begin, the one that has code.
      if (at != code.functions.end() && at->begin == runs.block.begin && runs.block.size != 0) {
        holder.entered = sum(holder.entered, runs.entered);
      }
      for (size_t i = 0; i < runs.ranges.size(); ++i) {
        const capture::BlockRange& range = runs.ranges[i];
        FunctionExecutions& own = function(function_of(code.metadata, runs, range));
        own.wasm_instructions = sum(own.wasm_instructions, product(runs.range(i), range.wasm_instructions));
        if (own.function != runs.block.function && runs.range(i) > 0)
          own.inlined_into.insert(runs.block.function);
      }
    });
    for (const auto& [index, executions] : functions) {
      if (executions.machine_instructions == 0 && executions.wasm_instructions == 0) continue;
      all.machine_instructions = sum(all.machine_instructions, executions.machine_instructions);
      all.wasm_instructions = sum(all.wasm_instructions, executions.wasm_instructions);
      all.functions.push_back(executions);
    }
  }
  std::stable_sort(all.functions.begin(), all.functions.end(),
                   [](const FunctionExecutions& a, const FunctionExecutions& b) {
                     if (a.machine_instructions != b.machine_instructions)
                       return a.machine_instructions > b.machine_instructions;
                     return a.wasm_instructions > b.wasm_instructions;
                   });
  return all;
}

InstructionExecutions::InstructionExecutions(const Evidence& evidence, uint32_t image) {
  const CodeMetadata& metadata = evidence.images.images[image].metadata;
  struct Change {
    uint64_t more = 0, less = 0;
  };
  std::map<uint32_t, std::map<uint32_t, Change>> changes;
  for_each_block(evidence, image, [&](const BlockRuns& runs) {
    Piece piece{runs.block.begin, runs.block.begin, runs.entered};
    const uint32_t end = runs.block.begin + runs.block.size;
    for (const Unfinished& row : runs.left) {
      piece.end = row.offset;
      if (piece.end > piece.begin) pieces_.push_back(piece);
      piece = {row.offset, row.offset, piece.times - row.times};
    }
    piece.end = end;
    if (piece.end > piece.begin) pieces_.push_back(piece);
    for (size_t i = 0; i < runs.ranges.size(); ++i) {
      const capture::BlockRange& range = runs.ranges[i];
      auto& function = changes[function_of(metadata, runs, range)];
      Change& begin = function[range.wasm_begin];
      begin.more = sum(begin.more, runs.range(i));
      Change& after = function[range.wasm_end];
      after.less = sum(after.less, runs.range(i));
    }
  });
  std::stable_sort(pieces_.begin(), pieces_.end(),
                   [](const Piece& a, const Piece& b) { return a.begin < b.begin; });
  for (const auto& [function, at] : changes) {
    uint64_t times = 0;
    for (const auto& [pc, change] : at) {
      times = sum(times, change.more);
      times -= std::min(times, change.less);
      wasm_[function][pc] = times;
    }
  }
}

std::optional<uint64_t> InstructionExecutions::machine(uint32_t offset) const {
  const auto after = std::upper_bound(pieces_.begin(), pieces_.end(), offset,
                                      [](uint32_t at, const Piece& piece) { return at < piece.begin; });
  if (after == pieces_.begin() || offset >= (after - 1)->end) return std::nullopt;
  return (after - 1)->times;
}

uint64_t InstructionExecutions::wasm(uint32_t function, uint32_t wasm_pc) const {
  const auto at = wasm_.find(function);
  if (at == wasm_.end()) return 0;
  const auto after = at->second.upper_bound(wasm_pc);
  return after == at->second.begin() ? 0 : std::prev(after)->second;
}

}  // namespace wago::diff
