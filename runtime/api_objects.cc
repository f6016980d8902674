// Function, Memory, Table, Global and Instance of <wago/wago.h>.
#include <algorithm>
#include <utility>

#include <wago/wago.h>
#include "base/check.h"
#include "runtime/exhaustion.h"
#include "runtime/global.h"
#include "runtime/host.h"
#include "runtime/instance.h"
#include "runtime/memory.h"
#include "runtime/references.h"
#include "runtime/table.h"
#include "runtime/trap.h"

namespace wago {

const FuncType& Function::type() const {
  return *ref()->type;
}

Function::Function(std::shared_ptr<runtime::Store> store, const runtime::FuncRef* ref)
    : store_(std::move(store)), ref_(runtime::original(*ref)) {
  // An importer's copy keeps nothing alive: hold the function instead.
  if (ref_ != ref) store_ = runtime::owner_of(*ref_)->shared_from_this();
  const runtime::Adapters* adapters = ref_->adapters;
  WAGO_CHECK(adapters);
  enter_ = adapters->enter;
  if (!adapters->passes_functions) param_slots_ = adapters->param_slots;
  result_slots_ = adapters->result_slots;
}

Slot Function::reference() const {
  return reinterpret_cast<Slot>(ref());
}

Result<std::optional<Function>> Function::from_reference(Slot reference) {
  if (reference == 0) return std::optional<Function>();
  runtime::FoundReference found = runtime::find_reference(reference);
  if (!found.ref) {
    return base::usage_error("the reference refers to no living function");
  }
  if (!found.ref->adapters) {
    // Not exported, so that nobody could call it by name.
    auto* context = static_cast<runtime::InstanceContext*>(found.ref->context);
    auto fetched = runtime::unless_exhausted("call the function",
                                             [&] { return context->instance->fetch_adapters(*found.ref); });
    if (!fetched) return fetched.error();
  }
  return std::optional(Function(std::move(found.store), found.ref));
}

Result<Function> Function::host(const Engine& engine, FuncType type, HostBody body) {
  return runtime::HostFunctionData::create(engine.data(), type, std::move(body), "host function");
}

namespace {

// A function reference that the host puts where `holder`'s store can find it: it becomes that of the function
// itself, which lives as long from now on. False: it is no living function.
bool adopt(runtime::Store& holder, ValueType type, Slot& reference) {
  if (type != ValueType::FuncRef || reference == 0) return true;
  const runtime::FoundReference found = runtime::find_reference(reference);
  if (!found.ref) return false;
  // A host function reaches nothing but by its own handles.
  if (!holder.is_host()) holder.link(found.store);
  reference = reinterpret_cast<Slot>(found.ref);
  return true;
}

Error not_a_function(const char* where) {
  return base::usage_error(std::string("the funcref given to ") + where +
                           " refers to no living function; keep a handle to its instance");
}

}  // namespace

namespace runtime {

CallResult call_slowly(const Function& function, std::span<const Slot> args, std::span<Slot> results) {
  const FuncRef* ref = function.ref();
  const Adapters& adapters = *ref->adapters;
  WAGO_CHECK_MSG(args.size() == adapters.param_slots && results.size() == adapters.result_slots,
                 "the number of slots is not that of the function's type");
  std::vector<Slot> checked(args.begin(), args.end());
  size_t slot = 0;
  for (ValueType type : ref->type->params) {
    if (!adopt(*owner_of(*ref), type, checked[slot])) {
      Trap trap = make_trap(TrapCode::Host);
      trap.message = not_a_function("a call").message;
      return trap;
    }
    slot += slots_of(type);
  }
  const auto [status, value] = adapters.enter(ref, checked.data(), results.data());
  if (results.size() == 1) results[0] = value;
  if (status != 0) return finish_call(status);
  return {};
}

std::optional<Function> function_in_slot(Slot reference) {
  return Function::from_reference(reference).value();
}

bool is_function_or_null(Slot reference) {
  return reference == 0 || find_reference(reference).ref != nullptr;
}

Trap dead_result() {
  Trap trap = make_trap(TrapCode::Host);
  trap.message = "a funcref among the results refers to no living function; keep a handle to it";
  return trap;
}

Error signature_mismatch(const FuncType& wanted, const FuncType& found) {
  return base::usage_error("the function is asked for as " + to_string(wanted) + ", but it is " +
                           to_string(found));
}

Error global_mismatch(ValueType wanted, ValueType found) {
  return base::usage_error(std::string("the global is asked for as ") + to_string(wanted) + ", but it is " +
                           to_string(found));
}

}  // namespace runtime

Result<Memory> Memory::create(const Engine& engine, MemoryType type) {
  const uint32_t max_pages = type.limits.max.value_or(type.limits.min);
  if (type.limits.min > kMaxPages || max_pages > kMaxPages || max_pages < type.limits.min) {
    return base::usage_error("a memory has at most 65536 pages, and its maximum is not below its minimum");
  }
  const EngineSettings& settings = engine.settings();
  return runtime::unless_exhausted("make a memory", [&]() -> Result<Memory> {
    auto memory = runtime::MemoryData::create(type, settings.bounds, settings.limits.memory_pages);
    if (!memory) return memory.error();
    auto store = std::make_shared<runtime::Store>();
    runtime::MemoryData* data = store->add(*std::move(memory));
    return Memory(std::move(store), data);
  });
}

MemoryType Memory::type() const {
  return data()->type();
}
uint32_t Memory::pages() const {
  return data()->pages();
}
std::optional<uint32_t> Memory::grow(uint32_t pages) const {
  return data()->grow(pages);
}
std::span<uint8_t> MemoryAccess::bytes() const {
  return {data_->view()->base, data_->view()->bytes};
}

Result<Table> Table::create(const Engine& engine, TableType type, Slot initial) {
  if (!is_reference(type.element) || type.limits.max.value_or(type.limits.min) < type.limits.min) {
    return base::usage_error("a table holds references, and its maximum is not below its minimum");
  }
  return runtime::unless_exhausted("make a table", [&]() -> Result<Table> {
    auto store = std::make_shared<runtime::Store>();
    if (!adopt(*store, type.element, initial)) return not_a_function("Table::create");
    auto table = runtime::TableData::create(type, initial, engine.settings().limits.table_entries);
    if (!table) return table.error();
    runtime::TableData* data = store->add(*std::move(table));
    return Table(std::move(store), data);
  });
}

TableType Table::type() const {
  return data()->type();
}
uint32_t Table::size() const {
  return data()->size();
}

std::optional<Slot> Table::get(uint32_t index) const {
  if (index >= data()->size()) return std::nullopt;
  return data()->entries()[index];
}

namespace {

Error outside(const runtime::TableData& table, uint32_t index) {
  return base::usage_error("entry " + std::to_string(index) + " is outside the table, which has " +
                           std::to_string(table.size()));
}

}  // namespace

Result<void> Table::set(uint32_t index, Slot reference) const {
  if (index >= data()->size()) return outside(*data(), index);
  if (!adopt(*data()->store(), data()->type().element, reference)) return not_a_function("Table::set");
  data()->entries()[index] = reference;
  return {};
}

std::optional<uint32_t> Table::grow(uint32_t count, Slot initial) const {
  if (!adopt(*data()->store(), data()->type().element, initial)) return std::nullopt;
  return data()->grow(count, initial);
}

namespace {

Result<void> check_holds_functions(const runtime::TableData& table) {
  if (table.type().element == ValueType::FuncRef) return {};
  return base::usage_error(std::string("a table of ") + to_string(table.type().element) +
                           " holds no functions");
}

}  // namespace

Result<std::optional<Function>> Table::function(uint32_t index) const {
  if (auto checked = check_holds_functions(*data()); !checked) return checked.error();
  if (index >= data()->size()) return outside(*data(), index);
  return Function::from_reference(data()->entries()[index]);
}

Result<void> Table::set(uint32_t index, const Function& function) const {
  if (auto checked = check_holds_functions(*data()); !checked) return checked.error();
  return set(index, function.reference());
}

namespace {

void write_cell(runtime::GlobalData& global, std::span<const Slot> value, Slot first) {
  std::copy(value.begin(), value.end(), global.cell()->bits);
  global.cell()->bits[0] = first;
  // Generated code relies on 32-bit values being zero-extended.
  if (global.type().value == ValueType::I32 || global.type().value == ValueType::F32) {
    global.cell()->bits[0] &= 0xffffffff;
  }
}

constexpr char kWrongSlots[] = "slots do not match the global's type";

}  // namespace

Result<Global> Global::create(const Engine&, GlobalType type, std::span<const Slot> value) {
  if (!is_value_type(type.value)) {
    return base::usage_error("a global's type is not number " +
                             std::to_string(static_cast<unsigned>(type.value)) +
                             ", which no WebAssembly type has");
  }
  WAGO_CHECK_MSG(value.size() == slots_of(type.value), kWrongSlots);
  return runtime::unless_exhausted("make a global", [&]() -> Result<Global> {
    auto store = std::make_shared<runtime::Store>();
    Slot first = value[0];
    if (!adopt(*store, type.value, first)) return not_a_function("Global::create");
    runtime::GlobalData* data = store->add(std::make_unique<runtime::GlobalData>(type));
    write_cell(*data, value, first);
    return Global(std::move(store), data);
  });
}

GlobalType Global::type() const {
  return data()->type();
}

void Global::get(std::span<Slot> value) const {
  WAGO_CHECK_MSG(value.size() == slots_of(data()->type().value), kWrongSlots);
  std::copy_n(data()->cell()->bits, value.size(), value.begin());
}

Result<void> Global::set(std::span<const Slot> value) const {
  WAGO_CHECK_MSG(value.size() == slots_of(data()->type().value), kWrongSlots);
  if (!data()->type().mutable_) return base::usage_error("the global is immutable: it cannot be set");
  Slot first = value[0];
  if (!adopt(*data()->store(), data()->type().value, first)) return not_a_function("Global::set");
  write_cell(*data(), value, first);
  return {};
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
  auto index = find_export(data()->module(), ExternKind::Function, name);
  if (!index) return index.error();
  return Function(store(), data()->function(*index));
}

Result<Memory> Instance::memory(std::string_view name) const {
  auto index = find_export(data()->module(), ExternKind::Memory, name);
  if (!index) return index.error();
  return Memory(store(), data()->memory(*index));
}

Result<Table> Instance::table(std::string_view name) const {
  auto index = find_export(data()->module(), ExternKind::Table, name);
  if (!index) return index.error();
  return Table(store(), data()->table(*index));
}

Result<Global> Instance::global(std::string_view name) const {
  auto index = find_export(data()->module(), ExternKind::Global, name);
  if (!index) return index.error();
  return Global(store(), data()->global(*index));
}

std::vector<Extern> Instance::exports() const {
  std::vector<Extern> objects;
  for (const runtime::Export& exported : data()->module().exports) {
    switch (exported.kind) {
      case ExternKind::Function:
        objects.emplace_back(Function(store(), data()->function(exported.index)));
        break;
      case ExternKind::Table:
        objects.emplace_back(Table(store(), data()->table(exported.index)));
        break;
      case ExternKind::Memory:
        objects.emplace_back(Memory(store(), data()->memory(exported.index)));
        break;
      case ExternKind::Global:
        objects.emplace_back(Global(store(), data()->global(exported.index)));
        break;
    }
  }
  return objects;
}

Result<CallResult> Instance::call(std::string_view name, std::span<const Slot> args,
                                  std::span<Slot> results) const {
  auto index = find_export(data()->module(), ExternKind::Function, name);
  if (!index) return index.error();
  return Function(store(), data()->function(*index)).call(args, results);
}

}  // namespace wago
