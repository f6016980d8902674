#include "codegen/build/ssa.h"

#include <algorithm>

namespace wago::codegen {

namespace {

// The skew-binary rule: a node jumps as far as its parent's jump did twice, where the two were equally long.
template <class Node>
void link_under(std::vector<Node>& nodes, uint32_t child, uint32_t parent) {
  const Node& p = nodes[parent];
  const Node& q = nodes[p.jump];
  Node& c = nodes[child];
  c.parent = parent;
  c.depth = p.depth + 1;
  c.jump = p.depth - q.depth == q.depth - nodes[q.jump].depth ? q.jump : parent;
}

uint32_t hash_of(BlockId block, uint32_t local) {
  const uint64_t key = (uint64_t{block.index()} << 32 | local) * 0x9e3779b97f4a7c15u;
  return static_cast<uint32_t>(key >> 32);
}

}  // namespace

void SsaConstruction::start(IrFunction& function, const BodyScan& scan, std::span<const Value> params,
                            std::span<const Type> locals, ZeroSource& zeros, uint64_t max_arguments) {
  function_ = &function;
  scan_ = &scan;
  zeros_ = &zeros;
  local_types_ = locals;
  regions_.assign(1, Region());
  loops_.assign(1, Loop());
  region_ = RegionId(0);
  loop_ = 0;
  epoch_ = 1;
  if (assignments_.size() < scan.assignment_count()) assignments_.resize(scan.assignment_count());
  assigned_.assign(locals.size(), 0);
  current_.assign(locals.size(), Current());
  initial_.assign(params.begin(), params.end());
  initial_.resize(locals.size());
  merges_.clear();
  edges_.clear();
  phis_.clear();
  phi_args_.clear();
  stack_args_.clear();
  gathered_.clear();
  tasks_.clear();
  ++generation_;
  if (memo_.empty() || generation_ == 0) {
    memo_.assign(std::max<size_t>(memo_.size(), 256), Memo());
    generation_ = 1;
  }
  memo_count_ = 0;
  replaced_.clear();
  max_arguments_ = max_arguments;
  over_limit_ = false;
}

RegionId SsaConstruction::open_region() {
  const uint32_t index = static_cast<uint32_t>(regions_.size());
  regions_.emplace_back();
  link_under(regions_, index, region_.index());
  return region_ = RegionId(index);
}

void SsaConstruction::close_region(uint32_t pc, BlockId merge_block) {
  Region& r = regions_[region_.index()];
  r.end = after(pc);
  r.merge = merge_block;
  region_ = RegionId(r.parent);
  ++epoch_;
}

LoopId SsaConstruction::open_loop(uint32_t pc, uint32_t end_pc, BlockId header) {
  const uint32_t index = static_cast<uint32_t>(loops_.size());
  Loop& l = loops_.emplace_back();
  l.start = after(pc);
  l.end = after(end_pc);
  l.header = header;
  link_under(loops_, index, loop_);
  merge(header).loop = index;
  loop_ = index;
  ++epoch_;
  return LoopId(index);
}

void SsaConstruction::close_loop() {
  Loop& l = loops_[loop_];
  l.closed = true;
  const BlockId header = l.header;
  loop_ = l.parent;
  if (over_limit_) return;
  for (uint32_t i = merge(header).first_phi; i != kNone; i = phis_[i].next) {
    const uint32_t local = phis_[i].local;
    if ((local & kStack) != 0) {
      const uint32_t begin = static_cast<uint32_t>(gathered_.size());
      for (uint32_t e = merge(header).first_edge; e != kNone; e = edges_[e].next) {
        gathered_.push_back(stack_args_[edges_[e].stack + (local & ~kStack)]);
      }
      complete(i, header, std::span(gathered_).subspan(begin));
      gathered_.resize(begin);
      continue;
    }
    tasks_.push_back({header, local, merge(header).first_edge, static_cast<uint32_t>(gathered_.size()), i});
    run_tasks();
  }
}

SsaConstruction::Merge& SsaConstruction::merge(BlockId block) {
  if (block.index() >= merges_.size()) merges_.resize(block.index() + 1);
  return merges_[block.index()];
}

void SsaConstruction::add_edge(BlockId from, BlockId to, uint32_t pc, std::span<const Value> stack) {
  const uint32_t index = static_cast<uint32_t>(edges_.size());
  const uint32_t args = static_cast<uint32_t>(stack_args_.size());
  stack_args_.insert(stack_args_.end(), stack.begin(), stack.end());
  if (stack_args_.size() > kMaxMergeQuestions) over_limit_ = true;
  const uint32_t successor = static_cast<uint32_t>(function_->block(from).succs.size());
  function_->add_edge(from, to, {});
  edges_.push_back({from, successor, before(pc), loop_, args, kNone});
  Merge& m = merge(to);
  (m.last_edge == kNone ? m.first_edge : edges_[m.last_edge].next) = index;
  m.last_edge = index;
}

Value SsaConstruction::stack_value(BlockId block, uint32_t index, Type type) {
  const Merge& m = merge(block);
  const uint32_t begin = static_cast<uint32_t>(gathered_.size());
  bool same = true;
  for (uint32_t e = m.first_edge; e != kNone; e = edges_[e].next) {
    gathered_.push_back(stack_args_[edges_[e].stack + index]);
    same = same && gathered_.back() == gathered_[begin];
  }
  Value result = gathered_[begin];
  if (!same) {
    const uint32_t phi = new_phi(block, kStack | index, type);
    phis_[phi].args = keep_args(std::span(gathered_).subspan(begin));
    result = phis_[phi].param;
  }
  gathered_.resize(begin);
  return result;
}

Value SsaConstruction::loop_stack_param(BlockId header, uint32_t index, Type type) {
  return phis_[new_phi(header, kStack | index, type)].param;
}

Value SsaConstruction::find_current(uint32_t local, uint32_t pc) {
  const Value value = find_or_merge(local, before(pc), loop_);
  current_[local] = {value, epoch_};
  return value;
}

Value SsaConstruction::initial(uint32_t local) {
  if (!initial_[local].valid()) initial_[local] = zeros_->zero(local_types_[local]);
  return initial_[local];
}

const SsaConstruction::Assignment* SsaConstruction::last_assignment(uint32_t local, uint32_t position) const {
  const uint32_t count = assigned_[local];
  if (count == 0) return nullptr;
  const Assignment* begin = &assignments_[scan_->first_assignment(local)];
  if (begin[count - 1].position <= position) return &begin[count - 1];
  const Assignment* behind = std::upper_bound(begin, begin + count, position,
                                              [](uint32_t p, const Assignment& a) { return p < a.position; });
  return behind == begin ? nullptr : behind - 1;
}

// Of a region closed at a position: its outermost ancestor, itself included, that was closed by then.
uint32_t SsaConstruction::outermost_closed(uint32_t region, uint32_t position) const {
  for (;;) {
    const Region& r = regions_[region];
    if (regions_[r.jump].end <= position) {
      region = r.jump;
    } else if (regions_[r.parent].end <= position) {
      region = r.parent;
    } else {
      return region;
    }
  }
}

// The innermost loop around a position that assigns the local behind it; 0 if none does.
uint32_t SsaConstruction::loop_assigning(uint32_t local, uint32_t position, uint32_t loop) const {
  const std::span<const uint32_t> pcs = scan_->assignments(local);
  const auto next = std::upper_bound(pcs.begin(), pcs.end(), position,
                                     [](uint32_t p, uint32_t pc) { return p < before(pc); });
  if (next == pcs.end()) return 0;
  const uint32_t target = before(*next);
  while (loops_[loop].end <= target) {
    loop = loops_[loops_[loop].jump].end <= target ? loops_[loop].jump : loops_[loop].parent;
  }
  return loop;
}

// `loop`: the innermost one around the position.
SsaConstruction::Found SsaConstruction::find(uint32_t local, uint32_t position, uint32_t loop) {
  const Assignment* last = last_assignment(local, position);
  uint32_t origin = 0;
  BlockId merge_block;
  if (last != nullptr) {
    origin = last->position;
    if (regions_[last->region.index()].end <= position) {
      const Region& closed = regions_[outermost_closed(last->region.index(), position)];
      origin = closed.end;
      merge_block = closed.merge;
    }
  }
  if (loops_[loop].start > origin) {
    const Loop& assigning = loops_[loop_assigning(local, position, loop)];
    if (assigning.start > origin) merge_block = assigning.header;
  }
  if (!merge_block.valid())
    return {last != nullptr ? replaced_.resolve(last->value) : initial(local), BlockId()};
  if (const Value* known = memo_slot(merge_block, local)) return {replaced_.resolve(*known), BlockId()};
  return {Value(), merge_block};
}

Value SsaConstruction::find_or_merge(uint32_t local, uint32_t position, uint32_t loop) {
  const Found found = find(local, position, loop);
  if (found.value.valid()) return found.value;
  push_task(local, found.merge);
  return run_tasks();
}

// Runs the task on top, and those it needs, without recursion: chains of merges are as long as the function.
Value SsaConstruction::run_tasks() {
  const size_t base = tasks_.size() - 1;
  for (;;) {
    Task& task = tasks_.back();
    if (task.edge == kNone) {
      const Value value = finish_task();
      if (tasks_.size() == base) return value;
      gathered_.push_back(value);
      continue;
    }
    const MergeEdge& edge = edges_[task.edge];
    task.edge = edge.next;
    const Found found = find(task.local, edge.position, edge.loop);
    if (found.value.valid()) {
      gathered_.push_back(found.value);
    } else {
      push_task(task.local, found.merge);
    }
  }
}

void SsaConstruction::push_task(uint32_t local, BlockId block) {
  const Merge& m = merge(block);
  Task task{block, local, m.first_edge, static_cast<uint32_t>(gathered_.size()), kNone};
  if (m.loop != kNone) {
    task.phi = new_phi(block, local, local_types_[local]);
    remember(block, local, phis_[task.phi].param);
    // An open loop's edges are not all there: close_loop() gathers the arguments.
    if (!loops_[m.loop].closed) task.edge = kNone;
  }
  if (over_limit_) task.edge = kNone;
  tasks_.push_back(task);
}

Value SsaConstruction::finish_task() {
  const Task task = tasks_.back();
  tasks_.pop_back();
  const std::span<const Value> args = std::span(gathered_).subspan(task.begin);
  Value result;
  if (over_limit_) {
    result = initial(task.local);
  } else if (task.phi != kNone) {
    result = args.empty() ? phis_[task.phi].param : complete(task.phi, task.block, args);
  } else {
    result = args[0];
    if (!std::all_of(args.begin(), args.end(), [&](Value v) { return v == args[0]; })) {
      const uint32_t phi = new_phi(task.block, task.local, local_types_[task.local]);
      phis_[phi].args = keep_args(args);
      result = phis_[phi].param;
    }
    remember(task.block, task.local, result);
  }
  gathered_.resize(task.begin);
  return result;
}

// All arguments of a header's parameter are there: it stays, or it is the one value that enters the loop.
Value SsaConstruction::complete(uint32_t index, BlockId block, std::span<const Value> args) {
  Phi& phi = phis_[index];
  const Value param = phi.param;
  Value only;
  for (Value arg : args) {
    arg = replaced_.resolve(arg);
    if (arg == param || arg == only) continue;
    if (only.valid()) {
      phi.args = keep_args(args);
      return param;
    }
    only = arg;
  }
  phi.param = Value();
  replaced_.replace(param, only);
  if ((phi.local & kStack) == 0) remember(block, phi.local, only);
  return only;
}

uint32_t SsaConstruction::new_phi(BlockId block, uint32_t local, Type type) {
  const uint32_t index = static_cast<uint32_t>(phis_.size());
  const Value param(static_cast<uint32_t>(function_->values.size()));
  function_->values.push_back({type, true, block.index(), 0});
  phis_.push_back({param, local, kNone, kNone});
  Merge& m = merge(block);
  (m.last_phi == kNone ? m.first_phi : phis_[m.last_phi].next) = index;
  m.last_phi = index;
  return index;
}

uint32_t SsaConstruction::keep_args(std::span<const Value> args) {
  const uint32_t begin = static_cast<uint32_t>(phi_args_.size());
  phi_args_.insert(phi_args_.end(), args.begin(), args.end());
  if (over_arguments()) over_limit_ = true;
  return begin;
}

Value* SsaConstruction::memo_slot(BlockId block, uint32_t local) {
  const uint32_t mask = static_cast<uint32_t>(memo_.size() - 1);
  for (uint32_t i = hash_of(block, local) & mask;; i = (i + 1) & mask) {
    Memo& slot = memo_[i];
    if (slot.generation != generation_) return nullptr;
    if (slot.block == block.index() && slot.local == local) return &slot.value;
  }
}

void SsaConstruction::remember(BlockId block, uint32_t local, Value value) {
  if (Value* known = memo_slot(block, local)) {
    *known = value;
    return;
  }
  if (2 * ++memo_count_ > memo_.size()) grow_memo();
  if (memo_count_ > kMaxMergeQuestions) over_limit_ = true;
  const uint32_t mask = static_cast<uint32_t>(memo_.size() - 1);
  uint32_t i = hash_of(block, local) & mask;
  while (memo_[i].generation == generation_) i = (i + 1) & mask;
  memo_[i] = {block.index(), local, generation_, value};
}

void SsaConstruction::grow_memo() {
  std::vector<Memo> old(2 * memo_.size());
  old.swap(memo_);
  const uint32_t mask = static_cast<uint32_t>(memo_.size() - 1);
  for (const Memo& m : old) {
    if (m.generation != generation_) continue;
    uint32_t i = hash_of(BlockId(m.block), m.local) & mask;
    while (memo_[i].generation == generation_) i = (i + 1) & mask;
    memo_[i] = m;
  }
}

void SsaConstruction::finish() {
  for (uint32_t b = 0; b < merges_.size(); ++b) {
    const Merge& m = merges_[b];
    if (m.first_phi == kNone) continue;
    write_params(BlockId(b), m);
    write_edge_args(m);
  }
  replaced_.apply(*function_);
}

void SsaConstruction::write_params(BlockId block, const Merge& m) {
  std::vector<Value>& params = function_->block(block).params;
  for (uint32_t i = m.first_phi; i != kNone; i = phis_[i].next) {
    if (!phis_[i].param.valid()) continue;
    function_->value(phis_[i].param).index = static_cast<uint32_t>(params.size());
    params.push_back(phis_[i].param);
  }
}

void SsaConstruction::write_edge_args(const Merge& m) {
  std::vector<Value>& pool = function_->arg_pool;
  uint32_t ordinal = 0;
  for (uint32_t e = m.first_edge; e != kNone; e = edges_[e].next, ++ordinal) {
    Edge& edge = function_->block(edges_[e].from).succs[edges_[e].successor];
    edge.args_begin = static_cast<uint32_t>(pool.size());
    for (uint32_t i = m.first_phi; i != kNone; i = phis_[i].next) {
      if (phis_[i].param.valid()) pool.push_back(phi_args_[phis_[i].args + ordinal]);
    }
    edge.args_count = static_cast<uint32_t>(pool.size()) - edge.args_begin;
  }
}

}  // namespace wago::codegen
