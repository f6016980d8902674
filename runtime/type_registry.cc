#include "runtime/type_registry.h"

#include <pthread.h>

#include <map>
#include <mutex>
#include <tuple>
#include <vector>

#include "base/check.h"

namespace wago::runtime {

namespace {

struct Less {
  bool operator()(const FuncType& a, const FuncType& b) const {
    return std::tie(a.params, a.results) < std::tie(b.params, b.results);
  }
};

struct Registry {
  // Held across fork(), so that a child never inherits it from a thread it does not have.
  Registry();
  std::mutex mutex;
  std::map<FuncType, std::weak_ptr<const CanonicalType>, Less> types;
  uint32_t next_id = 1;
  std::vector<uint32_t> free_ids;  // has room for all that were given out
};

// Never destroyed: handles with static storage may outlive any destructor of ours.
Registry& registry() {
  static Registry& instance = *new Registry;
  return instance;
}

Registry::Registry() {
  auto unlock = [] { registry().mutex.unlock(); };
  pthread_atfork([] { registry().mutex.lock(); }, unlock, unlock);
}

void forget(const CanonicalType* type) {
  {
    Registry& r = registry();
    std::lock_guard lock(r.mutex);
    // Another thread may have registered an equal one since nobody held this.
    auto known = r.types.find(type->type);
    if (known != r.types.end() && known->second.expired()) r.types.erase(known);
    r.free_ids.push_back(type->id);
  }
  delete type;
}

}  // namespace

std::shared_ptr<const CanonicalType> canonical_type(const FuncType& type) {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  std::weak_ptr<const CanonicalType>& known = r.types[type];
  if (auto held = known.lock()) return held;
  if (r.free_ids.empty()) {
    WAGO_CHECK(r.next_id != 0);
    r.free_ids.reserve(r.next_id);
    r.free_ids.push_back(r.next_id++);
  }
  std::unique_ptr<CanonicalType> made(new CanonicalType{r.free_ids.back(), type});
  r.free_ids.pop_back();
  std::shared_ptr<const CanonicalType> held(made.release(), forget);
  known = held;
  return held;
}

size_t canonical_types() {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  return r.types.size();
}

}  // namespace wago::runtime
