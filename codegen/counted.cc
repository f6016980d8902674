#include "codegen/counted.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "codegen/ir/match_blocks.h"
#include "runtime/abi.h"

namespace wago::codegen {

namespace {

std::vector<uint32_t> layout_index(const IrFunction& function) {
  std::vector<uint32_t> index(function.block_count, kNoCounter);
  for (uint32_t i = 0; i < function.layout.size(); ++i) index[function.layout[i].index()] = i;
  return index;
}

}  // namespace

uint32_t Counting::new_counter(const runtime::CountedBlock& block, RangeList ranges) {
  counters_.push_back({block, ranges});
  counters_.back().block.function = ordinary_->function;
  return static_cast<uint32_t>(counters_.size() - 1);
}

bool Counting::plan(const IrFunction& ordinary, const IrFunction& counted, const BlockReport& report) {
  ordinary_ = &ordinary;
  counted_ = &counted;
  report_ = &report;
  const auto match = match_blocks(ordinary, counted);
  if (!match || ordinary.inline_sites.size() != counted.inline_sites.size()) return false;
  counters_.clear();
  const size_t blocks = counted.layout.size();
  plan_.blocks.assign(blocks, kNoCounter);
  plan_.tails.clear();
  // In the order of what they count: ways and blocks that have no place stand at the function's entry.
  for (const RangeList& way : counted.ways) new_counter({}, way);
  return number_blocks(*match);
}

bool Counting::number_blocks(const std::vector<BlockId>& match) {
  const std::vector<uint32_t> ordinary_index = layout_index(*ordinary_);
  counted_index_ = layout_index(*counted_);
  ordinary_block_.assign(counted_->layout.size(), kNoCounter);
  // By ordinary block: the counted ones, of which all but the first only ever have equal ranges.
  std::vector<std::vector<uint32_t>> counted_blocks(ordinary_->layout.size());
  for (uint32_t i = 0; i < counted_->layout.size(); ++i) {
    const BlockId block = counted_->layout[i];
    const RangeList ranges = counted_->block(block).executed;
    if (match[block.index()].valid()) {
      ordinary_block_[i] = ordinary_index[match[block.index()].index()];
      counted_blocks[ordinary_block_[i]].push_back(i);
    } else if (!ranges.empty()) {
      plan_.blocks[i] = new_counter({}, ranges);
    }
  }
  for (uint32_t b = 0; b < counted_blocks.size(); ++b) {
    const BlockReport::Block& code = report_->blocks[b];
    if (counted_blocks[b].empty()) continue;
    const RangeList ranges = counted_->block(counted_->layout[counted_blocks[b][0]]).executed;
    if (code.machine_instructions == 0 && ranges.empty()) continue;
    const uint32_t counter = new_counter({code.begin, code.size, 0, code.machine_instructions}, ranges);
    for (const uint32_t i : counted_blocks[b]) plan_.blocks[i] = counter;
    if (!plan_tails(b, counted_blocks[b][0])) return false;
  }
  std::stable_sort(plan_.tails.begin(), plan_.tails.end(),
                   [](const auto& a, const auto& b) { return a.tail.block < b.tail.block; });
  return true;
}

// Blocks with tails have several ways out, so they are not on edges, and there is one that counts for each.
bool Counting::plan_tails(uint32_t ordinary_block, uint32_t counted_block) {
  auto first = std::lower_bound(report_->tails.begin(), report_->tails.end(), ordinary_block,
                                [](const BlockTail& tail, uint32_t b) { return tail.block < b; });
  const std::vector<Edge>& theirs = ordinary_->block(ordinary_->layout[ordinary_block]).succs;
  const std::vector<Edge>& ours = counted_->block(counted_->layout[counted_block]).succs;
  for (; first != report_->tails.end() && first->block == ordinary_block; ++first) {
    if (first->machine_instructions == 0) continue;
    BlockTail tail = *first;
    const auto way = std::find_if(theirs.begin(), theirs.end(), [&](const Edge& edge) {
      return edge.target == ordinary_->layout[tail.way];
    });
    if (way == theirs.end()) return false;
    tail.block = counted_block;
    tail.way = counted_index_[ours[static_cast<size_t>(way - theirs.begin())].target.index()];
    plan_.tails.push_back({tail, new_counter({tail.begin, tail.size, 0, tail.machine_instructions})});
  }
  return true;
}

std::vector<Counting::Place> Counting::places_of(uint32_t counter) const {
  std::vector<Place> places;
  counted_->executed.for_each(counters_[counter].ranges, [&](const ExecutedRange& range) {
    const auto number = static_cast<uint32_t>(places.size() + 1);
    places.push_back({range.inline_site, range.begin, range.end, number});
  });
  std::sort(places.begin(), places.end(), [](const Place& one, const Place& other) {
    return std::tie(one.inline_site, one.begin) < std::tie(other.inline_site, other.begin);
  });
  return places;
}

bool Counting::describe(const BlockReport& report, CountedFunction& out) const {
  out.blocks.clear();
  out.ranges.clear();
  out.exits.clear();
  for (uint32_t i = 0; i < counters_.size(); ++i) {
    out.blocks.push_back(counters_[i].block);
    counted_->executed.for_each(counters_[i].ranges, [&](const ExecutedRange& range) {
      out.ranges.push_back({i, range.inline_site, range.begin, range.end, range.instructions});
    });
  }
  // Both codes leave each block by the same exits in the same order.
  std::vector<size_t> next(report_->blocks.size(), report_->exits.size());
  for (size_t i = report_->exits.size(); i-- > 0;) next[report_->exits[i].block] = i;
  std::vector<Place> places;
  uint32_t placed = kNoCounter;  // whose they are
  // A position that is not in the block belongs to what was before it.
  auto ranges_until = [&](const BlockReport::Exit& exit) -> uint32_t {
    const auto after = std::upper_bound(
        places.begin(), places.end(), exit, [](const BlockReport::Exit& at, const Place& place) {
          return std::tie(at.inline_site, at.wasm_pc) < std::tie(place.inline_site, place.begin);
        });
    if (after == places.begin()) return 0;
    const Place& place = *(after - 1);
    return place.inline_site == exit.inline_site && exit.wasm_pc < place.end ? place.ranges : 0;
  };
  for (const BlockReport::Exit& exit : report.exits) {
    const uint32_t block = ordinary_block_[exit.block];
    const uint32_t counter = plan_.blocks[exit.block];
    if (block == kNoCounter || counter == kNoCounter || next[block] >= report_->exits.size()) return false;
    const BlockReport::Exit& ordinary = report_->exits[next[block]++];
    if (ordinary.block != block || ordinary.wasm_pc != exit.wasm_pc ||
        ordinary.inline_site != exit.inline_site) {
      return false;
    }
    if (counter != placed) places = places_of(placed = counter);
    out.exits.push_back(
        {exit.site, counter, ordinary.offset, ordinary.machine_instructions, ranges_until(exit)});
  }
  return true;
}

namespace {

// What one function counts, moved to where its codes are.
void append_tables(const CountedFunction& function, uint32_t ordinary_begin, uint32_t counted_begin,
                   uint32_t first_inline_site, runtime::CountedCode& to) {
  const auto first_block = static_cast<uint32_t>(to.blocks.size());
  for (runtime::CountedBlock block : function.blocks) {
    block.begin += ordinary_begin;
    to.blocks.push_back(block);
  }
  for (runtime::CountedRange range : function.ranges) {
    range.block += first_block;
    if (range.inline_site != ~0u) range.inline_site += first_inline_site;
    to.ranges.push_back(range);
  }
  for (runtime::CountedExit exit : function.exits) {
    exit.site += counted_begin;
    exit.block += first_block;
    exit.offset += ordinary_begin;
    to.exits.push_back(exit);
  }
}

}  // namespace

CountedLinker::CountedLinker(const runtime::Module& module, uint64_t wasm_bytes)
    : module_(module),
      counters_begin_(runtime::ContextLayout(module).size()),
      linker_(module.imported_functions, static_cast<uint32_t>(module.bodies.size()), 2 * wasm_bytes) {}

void CountedLinker::append(CountedFunction& function, uint32_t ordinary_begin) {
  FunctionCode& code = function.code;
  for (const CounterFixup& fixup : code.counters) {
    const uint64_t place = counters_begin_ + 8 * (tables_.blocks.size() + fixup.counter);
    WAGO_CHECK(place <= INT32_MAX);
    const auto displacement = static_cast<int32_t>(place);
    std::memcpy(code.bytes.data() + fixup.offset, &displacement, 4);
  }
  const uint32_t begin = linker_.append(code, module_.bodies[functions_++].begin);
  append_tables(function, ordinary_begin, begin, inline_sites_, tables_);
  inline_sites_ += static_cast<uint32_t>(code.inline_sites.size());
}

std::shared_ptr<const runtime::CodeImage> CountedLinker::finish(runtime::CodeImage ordinary) && {
  auto tables = std::make_shared<runtime::CountedCode>(std::move(tables_));
  tables->ordinary = std::move(ordinary);
  std::sort(tables->exits.begin(), tables->exits.end(),
            [](const runtime::CountedExit& a, const runtime::CountedExit& b) { return a.site < b.site; });
  auto image = std::make_shared<runtime::CodeImage>(std::move(linker_).finish());
  image->counted = std::move(tables);
  return image;
}

}  // namespace wago::codegen
