// Host functions: C++ callables behind the guest calling convention.
//
// Nothing unwinds through guest code: an exception thrown by a body becomes a TrapCode::Host trap with its
// message, and a trap returned by a body is left for the host adapter to raise.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "runtime/abi.h"
#include "runtime/engine_data.h"
#include "runtime/references.h"
#include "runtime/store.h"

namespace wago::runtime {

class HostFunctionData final : public HostFunction, public StoreMember {
 public:
  // A host function in a store of its own. `name` is what traps show.
  // Errors (Usage): the type is not one that a function of a module could have.
  static base::Result<Function> create(std::shared_ptr<EngineData> engine, const FuncType& type,
                                       HostBody body, std::string name);
  static base::Result<Function> create(std::shared_ptr<EngineData> engine, const FuncType& type,
                                       Function::HostBody body, std::string name);

  FuncRef* ref() { return &ref_; }
  const std::string& name() const { return name_; }

 private:
  HostFunctionData() = default;
  static uint64_t call_from_guest(HostFunction* self, uint64_t* slots);

  HostBody body_;
  std::shared_ptr<EngineData> engine_;
  std::shared_ptr<const CanonicalType> type_;
  std::shared_ptr<const MappedAdapters> adapters_;
  std::string name_;
  FuncRef ref_;
  ReferenceRange range_;
};

// The store that owns what a reference refers to.
Store* owner_of(const FuncRef& ref);

}  // namespace wago::runtime
