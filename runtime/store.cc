#include "runtime/store.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/check.h"
#include "runtime/host.h"
#include "runtime/stack.h"

namespace wago::runtime {

bool Store::is_running() const {
  // This is C++ code: every activation of this thread is in a host function.
  for (const Activation* activation = thread_state.exited; activation; activation = activation->exited) {
    if (owner_of(*activation->callee) == this) return true;
  }
  return false;
}

Store::~Store() {
  ThreadState& thread = thread_state;
  if (members_.empty() || !is_running()) return;
  auto heir = std::make_shared<Store>(kind_);
  for (auto& member : members_) heir->adopt(std::move(member));
  heir->dependencies_ = std::move(dependencies_);
  if (!thread.graveyard) thread.graveyard = new Graveyard;
  thread.graveyard->stores.push_back(std::move(heir));
  thread.status = kEntryDroppedStore;
}

void bury_dead_stores() {
  ThreadState& thread = thread_state;
  if (thread.exited) return;
  // Destructors of what host functions captured may run guest code, and so come here again.
  thread.status = 0;
  while (thread.graveyard) std::unique_ptr<Graveyard> dead(std::exchange(thread.graveyard, nullptr));
}

Store* Store::root() {
  Store* store = this;
  while (store->parent_) store = store->parent_.get();
  return store;
}

void Store::adopt(std::unique_ptr<StoreMember> member) {
  member->store_ = this;
  members_.push_back(std::move(member));
}

void Store::link(const std::shared_ptr<Store>& other) {
  Store* here = root();
  Store* there = other->root();
  if (here == there) return;
  WAGO_CHECK(here->kind_ != Kind::Host);
  if (there->kind_ == Kind::Host) {
    auto& dependencies = here->dependencies_;
    auto at = std::lower_bound(dependencies.begin(), dependencies.end(), other);
    if (at == dependencies.end() || *at != other) dependencies.insert(at, other);
    return;
  }
  // The smaller moves, so that a member moves at most log(n) times and parent chains stay as short.
  if (here->members_.size() < there->members_.size()) std::swap(here, there);
  for (auto& member : there->members_) here->adopt(std::move(member));
  there->members_.clear();
  std::vector<std::shared_ptr<Store>> dependencies;
  std::set_union(here->dependencies_.begin(), here->dependencies_.end(), there->dependencies_.begin(),
                 there->dependencies_.end(), std::back_inserter(dependencies));
  here->dependencies_ = std::move(dependencies);
  there->dependencies_.clear();
  there->parent_ = here->shared_from_this();
}

}  // namespace wago::runtime
