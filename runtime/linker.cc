#include "runtime/linker.h"

#include <atomic>

#include "base/plural.h"
#include "runtime/exhaustion.h"
#include "runtime/global.h"
#include "runtime/host.h"
#include "runtime/instance.h"
#include "runtime/memory.h"
#include "runtime/table.h"

namespace wago::runtime {

namespace {

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

// Section 3.4.2 (import matching): the object's limits lie within those wanted.
bool matches(const Limits& found, const Limits& wanted) {
  return found.min >= wanted.min && (!wanted.max || (found.max && *found.max <= *wanted.max));
}

bool matches(const ExternType& found, const ExternType& wanted) {
  if (found.kind != wanted.kind) return false;
  switch (wanted.kind) {
    case ExternKind::Function:
      return found.function == wanted.function;
    case ExternKind::Table:
      return found.table.element == wanted.table.element && matches(found.table.limits, wanted.table.limits);
    case ExternKind::Memory:
      return matches(found.memory.limits, wanted.memory.limits);
    case ExternKind::Global:
      return found.global == wanted.global;
  }
  return false;
}

// "function (i32) -> (i32)": the kind is named once, whether or not the type's text starts with it.
std::string described(const ExternType& type) {
  return (type.kind == ExternKind::Function ? "function " : "") + to_string(type);
}

}  // namespace

ExternType type_of(const Module& module, const Import& import) {
  ExternType type;
  type.kind = import.kind;
  if (import.kind == ExternKind::Function) type.function = module.types[import.type_index];
  type.table = import.table;
  type.memory = import.memory;
  type.global = import.global;
  return type;
}

base::Result<const Extern*> LinkerData::find(const std::string& module, const std::string& name,
                                             const ExternType& wanted) const {
  auto found = objects_.find({module, name});
  if (found != objects_.end()) return &found->second;
  return base::usage_error("unknown import " + module + "." + name + ": " + described(wanted) +
                           " is not provided; provide it with Linker::define" +
                           (wanted.kind == ExternKind::Function ? " or Linker::define_host" : ""));
}

base::Result<void> check_import(const std::string& module, const std::string& name, const ExternType& wanted,
                                const Extern& object, base::Bounds bounds) {
  const ExternType type = wago::type_of(object);
  if (!matches(type, wanted)) {
    return base::usage_error("incompatible import type: " + module + "." + name + " is wanted as " +
                             described(wanted) + " but provided as " + described(type));
  }
  if (const auto* memory = std::get_if<Memory>(&object);
      memory && bounds == base::Bounds::Signals && !memory->data()->guarded()) {
    return base::usage_error(
        "incompatible import type: memory " + module + "." + name +
        " has no guard pages, which this module's code relies on; create it with an engine "
        "whose bounds are signals");
  }
  return {};
}

}  // namespace wago::runtime

