// Which function references live: what stands between a number the host hands in and the guest that follows
// it as an address.
//
// Everything that has FuncRefs of its own registers them for as long as it has them. A lock and a tree: used
// when references cross the embedding API and when instances come and go, never by guest code. Survives
// fork().
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/abi.h"
#include "runtime/store.h"

namespace wago::runtime {

// Registers [first, first + count) while it exists.
class ReferenceRange {
 public:
  ReferenceRange() = default;
  ReferenceRange(FuncRef* first, size_t count);
  ~ReferenceRange();
  ReferenceRange(ReferenceRange&& other) noexcept;
  ReferenceRange& operator=(ReferenceRange&& other) noexcept;

 private:
  FuncRef* first_ = nullptr;
};

// The function itself: an importing instance has a copy of its own of every reference it imports, which only
// lives as long as that instance.
FuncRef* original(const FuncRef& ref);

// A living function, and the store that keeps it so.
struct FoundReference {
  FuncRef* ref = nullptr;
  std::shared_ptr<Store> store;
};
// What a reference refers to: nothing for null and for what was never, or is no longer, a function.
FoundReference find_reference(uint64_t reference);

}  // namespace wago::runtime
