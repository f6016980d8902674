// From wasm locals and structured control to SSA: which value a local has at any position passed so far, and
// the block parameters this takes.
//
// The problem: a function may have 50,000 locals and 100,000 blocks, so nothing may be copied per block and
// local. The strategy: do nothing when control flow merges; find out when somebody reads. An assignment is a
// record (position, region, value) in its local's list, in program order. Structured control makes that
// enough: the value of a local at a position comes from the last assignment before it, unless
//  (a) that assignment lies in a region closed since, whose end is a merge: then a parameter of the merge's
//  block, or (b) the position is in a loop that began since and assigns the local later on: then a parameter
//  of its header.
// A region is a construct whose end is a branch target, or an arm of an `if`. A position's merge parameter is
// found or created on demand, from the values at the edges into it, by the same question at the edges'
// positions; so parameters are created only for locals that are read, and only where different values meet
// (Braun et al., "Simple and Efficient Construction of SSA Form", 2013, gives the fixed point; the position
// lists take the place of per-block maps).
//
// Cost: O(log n) for a question that needs no new parameter; a new parameter costs one question per edge.
// Where the SSA form itself is not linear in the body (locals times merges), a limit on the arguments stops
// it.
//
// Positions: 2 * wasm pc at an instruction, 2 * pc + 1 behind it.
//
// Also decides which earlier computations dominate the current position: those in a region still open.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "codegen/build/scan.h"
#include "codegen/ir/ir.h"
#include "codegen/ir/value_map.h"

namespace wago::codegen {

struct RegionTag;
struct LoopTag;
using RegionId = base::Id<RegionTag>;
using LoopId = base::Id<LoopTag>;

// Questions about merges that are remembered, and operands at edges, which cost little each.
constexpr uint32_t kMaxMergeQuestions = 8 << 20;

// What a local holds before its first assignment, if that is not a parameter: a constant in the entry block.
class ZeroSource {
 public:
  virtual Value zero(Type type) = 0;

 protected:
  ~ZeroSource() = default;
};

class SsaConstruction {
 public:
  static constexpr uint32_t before(uint32_t pc) { return 2 * pc; }
  static constexpr uint32_t after(uint32_t pc) { return 2 * pc + 1; }

  // `params`: values of the first locals, the function's parameters. All references must outlive the
  // construction.
  void start(IrFunction& function, const BodyScan& scan, std::span<const Value> params,
             std::span<const Type> locals, ZeroSource& zeros, uint64_t max_arguments);

  // True when the function needs more than `max_arguments` of block parameters, or kMaxMergeQuestions; what
  // is returned from then on is meaningless.
  bool over_limit() const { return over_limit_; }
  bool over_arguments() const { return phi_args_.size() > max_arguments_; }

  // Regions nest; the function's body is the first and never closes.
  RegionId open_region();
  // Closes the innermost region. `merge`: the block entered there, invalid if it is not reached.
  void close_region(uint32_t pc, BlockId merge);
  RegionId region() const { return region_; }
  bool is_open(RegionId id) const { return regions_[id.index()].end == kOpen; }

  // A loop whose header is branched to. Edges into the header may be added until it closes.
  LoopId open_loop(uint32_t pc, uint32_t end_pc, BlockId header);
  void close_loop();

  // An edge into a block that is a merge: a loop header, or the block at the end of a region. `stack`: values
  // for the block's own parameters (block results, loop parameters), the same number on every edge. Add edges
  // in program order.
  void add_edge(BlockId from, BlockId to, uint32_t pc, std::span<const Value> stack);

  // Value number `index` of the stack that all edges into a block bring: the common one, or a parameter. When
  // no edge will follow.
  Value stack_value(BlockId block, uint32_t index, Type type);
  // The same for the header of a loop just opened: always a parameter.
  Value loop_stack_param(BlockId header, uint32_t index, Type type);

  Value get(uint32_t local, uint32_t pc) {
    const Current& current = current_[local];
    if (current.epoch == epoch_) return current.value;
    return find_current(local, pc);
  }
  void set(uint32_t local, uint32_t pc, Value value) {
    assignments_[scan_->first_assignment(local) + assigned_[local]++] = {before(pc), region_, value};
    current_[local] = {value, epoch_};
  }

  // Writes parameters and edge arguments into the function.
  void finish();

