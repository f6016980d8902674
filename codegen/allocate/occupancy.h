// Which physical registers are taken at which positions: a word per position, a bit per register, and the
// same once more per stretch of 64 positions, so that a long range costs a step per stretch.
//
// Invariant: a register is taken at a position if its bit is set in the position's word or in `whole` of its
// stretch; `some` of a stretch has at least the bits of both. A range fills a stretch through `whole` exactly
// if it covers it, so that clearing finds what setting did.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "codegen/allocate/liveness.h"

namespace wago::codegen {

class Occupancy {
 public:
  using Mask = uint32_t;

  // Takes over what is taken from the start; gives it back, changed, by leaving it there.
  void start(std::vector<Mask>& words) {
    words_ = &words;
    size_t stretches = (words.size() + kStretch - 1) / kStretch;
    whole_.assign(stretches, 0);
    some_.assign(stretches, 0);
    for (size_t p = 0; p < words.size(); ++p) some_[p / kStretch] |= words[p];
  }

  Mask at(Position position) const { return (*words_)[position] | whole_[position / kStretch]; }

  void set(LiveRange range, uint32_t reg) {
    Mask mask = Mask{1} << reg;
    by_stretch(range, [&](Position from, Position to) {
      some_[from / kStretch] |= mask;
      if (to - from == kStretch) {
        whole_[from / kStretch] |= mask;
        return;
      }
      for (Position p = from; p < to; ++p) (*words_)[p] |= mask;
    });
  }

  // `range` is the rest, from some position on, of a range that was set.
  void clear(LiveRange range, uint32_t reg) {
    Mask mask = Mask{1} << reg;
    by_stretch(range, [&](Position from, Position to) {
      Position stretch = from / kStretch;
      if ((whole_[stretch] & mask) == 0) {
        for (Position p = from; p < to; ++p) (*words_)[p] &= ~mask;
        return;
      }
      whole_[stretch] &= ~mask;
      if (to - from == kStretch) some_[stretch] &= ~mask;
      for (Position p = stretch * kStretch; p < from; ++p) (*words_)[p] |= mask;
    });
  }

  // Takes out of `open` each register that is taken somewhere in `range`, calling found(mask of registers,
  // position) for the first such position. Stops when none is left.
  template <class Found>
  void search(LiveRange range, Mask& open, Found&& found) const {
    auto take = [&](Mask taken, Position position) {
      if (taken == 0) return;
      open &= ~taken;
      found(taken, position);
    };
    for (Position from = range.start; from < range.end && open != 0;) {
      Position stretch = from / kStretch, to = std::min(range.end, (stretch + 1) * kStretch);
      if ((some_[stretch] & open) != 0) {
        take(whole_[stretch] & open, from);
        for (Position p = from; p < to && open != 0; ++p) take((*words_)[p] & open, p);
      }
      from = to;
    }
  }

 private:
  static constexpr Position kStretch = 64;

  template <class Visit>
  static void by_stretch(LiveRange range, Visit&& visit) {
    for (Position from = range.start; from < range.end;) {
      Position to = std::min(range.end, (from / kStretch + 1) * kStretch);
      visit(from, to);
      from = to;
    }
  }

  std::vector<Mask>* words_ = nullptr;
  std::vector<Mask> whole_, some_;
};

}  // namespace wago::codegen
