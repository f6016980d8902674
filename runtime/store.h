// Stores keep alive whatever is linked together.
//
// Instances, memories, tables, globals and host functions refer to each other by plain pointers, in cycles,
// through imports and through the references in tables. They are members of a store; handles of the embedding
// API hold the store, never a member. Linking objects of two stores merges the stores: the members move to
// one of them, the root, and the other keeps the root alive for the handles that still name it (a union-find
// whose parent links own). No member owns another, so there are no cycles to leak, and no reference can
// outlive what it points to.
//
// A host function refers to nothing, so its store is never merged: stores that may reach it hold it as a
// dependency. Instances that share nothing but host functions are therefore freed one by one.
//
// Threads: stores that are or become linked are used by one thread at a time. Host functions' stores never
// change and may be held by stores of several threads.
//
// A store whose last handle goes away inside a host function may still have code on this thread's stack. It
// then moves into another that is kept until the thread leaves its outermost activation, so that what the
// activation reaches still has a store, and may be linked and held again. Whatever an activation reaches is
// in the store of the function that was entered, or a dependency of it.
#pragma once

#include <memory>
#include <vector>

namespace wago::runtime {

class Store;

class StoreMember {
 public:
  virtual ~StoreMember() = default;
  Store* store() const { return store_; }  // the root that owns this

 private:
  friend class Store;
  Store* store_ = nullptr;
};

class Store : public std::enable_shared_from_this<Store> {
 public:
  enum class Kind : uint8_t {
    Linked,  // merges with what it is linked to
    Host,    // one host function
  };
  explicit Store(Kind kind = Kind::Linked) : kind_(kind) {}
  ~Store();  // of a running store: leaves its members to the thread's graveyard
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  template <class Member>
  Member* add(std::unique_ptr<Member> member) {
    Member* added = member.get();
    root()->adopt(std::move(member));
    return added;
  }

  // From now on whatever is in `other` lives at least as long as this store, and, but for host functions, the
  // other way round.
  void link(const std::shared_ptr<Store>& other);
  bool is_host() const { return kind_ == Kind::Host; }

 private:
  Store* root();
  bool is_running() const;
  void adopt(std::unique_ptr<StoreMember> member);

  Kind kind_;
  std::shared_ptr<Store> parent_;  // null in a root; only roots own members and dependencies
  std::vector<std::shared_ptr<Store>> dependencies_;  // Host stores, sorted by address; outlive the members
  std::vector<std::unique_ptr<StoreMember>> members_;
};

// Stores that wait for the thread to leave guest code; see ThreadState::graveyard.
struct Graveyard {
  std::vector<std::shared_ptr<Store>> stores;
};
// Frees the thread's graveyard if its outermost activation has ended.
void bury_dead_stores();

}  // namespace wago::runtime
