#include "codegen/c_api/objects.h"

#include <bit>

namespace wago::c_api {

namespace {

struct IdentityOf {
  const Object& object;
  const void* operator()(const Foreign&) const { return &object; }
  const void* operator()(const Trap&) const { return &object; }
  const void* operator()(const Module& module) const { return module.data().get(); }
  const void* operator()(const Function& function) const { return function.ref(); }
  template <class T>
  const void* operator()(const T& member) const {
    return member.data();
  }
};

}  // namespace

const void* Object::identity() const {
  return std::visit(IdentityOf{*this}, subject);
}

wasm_ref_t* StoreData::handle(Subject subject) {
  auto object = std::make_shared<Object>(std::move(subject));
  if (auto known = kept(object->identity())) object = std::move(known);
  return handle(std::move(object));
}

wasm_ref_t* StoreData::handle(std::shared_ptr<Object> object) {
#define WASM_REFERENCE(name, type)                                     \
  if (std::holds_alternative<type>(object->subject)) {                 \
    return new wasm_##name##_t(shared_from_this(), std::move(object)); \
  }
#include "codegen/c_api/references.def"
  return nullptr;
}

Object& StoreData::keep(const std::shared_ptr<Object>& object) {
  return *kept_.try_emplace(object->identity(), object).first->second;
}

std::shared_ptr<Object> StoreData::kept(const void* identity) const {
  auto found = kept_.find(identity);
  return found == kept_.end() ? nullptr : found->second;
}

std::optional<Slot> slot_of(StoreData& store, ValueType type, const wasm_ref_t* ref) {
  if (!ref) return Slot{0};
  if (ref->store.get() != &store) return std::nullopt;
  if (type == ValueType::FuncRef) {
    const auto* function = std::get_if<Function>(&ref->object->subject);
    return function ? std::optional(function->reference()) : std::nullopt;
  }
  return reinterpret_cast<Slot>(store.keep(ref->object).identity());
}

std::optional<Slot> slot_of(StoreData& store, ValueType type, const wasm_val_t& value) {
  if (value.kind != kind_of(type)) return std::nullopt;
  switch (type) {
    case ValueType::I32:
      return static_cast<uint32_t>(value.of.i32);
    case ValueType::I64:
      return static_cast<uint64_t>(value.of.i64);
    case ValueType::F32:
      return std::bit_cast<uint32_t>(value.of.f32);
    case ValueType::F64:
      return std::bit_cast<uint64_t>(value.of.f64);
    case ValueType::V128:
      return std::nullopt;
    default:
      return slot_of(store, type, value.of.ref);
  }
}

wasm_ref_t* ref_of(StoreData& store, ValueType type, Slot slot) {
  if (slot == 0) return nullptr;
  if (type == ValueType::FuncRef) {
    auto function = Function::from_reference(slot);
    return function && *function ? store.handle(Subject(**function)) : nullptr;
  }
  auto object = store.kept(reinterpret_cast<const void*>(slot));
  return object ? store.handle(std::move(object)) : nullptr;
}

wasm_val_t value_of(StoreData& store, ValueType type, Slot slot) {
  wasm_val_t value;
  value.kind = kind_of(type);
  switch (type) {
    case ValueType::I32:
      value.of.i32 = static_cast<int32_t>(slot);
      break;
    case ValueType::F32:
      value.of.f32 = std::bit_cast<float>(static_cast<uint32_t>(slot));
      break;
    case ValueType::F64:
      value.of.f64 = std::bit_cast<double>(slot);
      break;
    case ValueType::FuncRef:
    case ValueType::ExternRef:
      value.of.ref = ref_of(store, type, slot);
      break;
    default:
      value.of.i64 = static_cast<int64_t>(slot);
      break;
  }
  return value;
}

}  // namespace wago::c_api

using namespace wago;
using namespace wago::c_api;

// --- engine and store

wasm_config_t* wasm_config_new(void) {
  return new wasm_config_t;
}
void wasm_config_delete(wasm_config_t* config) {
  delete config;
}

wasm_engine_t* wasm_engine_new(void) {
  auto engine = Engine::open();
  return engine ? new wasm_engine_t{*std::move(engine)} : nullptr;
}
wasm_engine_t* wasm_engine_new_with_config(wasm_config_t* config) {
  wasm_config_delete(config);
  return wasm_engine_new();
}
void wasm_engine_delete(wasm_engine_t* engine) {
  delete engine;
}

wasm_store_t* wasm_store_new(wasm_engine_t* engine) {
  return new wasm_store_t{std::make_shared<StoreData>(engine->engine)};
}
void wasm_store_delete(wasm_store_t* store) {
  delete store;
}

