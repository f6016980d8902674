// Code that counts: the same function twice, as it is ordinarily and with counters in its blocks, and what
// each counter stands for.
//
// The counted code is for counting alone. What it counts are the blocks of the ordinary code: which machine
// instructions those have is known from having emitted it, and which of the module's instructions, from the
// ranges that the counted function's blocks carry.
#pragma once

#include <memory>
#include <vector>

#include "codegen/emit/emit.h"
#include "codegen/emit/image.h"
#include "codegen/ir/ir.h"
#include "runtime/code_image.h"
#include "runtime/module.h"

namespace wago::codegen {

// All offsets from the functions' origins, counters and inline sites from the function's first.
struct CountedFunction {
  FunctionCode code;
  std::vector<runtime::CountedBlock> blocks;
  std::vector<runtime::CountedRange> ranges;
  std::vector<runtime::CountedExit> exits;
};

// How one function is counted. Between plan() and describe() the counted machine code, whose blocks are
// counted.layout, is emitted with plan_.
class Counting {
 public:
  // `report` is of the ordinary code. False if the two functions differ in more than counting, which is a
  // mistake of the compiler's. References are kept.
  bool plan(const IrFunction& ordinary, const IrFunction& counted, const BlockReport& report);
  const CounterPlan& counters() const { return plan_; }
  // `report` is of the counted code. Fills all but `out.code`. False as above.
  bool describe(const BlockReport& report, CountedFunction& out) const;

 private:
  struct Counter {
    runtime::CountedBlock block;
    RangeList ranges;
  };
  bool number_blocks(const std::vector<BlockId>& match);
  bool plan_tails(uint32_t ordinary_block, uint32_t counted_block);
  uint32_t new_counter(const runtime::CountedBlock& block, RangeList ranges = {});
  // Where in a block a position is: sorted by inline site and begin.
  struct Place {
    uint32_t inline_site, begin, end;
    uint32_t ranges;  // of the block up to here
  };
  std::vector<Place> places_of(uint32_t counter) const;

  const IrFunction* ordinary_ = nullptr;
  const IrFunction* counted_ = nullptr;
  const BlockReport* report_ = nullptr;
  CounterPlan plan_;
  std::vector<Counter> counters_;
  std::vector<uint32_t> counted_index_;   // by BlockId: its machine block
  std::vector<uint32_t> ordinary_block_;  // by counted machine block: the ordinary one, or kNoCounter
};

// Makes the image that counts, function by function in index order, beside the ordinary one.
class CountedLinker {
 public:
  CountedLinker(const runtime::Module& module, uint64_t wasm_bytes);
  // The next function, whose ordinary code is at `ordinary_begin` in its image. Takes the code's bytes.
  void append(CountedFunction& function, uint32_t ordinary_begin);
  std::shared_ptr<const runtime::CodeImage> finish(runtime::CodeImage ordinary) &&;

 private:
  const runtime::Module& module_;
  uint64_t counters_begin_;  // from an instance's context
  ImageLinker linker_;
  runtime::CountedCode tables_;
  uint32_t functions_ = 0;
  uint32_t inline_sites_ = 0;
};

}  // namespace wago::codegen