 private:
  static constexpr uint32_t kOpen = ~0u;
  static constexpr uint32_t kNone = ~0u;

  // Trees whose nodes know an ancestor far up, so that climbing takes logarithmic time (Myers, "An
  // applicative random-access stack", 1983). Ends never decrease towards the root.
  struct Region {
    uint32_t end = kOpen;
    BlockId merge;
    uint32_t parent = 0, jump = 0, depth = 0;
  };
  struct Loop {
    uint32_t start = 0;  // 0: the root, which is no loop
    uint32_t end = kOpen;
    BlockId header;
    uint32_t parent = 0, jump = 0, depth = 0;
    bool closed = false;
  };
  struct Assignment {
    uint32_t position;
    RegionId region;
    Value value;
  };
  struct Current {
    Value value;
    uint32_t epoch = 0;
  };
  struct MergeEdge {
    BlockId from;
    uint32_t successor;  // index in from's succs
    uint32_t position;
    uint32_t loop;
    uint32_t stack;  // in stack_args_
    uint32_t next;
  };
  struct Phi {
    Value param;     // invalid: dropped
    uint32_t local;  // or kStack | index
    uint32_t args;   // in phi_args_, one an edge; kNone: not known yet
    uint32_t next;
  };
  static constexpr uint32_t kStack = 1u << 31;
  struct Merge {
    uint32_t first_edge = kNone, last_edge = kNone;
    uint32_t first_phi = kNone, last_phi = kNone;
    uint32_t loop = kNone;  // of headers
  };
  struct Found {
    Value value;    // or
    BlockId merge;  // where a value has to be merged
  };
  // A merge in progress: its arguments so far are the top of gathered_.
  struct Task {
    BlockId block;
    uint32_t local;
    uint32_t edge;   // next one to ask
    uint32_t begin;  // in gathered_
    uint32_t phi;    // of loop headers: made before its arguments, so that cycles end in it; else kNone
  };
  // (block, local) -> value at the block's beginning.
  struct Memo {
    uint32_t block = kNone, local = 0;
    uint32_t generation = 0;
    Value value;
  };

  Value find_current(uint32_t local, uint32_t pc);
  Found find(uint32_t local, uint32_t position, uint32_t loop);
  Value find_or_merge(uint32_t local, uint32_t position, uint32_t loop);
  Value run_tasks();
  void push_task(uint32_t local, BlockId block);
  Value finish_task();
  Value complete(uint32_t phi, BlockId block, std::span<const Value> args);
  uint32_t new_phi(BlockId block, uint32_t local, Type type);
  uint32_t keep_args(std::span<const Value> args);
  Merge& merge(BlockId block);

  uint32_t outermost_closed(uint32_t region, uint32_t position) const;
  uint32_t loop_assigning(uint32_t local, uint32_t position, uint32_t loop) const;
  const Assignment* last_assignment(uint32_t local, uint32_t position) const;
  Value initial(uint32_t local);

  Value* memo_slot(BlockId block, uint32_t local);  // nullptr: not known
  void remember(BlockId block, uint32_t local, Value value);
  void grow_memo();

  void write_params(BlockId block, const Merge& m);
  void write_edge_args(const Merge& m);

  IrFunction* function_ = nullptr;
  const BodyScan* scan_ = nullptr;
  ZeroSource* zeros_ = nullptr;
  std::span<const Type> local_types_;

  std::vector<Region> regions_;
  std::vector<Loop> loops_;
  RegionId region_;
  uint32_t loop_ = 0;
  uint32_t epoch_ = 0;  // changes whenever a local's value may have changed without an assignment

  std::vector<Assignment> assignments_;  // local x's from scan_->first_assignment(x)
  std::vector<uint32_t> assigned_;       // how many of them there are so far
  std::vector<Current> current_;
  std::vector<Value> initial_;

  std::vector<Merge> merges_;  // by block
  std::vector<MergeEdge> edges_;
  std::vector<Phi> phis_;
  std::vector<Value> phi_args_;
  std::vector<Value> stack_args_;
  std::vector<Value> gathered_;
  std::vector<Task> tasks_;
  std::vector<Memo> memo_;
  uint32_t memo_count_ = 0;
  uint32_t generation_ = 0;
  ValueMap replaced_;
  uint64_t max_arguments_ = 0;
  bool over_limit_ = false;
};

}  // namespace wago::codegen
