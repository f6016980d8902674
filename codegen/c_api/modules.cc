// Modules and instances of <wasm.h>.
#include <new>

#include "codegen/c_api/objects.h"

using namespace wago;
using namespace wago::c_api;

namespace {

// What `body` makes, or what a constructor answers where it refuses: nothing may be thrown through C.
template <class Body>
auto unless_exhausted(Body body) -> decltype(body()) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return {};
  }
}

std::vector<uint8_t> bytes_of(const wasm_byte_vec_t& binary) {
  const auto* begin = reinterpret_cast<const uint8_t*>(binary.data);
  return std::vector<uint8_t>(begin, begin + binary.size);
}

// An external as the engine has it; nothing if it is no function, global, table or memory of this store.
std::optional<Extern> extern_of(const StoreData& store, const wasm_extern_t* external) {
  if (!external || external->store.get() != &store) return std::nullopt;
  return std::visit(
      [](const auto& subject) -> std::optional<Extern> {
        if constexpr (std::is_constructible_v<Extern, decltype(subject)>) {
          return Extern(subject);
        } else {
          return std::nullopt;
        }
      },
      external->object->subject);
}

wasm_instance_t* refuse(wasm_trap_t** out, StoreData& store, Trap trap) {
  if (out) *out = new_trap(store, std::move(trap));
  return nullptr;
}

Trap link_trap(std::string message) {
  Trap trap;
  trap.code = TrapCode::Host;
  trap.message = std::move(message);
  return trap;
}

}  // namespace

wasm_module_t* wasm_module_new(wasm_store_t* store, const wasm_byte_vec_t* binary) {
  return unless_exhausted([&]() -> wasm_module_t* {
    auto module = store->data->engine().compile(bytes_of(*binary));
    return module ? static_cast<wasm_module_t*>(store->data->handle(Subject(*std::move(module)))) : nullptr;
  });
}

bool wasm_module_validate(wasm_store_t*, const wasm_byte_vec_t* binary) {
  return unless_exhausted([&] { return validate(bytes_of(*binary)).ok(); });
}

void wasm_module_imports(const wasm_module_t* module, wasm_importtype_vec_t* out) {
  const std::vector<ImportInfo> imports = module->subject<Module>().imports();
  wasm_importtype_vec_new_uninitialized(out, imports.size());
  for (size_t i = 0; i < imports.size(); ++i) {
    wasm_name_t from = new_name(imports[i].module), name = new_name(imports[i].name);
    out->data[i] = wasm_importtype_new(&from, &name, new_externtype(imports[i].type));
  }
}

void wasm_module_exports(const wasm_module_t* module, wasm_exporttype_vec_t* out) {
  const std::vector<ExportInfo> exports = module->subject<Module>().exports();
  wasm_exporttype_vec_new_uninitialized(out, exports.size());
  for (size_t i = 0; i < exports.size(); ++i) {
    wasm_name_t name = new_name(exports[i].name);
    out->data[i] = wasm_exporttype_new(&name, new_externtype(exports[i].type));
  }
}

void wasm_module_serialize(const wasm_module_t* module, wasm_byte_vec_t* out) {
  const std::vector<uint8_t> artifact = module->subject<Module>().serialize();
  wasm_byte_vec_new(out, artifact.size(), reinterpret_cast<const wasm_byte_t*>(artifact.data()));
}
wasm_module_t* wasm_module_deserialize(wasm_store_t* store, const wasm_byte_vec_t* artifact) {
  return unless_exhausted([&]() -> wasm_module_t* {
    auto module = Module::deserialize(store->data->engine(), bytes_of(*artifact));
    return module ? static_cast<wasm_module_t*>(store->data->handle(Subject(*std::move(module)))) : nullptr;
  });
}

wasm_shared_module_t* wasm_module_share(const wasm_module_t* module) {
  return new wasm_shared_module_t{module->subject<Module>()};
}
wasm_module_t* wasm_module_obtain(wasm_store_t* store, const wasm_shared_module_t* shared) {
  return static_cast<wasm_module_t*>(store->data->handle(Subject(shared->module)));
}
void wasm_shared_module_delete(wasm_shared_module_t* shared) {
  delete shared;
}

wasm_instance_t* wasm_instance_new(wasm_store_t* store, const wasm_module_t* module,
                                   const wasm_extern_vec_t* imports, wasm_trap_t** trap) {
  if (trap) *trap = nullptr;
  StoreData& data = *store->data;
  if (module->store.get() != &data)
    return refuse(trap, data, link_trap("the module belongs to another store"));
  std::vector<Extern> objects;
  for (size_t i = 0; imports && i < imports->size; ++i) {
    auto object = extern_of(data, imports->data[i]);
    if (!object) {
      return refuse(trap, data, link_trap("import " + std::to_string(i) + " is no object of this store"));
    }
    objects.push_back(*std::move(object));
  }
  InstantiateResult result = Instance::create(module->subject<Module>(), objects);
  if (result.ok()) return static_cast<wasm_instance_t*>(data.handle(Subject(result.value())));
  const InstantiateFailure& failure = result.failure();
  return refuse(trap, data, failure.trap ? *failure.trap : link_trap(failure.error.to_string()));
}

void wasm_instance_exports(const wasm_instance_t* instance, wasm_extern_vec_t* out) {
  std::vector<Extern> exports = instance->subject<Instance>().exports();
  wasm_extern_vec_new_uninitialized(out, exports.size());
  for (size_t i = 0; i < exports.size(); ++i) {
    Subject subject = std::visit([](auto& object) { return Subject(std::move(object)); }, exports[i]);
    out->data[i] = static_cast<wasm_extern_t*>(instance->store->handle(std::move(subject)));
  }
}
