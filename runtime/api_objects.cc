// Function, Memory, Table, Global and Instance of <wago/wago.h>.
#include <algorithm>
#include <utility>

#include <wago/wago.h>
#include "base/check.h"
#include "runtime/global.h"
#include "runtime/host.h"
#include "runtime/instance.h"
#include "runtime/memory.h"
#include "runtime/table.h"

namespace wago {

const FuncType& Function::type() const {
  return *ref_->type;
}

Function::Function(std::shared_ptr<runtime::Store> store, const runtime::FuncRef* ref)
    : store_(std::move(store)), ref_(ref) {
  if (const runtime::Adapters* adapters = ref->adapters) {
    enter_ = adapters->enter;
    param_slots_ = adapters->param_slots;
    result_slots_ = adapters->result_slots;
  }
}

Slot Function::reference() const {
  return reinterpret_cast<Slot>(ref_);
}

Result<Function> Function::host(const Engine& engine, FuncType type, HostBody body) {
  return runtime::HostFunctionData::create(engine.data(), type, std::move(body), "host function");
}

Result<Memory> Memory::create(const Engine& engine, MemoryType type) {
  if (type.limits.min > kMaxPages || type.limits.max.value_or(type.limits.min) < type.limits.min) {
    return base::usage_error("a memory has at most 65536 pages, and its maximum is not below its minimum");
  }
  type.limits.max = type.limits.max ? std::optional(std::min(*type.limits.max, kMaxPages)) : std::nullopt;
  auto memory = runtime::MemoryData::create(type, engine.settings().bounds);
  if (!memory) return memory.error();
  auto store = std::make_shared<runtime::Store>();
  runtime::MemoryData* data = store->add(*std::move(memory));
  return Memory(std::move(store), data);
}

MemoryType Memory::type() const {
  return data_->type();
}
std::span<uint8_t> Memory::bytes() const {
  return {data_->view()->base, data_->view()->bytes};
}
uint32_t Memory::pages() const {
  return data_->pages();
}
std::optional<uint32_t> Memory::grow(uint32_t pages) const {
  return data_->grow(pages);
}

namespace {

// A function reference stored where `holder`'s store can find it: its function lives as long.
void keep_alive(const std::shared_ptr<runtime::Store>& holder, ValueType type, Slot reference) {
  if (type != ValueType::FuncRef || reference == 0) return;
  holder->link(runtime::owner_of(*reinterpret_cast<const runtime::FuncRef*>(reference))->shared_from_this());
}

}  // namespace

Result<Table> Table::create(const Engine&, TableType type, Slot initial) {
  if (!is_reference(type.element) || type.limits.max.value_or(type.limits.min) < type.limits.min) {
    return base::usage_error("a table holds references, and its maximum is not below its minimum");
  }
  auto table = runtime::TableData::create(type, initial);
  if (!table) return table.error();
  auto store = std::make_shared<runtime::Store>();
  keep_alive(store, type.element, initial);
  runtime::TableData* data = store->add(*std::move(table));
  return Table(std::move(store), data);
}

TableType Table::type() const {
  return data_->type();
}
uint32_t Table::size() const {
  return data_->size();
}

std::optional<Slot> Table::get(uint32_t index) const {
  if (index >= data_->size()) return std::nullopt;
  return data_->entries()[index];
}

bool Table::set(uint32_t index, Slot reference) const {
  if (index >= data_->size()) return false;
  keep_alive(store_, data_->type().element, reference);
  data_->entries()[index] = reference;
  return true;
}

std::optional<uint32_t> Table::grow(uint32_t count, Slot initial) const {
  keep_alive(store_, data_->type().element, initial);
  return data_->grow(count, initial);
}

namespace {

void write_cell(runtime::GlobalData& global, std::span<const Slot> value) {
  WAGO_CHECK_MSG(value.size() == slots_of(global.type().value), "slots do not match the global's type");
  std::copy(value.begin(), value.end(), global.cell()->bits);
  // Generated code relies on 32-bit values being zero-extended.
  if (global.type().value == ValueType::I32 || global.type().value == ValueType::F32) {
    global.cell()->bits[0] &= 0xffffffff;
  }
}

}  // namespace

Result<Global> Global::create(const Engine&, GlobalType type, std::span<const Slot> value) {
  auto store = std::make_shared<runtime::Store>();
  keep_alive(store, type.value, value.empty() ? 0 : value[0]);
  runtime::GlobalData* data = store->add(std::make_unique<runtime::GlobalData>(type));
  write_cell(*data, value);
  return Global(std::move(store), data);
}

GlobalType Global::type() const {
  return data_->type();
}

void Global::get(std::span<Slot> value) const {
  WAGO_CHECK_MSG(value.size() == slots_of(data_->type().value), "slots do not match the global's type");
  std::copy_n(data_->cell()->bits, value.size(), value.begin());
}

void Global::set(std::span<const Slot> value) const {
  WAGO_CHECK_MSG(data_->type().mutable_, "an immutable global cannot be set");
  keep_alive(store_, data_->type().value, value.empty() ? 0 : value[0]);
  write_cell(*data_, value);
}

namespace {

constexpr size_t kMaxCandidates = 20;

// The export of this name and kind, or a sentence that lists what there is of that kind.
Result<uint32_t> find_export(const runtime::Module& module, ExternKind kind, std::string_view name) {
  const runtime::Export* exported = module.find_export(name);
  if (exported && exported->kind == kind) return exported->index;
  std::string message = exported ? "export \"" + std::string(name) + "\" is a " + to_string(exported->kind) +
                                       ", not a " + to_string(kind)
                                 : "there is no export \"" + std::string(name) + "\"";
  std::string candidates;
  size_t count = 0;
  for (const runtime::Export& candidate : module.exports) {
    if (candidate.kind != kind || ++count > kMaxCandidates) continue;
    candidates += (count > 1 ? ", " : "") + candidate.name;
  }
  if (count > kMaxCandidates) candidates += ", and " + std::to_string(count - kMaxCandidates) + " more";
  message += count == 0 ? std::string("; the module exports no ") + to_string(kind)
                        : "; what it exports of that kind: " + candidates;
  return base::usage_error(std::move(message));
}

}  // namespace

Result<Function> Instance::function(std::string_view name) const {
  auto index = find_export(data_->module(), ExternKind::Function, name);
  if (!index) return index.error();
  return Function(store_, data_->function(*index));
}

Result<Memory> Instance::memory(std::string_view name) const {
  auto index = find_export(data_->module(), ExternKind::Memory, name);
  if (!index) return index.error();
  return Memory(store_, data_->memory(*index));
}

Result<Table> Instance::table(std::string_view name) const {
  auto index = find_export(data_->module(), ExternKind::Table, name);
  if (!index) return index.error();
  return Table(store_, data_->table(*index));
}

Result<Global> Instance::global(std::string_view name) const {
  auto index = find_export(data_->module(), ExternKind::Global, name);
  if (!index) return index.error();
  return Global(store_, data_->global(*index));
}

Result<CallResult> Instance::call(std::string_view name, std::span<const Slot> args,
                                  std::span<Slot> results) const {
  auto index = find_export(data_->module(), ExternKind::Function, name);
  if (!index) return index.error();
  return Function(store_, data_->function(*index)).call(args, results);
}

}  // namespace wago
