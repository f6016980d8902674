// Which instructions of the module run with which block: the side table of functions that are counted.
//
// Every wasm instruction belongs to the block that is current when it is built, in program order; `else` and
// `end` are no instructions. What changes control flow takes the ranges along: a block that is joined with
// another brings its own, a block that is skipped leaves them on the edges that pass it by, and where a
// branch whose ways differ in nothing else is given up, a CountWay keeps them apart. Behind
// split_critical_edges() no edge has ranges.
//
// A range ends where its block can be left before its end: at an instruction that may trap or calls. So of a
// block that is left at a position, whole ranges have run, up to the one that holds the position.
//
// Lists are kept in one pool and named by their last element, whose `next` is the first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace wago::codegen {

struct ExecutedRange {
  uint32_t inline_site = ~0u;  // as Inst::inline_site
  uint32_t begin = 0;          // wasm pcs: [begin, end)
  uint32_t end = 0;
  uint32_t instructions = 0;
  uint32_t lead = 0;  // <= begin: from here on there is only `else` and `end` before it
  bool operator==(const ExecutedRange&) const = default;
};

class RangeList {
 public:
  bool empty() const { return last_ == kNone; }

 private:
  friend class ExecutedRanges;
  static constexpr uint32_t kNone = ~0u;
  uint32_t last_ = kNone;
};

class ExecutedRanges {
 public:
  // A function that would have more cannot be counted: empty blocks in long rows are passed by many edges.
  static constexpr size_t kMaxRanges = 16 << 20;

  void clear() {
    ranges_.clear();
    next_.clear();
    own_ = 0;
    over_limit_ = false;
  }
  bool over_limit() const { return over_limit_; }

  // What is added next to this list starts a new range, or continues the last one.
  void add(RangeList& list, const ExecutedRange& range);
  void extend(RangeList list, uint32_t end) {
    ranges_[list.last_].end = end;
    ++ranges_[list.last_].instructions;
  }
  const ExecutedRange& last(RangeList list) const { return ranges_[list.last_]; }

  // Moves all of `from` behind what `to` holds, as one range where nothing is between. Of lists that hold
  // nothing that can leave their blocks.
  void append_merging(RangeList& to, RangeList& from);
  // Moves all of `from` behind or in front of what `to` holds.
  void append(RangeList& to, RangeList& from);
  void prepend(RangeList& to, RangeList& from) {
    append(from, to);
    to = from;
    from = RangeList();
  }
  RangeList copy(RangeList list);
  // Whose ranges are those of another function, as they run at an inline site.
  RangeList copy(const ExecutedRanges& from, RangeList list, uint32_t inline_site);
  bool equal(RangeList a, RangeList b) const;

  // Until end_built(), ranges are added in the order of the function's bytes. Afterwards a list can be cut
  // behind the one that holds an instruction of the function's own; what follows is returned.
  void end_built() { own_ = static_cast<uint32_t>(ranges_.size()); }
  RangeList cut_behind(RangeList& list, uint32_t wasm_pc);

  template <class Visit>
  void for_each(RangeList list, Visit visit) const {
    if (list.empty()) return;
    for (uint32_t i = next_[list.last_];; i = next_[i]) {
      visit(ranges_[i]);
      if (i == list.last_) return;
    }
  }

 private:
  uint32_t new_range(const ExecutedRange& range);

  std::vector<ExecutedRange> ranges_;
  std::vector<uint32_t> next_;  // parallel to ranges_
  uint32_t own_ = 0;            // the first of them were there at end_built()
  bool over_limit_ = false;
};

}  // namespace wago::codegen