// --- references of every kind

namespace {

// Host information of what only this interface knows goes with its last handle. What the run time has may
// outlive every handle, so it is kept for its information.
Object& informed(const wasm_ref_t& ref) {
  const bool ours = std::holds_alternative<Foreign>(ref.object->subject) ||
                    std::holds_alternative<Trap>(ref.object->subject);
  return ours ? *ref.object : ref.store->keep(ref.object);
}

void* host_info(const wasm_ref_t& ref) {
  auto kept = ref.store->kept(ref.object->identity());
  return kept ? kept->host_info.get() : ref.object->host_info.get();
}

}  // namespace

wasm_ref_t* wasm_ref_copy(const wasm_ref_t* ref) {
  return ref ? ref->store->handle(ref->object) : nullptr;
}
bool wasm_ref_same(const wasm_ref_t* a, const wasm_ref_t* b) {
  if (!a || !b) return a == b;
  return a->object->identity() == b->object->identity();
}
void wasm_ref_delete(wasm_ref_t* ref) {
  delete ref;
}
void* wasm_ref_get_host_info(const wasm_ref_t* ref) {
  return host_info(*ref);
}
void wasm_ref_set_host_info(wasm_ref_t* ref, void* info) {
  informed(*ref).host_info.set(info, nullptr);
}
void wasm_ref_set_host_info_with_finalizer(wasm_ref_t* ref, void* info, void (*finalizer)(void*)) {
  informed(*ref).host_info.set(info, finalizer);
}

// What every kind has, on top of wasm_ref_t's. Externals hold one of four.
#define WASM_HANDLES(name, holds)                                                   \
  void wasm_##name##_delete(wasm_##name##_t* ref) {                                 \
    delete ref;                                                                     \
  }                                                                                 \
  wasm_##name##_t* wasm_##name##_copy(const wasm_##name##_t* ref) {                 \
    return static_cast<wasm_##name##_t*>(wasm_ref_copy(ref));                       \
  }                                                                                 \
  bool wasm_##name##_same(const wasm_##name##_t* a, const wasm_##name##_t* b) {     \
    return wasm_ref_same(a, b);                                                     \
  }                                                                                 \
  void* wasm_##name##_get_host_info(const wasm_##name##_t* ref) {                   \
    return wasm_ref_get_host_info(ref);                                             \
  }                                                                                 \
  void wasm_##name##_set_host_info(wasm_##name##_t* ref, void* info) {              \
    wasm_ref_set_host_info(ref, info);                                              \
  }                                                                                 \
  void wasm_##name##_set_host_info_with_finalizer(wasm_##name##_t* ref, void* info, \
                                                  void (*finalizer)(void*)) {       \
    wasm_ref_set_host_info_with_finalizer(ref, info, finalizer);                    \
  }                                                                                 \
  wasm_ref_t* wasm_##name##_as_ref(wasm_##name##_t* ref) {                          \
    return ref;                                                                     \
  }                                                                                 \
  const wasm_ref_t* wasm_##name##_as_ref_const(const wasm_##name##_t* ref) {        \
    return ref;                                                                     \
  }                                                                                 \
  wasm_##name##_t* wasm_ref_as_##name(wasm_ref_t* ref) {                            \
    return ref && (holds) ? static_cast<wasm_##name##_t*>(ref) : nullptr;           \
  }                                                                                 \
  const wasm_##name##_t* wasm_ref_as_##name##_const(const wasm_ref_t* ref) {        \
    return ref && (holds) ? static_cast<const wasm_##name##_t*>(ref) : nullptr;     \
  }
#define WASM_REFERENCE(name, type) WASM_HANDLES(name, std::holds_alternative<type>(ref->object->subject))
#include "codegen/c_api/references.def"
WASM_HANDLES(extern, dynamic_cast<const wasm_extern_t*>(ref) != nullptr)
#undef WASM_HANDLES

// --- values, foreign objects

void wasm_val_delete(wasm_val_t* value) {
  if (wasm_valkind_is_ref(value->kind)) delete std::exchange(value->of.ref, nullptr);
}

void wasm_val_copy(wasm_val_t* out, const wasm_val_t* value) {
  wasm_val_t copy = *value;
  if (wasm_valkind_is_ref(copy.kind)) copy.of.ref = wasm_ref_copy(value->of.ref);
  *out = copy;
}

wasm_foreign_t* wasm_foreign_new(wasm_store_t* store) {
  return static_cast<wasm_foreign_t*>(store->data->handle(Subject(Foreign())));
}
