#include "runtime/type_registry.h"

#include <pthread.h>

#include <deque>
#include <map>
#include <mutex>
#include <string>

#include "base/check.h"

namespace wago::runtime {

namespace {

struct Registry {
  // Held across fork(), so that a child never inherits it from a thread it does not have.
  Registry();
  std::mutex mutex;
  std::deque<FuncType> types;  // addresses are stable; id - 1
  std::map<std::string, uint32_t> ids;
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

std::string key_of(const FuncType& type) {
  std::string key;
  key.reserve(type.params.size() + type.results.size() + 1);
  for (ValueType value : type.params) key += static_cast<char>(value);
  key += '\0';  // no value type is encoded as 0
  for (ValueType value : type.results) key += static_cast<char>(value);
  return key;
}

}  // namespace

uint32_t canonical_type_id(const FuncType& type) {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  auto [position, added] = r.ids.try_emplace(key_of(type), static_cast<uint32_t>(r.types.size() + 1));
  if (added) r.types.push_back(type);
  return position->second;
}

const FuncType& canonical_type(uint32_t id) {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  WAGO_CHECK(id >= 1 && id <= r.types.size());
  return r.types[id - 1];
}

}  // namespace wago::runtime
