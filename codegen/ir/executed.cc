#include "codegen/ir/executed.h"

#include <algorithm>

#include "base/check.h"

namespace wago::codegen {

uint32_t ExecutedRanges::new_range(const ExecutedRange& range) {
  ranges_.push_back(range);
  next_.push_back(static_cast<uint32_t>(next_.size()));
  return static_cast<uint32_t>(ranges_.size() - 1);
}

void ExecutedRanges::add(RangeList& list, const ExecutedRange& range) {
  if (ranges_.size() >= kMaxRanges) {
    over_limit_ = true;
    return;
  }
  RangeList one;
  one.last_ = new_range(range);
  append(list, one);
}

void ExecutedRanges::append(RangeList& to, RangeList& from) {
  if (from.empty()) return;
  if (!to.empty()) std::swap(next_[to.last_], next_[from.last_]);
  to.last_ = from.last_;
  from = RangeList();
}

void ExecutedRanges::append_merging(RangeList& to, RangeList& from) {
  if (to.empty() || from.empty()) return append(to, from);
  ExecutedRange& last = ranges_[to.last_];
  const uint32_t first = next_[from.last_];
  if (last.inline_site != ranges_[first].inline_site || last.end != ranges_[first].lead)
    return append(to, from);
  last.end = ranges_[first].end;
  last.instructions += ranges_[first].instructions;
  if (first == from.last_) {
    from = RangeList();
    return;
  }
  next_[from.last_] = next_[first];
  append(to, from);
}

RangeList ExecutedRanges::copy(RangeList list) {
  RangeList result;
  if (list.empty()) return result;
  for (uint32_t i = next_[list.last_]; !over_limit_; i = next_[i]) {
    const ExecutedRange range = ranges_[i];
    add(result, range);
    if (i == list.last_) break;
  }
  return result;
}

RangeList ExecutedRanges::copy(const ExecutedRanges& from, RangeList list, uint32_t inline_site) {
  RangeList result;
  from.for_each(list, [&](ExecutedRange range) {
    range.inline_site = inline_site;
    add(result, range);
  });
  return result;
}

bool ExecutedRanges::equal(RangeList a, RangeList b) const {
  if (a.empty() || b.empty()) return a.empty() == b.empty();
  for (uint32_t i = next_[a.last_], j = next_[b.last_];; i = next_[i], j = next_[j]) {
    if (ranges_[i] != ranges_[j]) return false;
    if (i == a.last_ || j == b.last_) return i == a.last_ && j == b.last_;
  }
}

RangeList ExecutedRanges::cut_behind(RangeList& list, uint32_t wasm_pc) {
  const auto own_end = ranges_.begin() + own_;
  const auto after =
      std::upper_bound(ranges_.begin(), own_end, wasm_pc,
                       [](uint32_t pc, const ExecutedRange& range) { return pc < range.begin; });
  WAGO_CHECK(after != ranges_.begin());
  const auto at = static_cast<uint32_t>(after - ranges_.begin() - 1);
  WAGO_CHECK(wasm_pc < ranges_[at].end);
  RangeList rest;
  if (at == list.last_) return rest;
  std::swap(next_[at], next_[list.last_]);
  rest.last_ = list.last_;
  list.last_ = at;
  return rest;
}

}  // namespace wago::codegen
