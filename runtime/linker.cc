#include "runtime/linker.h"

#include <atomic>

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

ExternType type_of(const Extern& object) {
  ExternType type;
  std::visit(Overloaded{[&](const Function& function) {
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
                        [&](const wago::Global& global) {
                          type.kind = ExternKind::Global;
                          type.global = global.type();
                        }},
             object);
  return type;
}

const std::shared_ptr<Store>& store_of(const Extern& object) {
  return std::visit([](const auto& held) -> const std::shared_ptr<Store>& { return held.store(); }, object);
}

ExternType type_of(const Module& module, const Import& import) {
  ExternType type;
  type.kind = import.kind;
  if (import.kind == ExternKind::Function) type.function = module.types[import.type_index];
  type.table = import.table;
  type.memory = import.memory;
  type.global = import.global;
  return type;
}

base::Result<const Extern*> LinkerData::resolve(const std::string& module, const std::string& name,
                                                const ExternType& wanted, base::Bounds bounds) const {
  auto found = objects_.find({module, name});
  if (found == objects_.end()) {
    return base::usage_error("unknown import " + module + "." + name + ": " + described(wanted) +
                             " is not provided; provide it with Linker::define" +
                             (wanted.kind == ExternKind::Function ? " or Linker::define_host" : ""));
  }
  const ExternType type = type_of(found->second);
  if (!matches(type, wanted)) {
    return base::usage_error("incompatible import type: " + module + "." + name + " is wanted as " +
                             described(wanted) + " but provided as " + described(type));
  }
  if (const auto* memory = std::get_if<Memory>(&found->second);
      memory && bounds == base::Bounds::Signals && !memory->data()->guarded()) {
    return base::usage_error(
        "incompatible import type: memory " + module + "." + name +
        " has no guard pages, which this module's code relies on; create it with an engine "
        "whose bounds are signals");
  }
  return &found->second;
}

}  // namespace wago::runtime

namespace wago {

using runtime::Extern;

Linker::Linker(const Engine& engine) : data_(std::make_shared<runtime::LinkerData>(engine.data())) {}

namespace {

// Copies of a linker share what they hold until one of them changes.
runtime::LinkerData& unshared(std::shared_ptr<runtime::LinkerData>& data) {
  if (data.use_count() > 1) data = std::make_shared<runtime::LinkerData>(*data);
  std::atomic_thread_fence(std::memory_order_acquire);  // what other copies read, they have read
  return *data;
}

}  // namespace

void Linker::define(std::string module, std::string name, Function function) {
  unshared(data_).define(std::move(module), std::move(name), std::move(function));
}
void Linker::define(std::string module, std::string name, Memory memory) {
  unshared(data_).define(std::move(module), std::move(name), std::move(memory));
}
void Linker::define(std::string module, std::string name, Table table) {
  unshared(data_).define(std::move(module), std::move(name), std::move(table));
}
void Linker::define(std::string module, std::string name, Global global) {
  unshared(data_).define(std::move(module), std::move(name), std::move(global));
}

Result<void> Linker::define_host(std::string module, std::string name, FuncType type,
                                 Function::HostBody body) {
  auto function =
      runtime::HostFunctionData::create(data_->engine(), type, std::move(body), module + "." + name);
  if (!function) return function.error();
  define(std::move(module), std::move(name), *std::move(function));
  return {};
}

void Linker::define_instance(std::string module, const Instance& instance) {
  const std::shared_ptr<runtime::Store>& store = instance.store();
  runtime::InstanceData& data = *instance.data();
  for (const runtime::Export& exported : data.module().exports) {
    switch (exported.kind) {
      case ExternKind::Function:
        define(module, exported.name, Function(store, data.function(exported.index)));
        break;
      case ExternKind::Table:
        define(module, exported.name, Table(store, data.table(exported.index)));
        break;
      case ExternKind::Memory:
        define(module, exported.name, Memory(store, data.memory(exported.index)));
        break;
      case ExternKind::Global:
        define(module, exported.name, Global(store, data.global(exported.index)));
        break;
    }
  }
}

bool Linker::provides(const ImportInfo& import) const {
  return data_->resolve(import.module, import.name, import.type, data_->engine()->settings().bounds).ok();
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

void add_import(runtime::ResolvedImports& imports, const Extern& object) {
  if (const auto* function = std::get_if<Function>(&object)) imports.functions.push_back(function->ref());
  if (const auto* memory = std::get_if<Memory>(&object)) imports.memories.push_back(memory->data());
  if (const auto* table = std::get_if<Table>(&object)) imports.tables.push_back(table->data());
  if (const auto* global = std::get_if<Global>(&object)) imports.globals.push_back(global->data());
}

}  // namespace

InstantiateResult Linker::instantiate(const Module& module) const {
  const runtime::Module& decoded = module.decoded();
  const base::Bounds bounds = module.data()->engine()->settings().bounds;
  std::vector<const Extern*> objects;
  for (const runtime::Import& import : decoded.imports) {
    auto object = data_->resolve(import.module, import.name, runtime::type_of(decoded, import), bounds);
    if (!object) return link_failure(object.error());
    objects.push_back(*object);
  }

  auto store = std::make_shared<runtime::Store>();
  runtime::ResolvedImports imports;
  for (const Extern* object : objects) {
    store->link(runtime::store_of(*object));
    add_import(imports, *object);
  }
  auto created = runtime::InstanceData::create(module.data(), imports, *store);
  if (!created) return link_failure(created.error());
  runtime::InstanceData* data = *created;
  if (std::optional<Trap> trap = data->apply_segments()) return trap_failure(*std::move(trap));
  if (decoded.start) {
    CallResult result = Function(store, data->function(*decoded.start)).call({}, {});
    if (!result) return trap_failure(result.trap());
  }
  return Instance(std::move(store), data);
}

}  // namespace wago
