#include "runtime/references.h"

#include <pthread.h>

#include <iterator>
#include <map>
#include <mutex>
#include <utility>

#include "base/check.h"
#include "runtime/host.h"
#include "runtime/instance.h"

namespace wago::runtime {

namespace {

struct Registry {
  Registry();

  std::mutex mutex;
  std::map<uintptr_t, size_t> ranges;  // how many, by the address of the first
};

// Leaked on purpose: instances of static storage duration may outlive any destructor of ours.
Registry& registry() {
  static Registry& instance = *new Registry;
  return instance;
}

Registry::Registry() {
  auto unlock = [] { registry().mutex.unlock(); };
  pthread_atfork([] { registry().mutex.lock(); }, unlock, unlock);
}

// The registered reference at this address, or nullptr.
FuncRef* find_registered(uintptr_t address) {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  auto after = r.ranges.upper_bound(address);
  if (after == r.ranges.begin()) return nullptr;
  const auto [begin, count] = *std::prev(after);
  const uintptr_t offset = address - begin;
  if (offset >= count * sizeof(FuncRef) || offset % sizeof(FuncRef) != 0) return nullptr;
  return reinterpret_cast<FuncRef*>(address);
}

}  // namespace

ReferenceRange::ReferenceRange(FuncRef* first, size_t count) : first_(first) {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  const bool added = r.ranges.emplace(reinterpret_cast<uintptr_t>(first), count).second;
  WAGO_CHECK(added);
}

ReferenceRange::~ReferenceRange() {
  if (!first_) return;
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  r.ranges.erase(reinterpret_cast<uintptr_t>(first_));
}

ReferenceRange::ReferenceRange(ReferenceRange&& other) noexcept
    : first_(std::exchange(other.first_, nullptr)) {}

ReferenceRange& ReferenceRange::operator=(ReferenceRange&& other) noexcept {
  std::swap(first_, other.first_);
  return *this;
}

FuncRef* original(const FuncRef& ref) {
  if (ref.function == kHostFunctionIndex) {
    return static_cast<HostFunctionData*>(static_cast<HostFunction*>(ref.context))->ref();
  }
  return static_cast<InstanceContext*>(ref.context)->instance->function(ref.function);
}

FoundReference find_reference(uint64_t reference) {
  const FuncRef* ref = find_registered(reference);
  if (!ref) return {};
  FuncRef* function = original(*ref);
  // Null while the store is being destroyed: then it is no longer a function to be held.
  std::shared_ptr<Store> store = owner_of(*function)->weak_from_this().lock();
  if (!store) return {};
  return {function, std::move(store)};
}

}  // namespace wago::runtime
