#include "runtime/instance.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "base/check.h"
#include "runtime/boundary_hooks.h"
#include "runtime/helpers.h"
#include "runtime/trap.h"

namespace wago::runtime {

void InstanceData::FreeAligned::operator()(void* memory) const {
  std::free(memory);
}

base::Result<InstanceData*> InstanceData::create(std::shared_ptr<const ModuleData> module,
                                                 const ResolvedImports& imports, Store& store,
                                                 std::shared_ptr<InterruptControl> interrupts) {
  auto* instance = store.add(std::unique_ptr<InstanceData>(new InstanceData(std::move(module))));
  instance->interrupts_ = std::move(interrupts);
  instance->allocate_context();
  instance->fill_functions(imports);
  if (auto created = instance->create_tables(imports, store); !created) return created.error();
  if (auto created = instance->create_memories(imports, store); !created) return created.error();
  instance->create_globals(imports, store);
  instance->evaluate_segments();
  if (const BoundaryHooks* hooks = instance->module_->engine()->boundary_hooks()) {
    hooks->instance_made(*instance);
  }
  return instance;
}

void InstanceData::allocate_context() {
  const ContextLayout layout(module());
  const CountedCode* counted = module_->code().image().counted.get();
  const size_t bytes = layout.size() + (counted ? counted->blocks.size() * sizeof(uint64_t) : 0);
  void* memory = std::aligned_alloc(64, (bytes + 63) & ~size_t{63});
  if (!memory) throw std::bad_alloc();
  std::memset(memory, 0, bytes);
  context_.reset(new (memory) InstanceContext);
  context_->helpers = &helper_table();
  context_->instance = this;
  for (uint32_t i = 0; i < module().types.size(); ++i) {
    *context_at<uint32_t>(layout.type_id(i)) = module_->type(i)->id;
  }
}

std::span<uint64_t> InstanceData::counters() {
  const CountedCode* counted = module_->code().image().counted.get();
  if (!counted) return {};
  return {context_at<uint64_t>(static_cast<int32_t>(ContextLayout(module()).size())), counted->blocks.size()};
}

void InstanceData::fill_functions(const ResolvedImports& imports) {
  const Module& m = module();
  const ContextLayout layout(m);
  functions_ = std::make_unique<FuncRef[]>(m.reference_count);
  context_->functions = functions_.get();
  for (uint32_t i = 0; i < m.imported_functions; ++i) {
    const FuncRef& found = *imports.functions[i];
    *context_at<ImportedFunction>(layout.imported_function(i)) = {found.code, found.context};
    if (m.reference_indices[i] != Module::kNotReferenced) *function(i) = found;
  }
  for (uint32_t i = m.imported_functions; i < m.function_count(); ++i) {
    if (m.reference_indices[i] == Module::kNotReferenced) continue;
    const uint32_t type_index = m.function_types[i];
    FuncRef& ref = *function(i);
    ref.code = module_->entry(i - m.imported_functions);
    ref.context = context_.get();
    ref.type_id = module_->type(type_index)->id;
    ref.function = i;
    ref.type = &m.types[type_index];
    ref.adapters = enterable(module_->adapters(type_index));
  }
  if (m.reference_count != 0) references_ = ReferenceRange(functions_.get(), m.reference_count);
}

base::Result<void> InstanceData::fetch_adapters(FuncRef& ref) {
  auto adapters = module_->engine()->adapters(module_->type(module().function_types[ref.function]));
  if (!adapters) return adapters.error();
  fetched_adapters_.push_back(*std::move(adapters));  // first: it may throw
  ref.adapters = enterable(fetched_adapters_.back().get());
  return {};
}

base::Result<void> InstanceData::create_tables(const ResolvedImports& imports, Store& store) {
  const Module& m = module();
  const ContextLayout layout(m);
  const EngineLimits& limits = module_->engine()->settings().limits;
  table_entries_left_ = limits.instance_table_entries;
  tables_ = imports.tables;
  for (uint32_t i = m.imported_tables; i < m.tables.size(); ++i) {
    auto table = TableData::create(m.tables[i], 0, limits.table_entries, &table_entries_left_);
    if (!table) return table.error();
    tables_.push_back(store.add(std::move(*table)));
  }
  for (uint32_t i = 0; i < tables_.size(); ++i) *context_at<TableView*>(layout.table(i)) = tables_[i]->view();
  return {};
}

base::Result<void> InstanceData::create_memories(const ResolvedImports& imports, Store& store) {
  const Module& m = module();
  memories_ = imports.memories;
  for (uint32_t i = m.imported_memories; i < m.memories.size(); ++i) {
    const EngineSettings& settings = module_->engine()->settings();
    auto memory = MemoryData::create(m.memories[i], settings.bounds, settings.limits.memory_pages);
    if (!memory) return memory.error();
    memories_.push_back(store.add(std::move(*memory)));
  }
  if (!memories_.empty()) {
    context_->memory = memories_[0]->view();
    context_->memory_base = memories_[0]->view()->base;
  }
  return {};
}

void InstanceData::create_globals(const ResolvedImports& imports, Store& store) {
  const Module& m = module();
  const ContextLayout layout(m);
  globals_ = imports.globals;
  for (uint32_t i = 0; i < m.imported_globals; ++i) {
    *context_at<GlobalCell*>(layout.global(i)) = globals_[i]->cell();
  }
  for (uint32_t i = m.imported_globals; i < m.globals.size(); ++i) {
    auto* cell = context_at<GlobalCell>(layout.global(i));
    *cell = evaluate(m.globals[i].init);
    globals_.push_back(store.add(std::make_unique<GlobalData>(m.globals[i].type, cell)));
  }
}

GlobalCell InstanceData::evaluate(const ConstExpr& expression) const {
  switch (expression.kind) {
    case ConstExpr::Kind::Value:
      return {{expression.bits[0], expression.bits[1]}};
    case ConstExpr::Kind::GlobalGet:
      return *globals_[expression.index]->cell();
    case ConstExpr::Kind::RefFunc:
      return {{reinterpret_cast<uint64_t>(function(expression.index)), 0}};
    case ConstExpr::Kind::RefNull:
      return {};
  }
  WAGO_UNREACHABLE("constant expression");
}

void InstanceData::evaluate_segments() {
  const Module& m = module();
  dropped_data_.resize(m.data.size());
  elements_.resize(m.elements.size());
  for (size_t i = 0; i < m.elements.size(); ++i) {
    if (m.elements[i].mode == ElementSegment::Mode::Declarative) continue;
    elements_[i].reserve(m.elements[i].items.size());
    for (const ConstExpr& item : m.elements[i].items) elements_[i].push_back(evaluate(item).bits[0]);
  }
}

std::optional<Trap> InstanceData::apply_segments() {
  const Module& m = module();
  for (uint32_t i = 0; i < m.elements.size(); ++i) {
    const ElementSegment& segment = m.elements[i];
    if (segment.mode != ElementSegment::Mode::Active) continue;
    const auto offset = static_cast<uint32_t>(evaluate(segment.offset).bits[0]);
    if (!table_init(segment.table, i, offset, 0, elements_[i].size())) {
      return make_trap(base::TrapCode::TableOutOfBounds);
    }
    drop_elements(i);
  }
  for (uint32_t i = 0; i < m.data.size(); ++i) {
    const DataSegment& segment = m.data[i];
    if (!segment.active) continue;
    WAGO_CHECK(segment.memory == 0);
    const auto offset = static_cast<uint32_t>(evaluate(segment.offset).bits[0]);
    if (!memory_init(i, offset, 0, segment.size)) return make_trap(base::TrapCode::MemoryOutOfBounds);
    drop_data(i);
  }
  return std::nullopt;
}

namespace {
// Whether [begin, begin + count) lies in [0, size), for any values.
bool fits(uint64_t begin, uint64_t count, uint64_t size) {
  return count <= size && begin <= size - count;
}
}  // namespace

bool InstanceData::memory_init(uint32_t segment, uint64_t destination, uint64_t source, uint64_t count) {
  const DataSegment& data = module().data[segment];
  const MemoryView& memory = *context_->memory;
  if (!fits(source, count, dropped_data_[segment] ? 0 : data.size) ||
      !fits(destination, count, memory.bytes)) {
    return false;
  }
  if (count != 0) std::memcpy(memory.base + destination, module().bytes.data() + data.begin + source, count);
  return true;
}

bool InstanceData::table_init(uint32_t table, uint32_t segment, uint64_t destination, uint64_t source,
                              uint64_t count) {
  const std::vector<uint64_t>& elements = elements_[segment];
  const TableView& view = *tables_[table]->view();
  if (!fits(source, count, elements.size()) || !fits(destination, count, view.size)) return false;
  std::copy_n(elements.data() + source, count, view.entries + destination);
  return true;
}

void InstanceData::drop_elements(uint32_t segment) {
  std::vector<uint64_t>().swap(elements_[segment]);
}

}  // namespace wago::runtime