namespace wago {

ExternType type_of(const Extern& object) {
  ExternType type;
  std::visit(runtime::Overloaded{[&](const Function& function) {
                                   type.kind = ExternKind::Function;
                                   type.function = function.type();
                                 },
                                 [&](const Memory& memory) {
                                   type.kind = ExternKind::Memory;
                                   type.memory = memory.data()->current_type();
                                 },
                                 [&](const Table& table) {
                                   type.kind = ExternKind::Table;
                                   type.table = table.data()->current_type();
                                 },
                                 [&](const Global& global) {
                                   type.kind = ExternKind::Global;
                                   type.global = global.type();
                                 }},
             object);
  return type;
}

Linker::Linker(const Engine& engine) : data_(std::make_shared<runtime::LinkerData>(engine.data())) {}

// Copies of a linker share what they hold until one of them changes.
runtime::LinkerData& Linker::unshared() {
  (void)data();
  if (data_.use_count() > 1) data_ = std::make_shared<runtime::LinkerData>(*data_);
  std::atomic_thread_fence(std::memory_order_acquire);  // what other copies read, they have read
  return *data_;
}

const std::shared_ptr<runtime::EngineData>& Linker::engine() const {
  return data().engine();
}

void Linker::define(std::string module, std::string name, Function function) {
  unshared().define(std::move(module), std::move(name), std::move(function));
}
void Linker::define(std::string module, std::string name, Memory memory) {
  unshared().define(std::move(module), std::move(name), std::move(memory));
}
void Linker::define(std::string module, std::string name, Table table) {
  unshared().define(std::move(module), std::move(name), std::move(table));
}
void Linker::define(std::string module, std::string name, Global global) {
  unshared().define(std::move(module), std::move(name), std::move(global));
}

Result<void> Linker::define_host(std::string module, std::string name, FuncType type,
                                 Function::HostBody body) {
  auto function = runtime::HostFunctionData::create(engine(), type, std::move(body), module + "." + name);
  if (!function) return function.error();
  define(std::move(module), std::move(name), *std::move(function));
  return {};
}

void Linker::define_instance(std::string module, const Instance& instance) {
  const std::vector<runtime::Export>& exported = instance.data()->module().exports;
  std::vector<Extern> objects = instance.exports();
  for (size_t i = 0; i < objects.size(); ++i) {
    unshared().define(module, exported[i].name, std::move(objects[i]));
  }
}

void Linker::set_interrupt_handle(const InterruptHandle& handle) {
  unshared().set_interrupts(handle.control());
}

bool Linker::provides(const ImportInfo& import) const {
  auto object = data().find(import.module, import.name, import.type);
  return object.ok() &&
         runtime::check_import(import.module, import.name, import.type, **object, engine()->settings().bounds)
             .ok();
}

namespace {

InstantiateFailure link_failure(Error error) {
  InstantiateFailure failure;
  failure.kind = InstantiateFailure::Kind::Link;
  failure.error = std::move(error);
  return failure;
}

InstantiateFailure trap_failure(Trap trap) {
  InstantiateFailure failure;
  failure.kind = InstantiateFailure::Kind::Trap;
  failure.error = base::failed(trap.message);
  failure.trap = std::move(trap);
  return failure;
}

const std::shared_ptr<runtime::Store>& store_of(const Extern& object) {
  return std::visit([](const auto& held) -> const std::shared_ptr<runtime::Store>& { return held.store(); },
                    object);
}

void add_import(runtime::ResolvedImports& imports, const Extern& object) {
  if (const auto* function = std::get_if<Function>(&object)) imports.functions.push_back(function->ref());
  if (const auto* memory = std::get_if<Memory>(&object)) imports.memories.push_back(memory->data());
  if (const auto* table = std::get_if<Table>(&object)) imports.tables.push_back(table->data());
  if (const auto* global = std::get_if<Global>(&object)) imports.globals.push_back(global->data());
}

// With imports that are known to be there.
InstantiateResult instantiate_checked(const Module& module, const std::vector<const Extern*>& objects,
                                      std::shared_ptr<runtime::InterruptControl> interrupts = nullptr) {
  const runtime::Module& decoded = module.decoded();
  const base::Bounds bounds = module.data()->engine()->settings().bounds;
  for (size_t i = 0; i < objects.size(); ++i) {
    const runtime::Import& import = decoded.imports[i];
    auto fits = runtime::check_import(import.module, import.name, runtime::type_of(decoded, import),
                                      *objects[i], bounds);
    if (!fits) return link_failure(fits.error());
  }
  auto store = std::make_shared<runtime::Store>();
  runtime::ResolvedImports imports;
  for (const Extern* object : objects) {
    store->link(store_of(*object));
    add_import(imports, *object);
  }
  auto created = runtime::unless_exhausted("make an instance", [&] {
    return runtime::InstanceData::create(module.data(), imports, *store, std::move(interrupts));
  });
  if (!created) return link_failure(created.error());
  runtime::InstanceData* data = *created;
  if (std::optional<Trap> trap = data->apply_segments()) return trap_failure(*std::move(trap));
  if (decoded.start) {
    CallResult result = Function(store, data->function(*decoded.start)).call({}, {});
    if (!result) return trap_failure(result.trap());
  }
  return Instance(std::move(store), data);
}

}  // namespace

InstantiateResult Linker::instantiate(const Module& module) const {
  const runtime::Module& decoded = module.decoded();
  std::vector<const Extern*> objects;
  for (const runtime::Import& import : decoded.imports) {
    auto object = data().find(import.module, import.name, runtime::type_of(decoded, import));
    if (!object) return link_failure(object.error());
    objects.push_back(*object);
  }
  return instantiate_checked(module, objects, data().interrupts());
}

InstantiateResult Instance::create(const Module& module, std::span<const Extern> imports) {
  const size_t wanted = module.decoded().imports.size();
  if (imports.size() != wanted) {
    return link_failure(base::usage_error("the module imports " + base::plural(wanted, "object") + ", but " +
                                          std::to_string(imports.size()) +
                                          (imports.size() == 1 ? " is" : " are") + " given"));
  }
  std::vector<const Extern*> objects;
  for (const Extern& object : imports) objects.push_back(&object);
  return instantiate_checked(module, objects);
}

}  // namespace wago
