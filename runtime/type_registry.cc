#include "runtime/type_registry.h"

#include <map>
#include <mutex>
#include <tuple>
#include <vector>

#include "base/check.h"
#include "runtime/fork_lock.h"

namespace wago::runtime {

namespace {

struct Less {
  bool operator()(const FuncType& a, const FuncType& b) const {
    return std::tie(a.params, a.results) < std::tie(b.params, b.results);
  }
};

struct Registry {
  std::mutex& mutex = fork_lock<Registry>();
  std::map<FuncType, std::weak_ptr<const CanonicalType>, Less> types;
  uint32_t next_id = 1;
  std::vector<uint32_t> free_ids;  // has room for all that were given out
};

// Never destroyed: handles with static storage may outlive any destructor of ours.
Registry& registry() {
  static Registry& instance = *new Registry;
  return instance;
}

// Registered once it has a number.
struct Registered : CanonicalType {
  explicit Registered(const FuncType& of) : CanonicalType{0, of} {}
  Registered(const Registered&) = delete;
  Registered& operator=(const Registered&) = delete;
  ~Registered() {
    if (id == 0) return;
    Registry& r = registry();
    std::lock_guard lock(r.mutex);
    // Another thread may have registered an equal one since nobody held this.
    auto known = r.types.find(type);
    if (known != r.types.end() && known->second.expired()) r.types.erase(known);
    r.free_ids.push_back(id);
  }
};

std::shared_ptr<const CanonicalType> known_type(const FuncType& type) {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  auto known = r.types.find(type);
  return known == r.types.end() ? nullptr : known->second.lock();
}

}  // namespace

std::shared_ptr<const CanonicalType> canonical_type(const FuncType& type) {
  if (auto known = known_type(type)) return known;
  // Made, and in vain let go, without the lock, which letting go of a registered one takes.
  auto made = std::make_shared<Registered>(type);
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  std::weak_ptr<const CanonicalType>& known = r.types[type];
  if (auto other = known.lock()) return other;
  if (r.free_ids.empty()) {
    WAGO_CHECK(r.next_id != 0);
    r.free_ids.reserve(r.next_id);
    r.free_ids.push_back(r.next_id++);
  }
  made->id = r.free_ids.back();
  r.free_ids.pop_back();
  known = made;
  return made;
}

size_t canonical_types() {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  return r.types.size();
}

}  // namespace wago::runtime
