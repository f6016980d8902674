// Instances: the context that generated code sees, and the index spaces behind it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "runtime/abi.h"
#include "runtime/engine_data.h"
#include "runtime/global.h"
#include "runtime/memory.h"
#include "runtime/references.h"
#include "runtime/store.h"
#include "runtime/table.h"

namespace wago::runtime {

// What an instantiation found for a module's imports, each list in index order and of the right types.
struct ResolvedImports {
  std::vector<const FuncRef*> functions;
  std::vector<TableData*> tables;
  std::vector<MemoryData*> memories;
  std::vector<GlobalData*> globals;
};

class InterruptControl;

class InstanceData final : public StoreMember {
 public:
  // Allocates an instance into `store`, to which the imports' stores are linked already. Memories, tables and
  // globals have their initial contents; segments are not applied. Errors (Failed): a memory or table could
  // not be had.
  static base::Result<InstanceData*> create(std::shared_ptr<const ModuleData> module,
                                            const ResolvedImports& imports, Store& store,
                                            std::shared_ptr<InterruptControl> interrupts = nullptr);

  // Applies active segments, elements first, each list in order, and drops them; stops at the first that does
  // not fit, with the effects of those before.
  std::optional<Trap> apply_segments();

  const ModuleData& module_data() const { return *module_; }
  const Module& module() const { return module_->module(); }
  // Gives `ref`, a function of this instance that C++ could not call so far, its adapters.
  base::Result<void> fetch_adapters(FuncRef& ref);
  // What stops calls of its functions, or null.
  const std::shared_ptr<InterruptControl>& interrupts() const { return interrupts_; }
  InstanceContext* context() { return context_.get(); }
  // How often each block of CountedCode::blocks was entered; empty if the code does not count. Exact while
  // nothing of the instance runs.
  std::span<uint64_t> counters();

  // By index in the index space of each; a function's only if it can be referenced.
  FuncRef* function(uint32_t index) const { return &functions_[module().reference_indices[index]]; }
  TableData* table(uint32_t index) const { return tables_[index]; }
  MemoryData* memory(uint32_t index) const { return memories_[index]; }
  GlobalData* global(uint32_t index) const { return globals_[index]; }

  // Bulk operations on segments: false if out of bounds, with nothing written. A dropped segment is empty.
  bool memory_init(uint32_t segment, uint64_t destination, uint64_t source, uint64_t count);
  bool table_init(uint32_t table, uint32_t segment, uint64_t destination, uint64_t source, uint64_t count);
  void drop_data(uint32_t segment) { dropped_data_[segment] = true; }
  void drop_elements(uint32_t segment);

 private:
  struct FreeAligned {
    void operator()(void* memory) const;
  };

  explicit InstanceData(std::shared_ptr<const ModuleData> module) : module_(std::move(module)) {}
  void allocate_context();
  void fill_functions(const ResolvedImports& imports);
  base::Result<void> create_tables(const ResolvedImports& imports, Store& store);
  base::Result<void> create_memories(const ResolvedImports& imports, Store& store);
  void create_globals(const ResolvedImports& imports, Store& store);
  void evaluate_segments();
  // How its functions are entered, of the adapters of their signature (or null).
  const Adapters* enterable(const Adapters* adapters) const {
    return interrupts_ && adapters ? adapters->guarded : adapters;
  }
  GlobalCell evaluate(const ConstExpr& expression) const;
  template <class T>
  T* context_at(int32_t offset) {
    return reinterpret_cast<T*>(reinterpret_cast<uint8_t*>(context_.get()) + offset);
  }

  std::shared_ptr<const ModuleData> module_;
  std::shared_ptr<InterruptControl> interrupts_;
  std::unique_ptr<InstanceContext, FreeAligned> context_;  // ContextLayout::size() bytes, aligned to 64
  std::unique_ptr<FuncRef[]> functions_;                   // numbered by Module::reference_indices
  ReferenceRange references_;                              // of functions_
  std::vector<std::shared_ptr<const MappedAdapters>> fetched_adapters_;
  uint64_t table_entries_left_ = 0;  // what its own tables may have more, together
  std::vector<TableData*> tables_;
  std::vector<MemoryData*> memories_;
  std::vector<GlobalData*> globals_;
  std::vector<std::vector<uint64_t>> elements_;  // references of each element segment; empty when dropped
  std::vector<bool> dropped_data_;
};

}  // namespace wago::runtime
