// The objects behind <wasm.h>: what its handles point to, and what its store keeps.
//
// A handle (wasm_ref_t and what derives from it) counts an Object and its StoreData. Two handles are the same
// object if their objects' identities are: the address of what the run time has once, or, of what only this
// interface knows, of the Object. The identity is also the slot by which guests hold an object as an
// externref; StoreData keeps whatever a guest was given, and whatever has host information, until the store
// and its last handle are gone. An Object never counts its StoreData, so there is no cycle.
//
// Nothing of C++ leaves: all that fails answers NULL, false or a trap.
#pragma once

#include <wago/wago.h>
#include <wasm.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

namespace wago::c_api {

struct Foreign {};
using Subject = std::variant<Foreign, Trap, Module, Instance, Function, Global, Table, Memory>;

// A pointer of the host's, and what to do with it in the end.
class HostInfo {
 public:
  HostInfo() = default;
  ~HostInfo() { set(nullptr, nullptr); }
  HostInfo(const HostInfo&) = delete;
  HostInfo& operator=(const HostInfo&) = delete;
  void* get() const { return info_; }
  // Finalizes what was there.
  void set(void* info, void (*finalizer)(void*)) {
    void* old_info = std::exchange(info_, info);
    auto* old_finalizer = std::exchange(finalizer_, finalizer);
    if (old_finalizer) old_finalizer(old_info);
  }

 private:
  void* info_ = nullptr;
  void (*finalizer_)(void*) = nullptr;
};

struct Object {
  explicit Object(Subject s) : subject(std::move(s)) {}
  const void* identity() const;

  Subject subject;
  HostInfo host_info;
};

class StoreData : public std::enable_shared_from_this<StoreData> {
 public:
  explicit StoreData(Engine engine) : engine_(std::move(engine)) {}
  const Engine& engine() const { return engine_; }

  // A new handle; of the kept object where there is one.
  wasm_ref_t* handle(Subject subject);
  wasm_ref_t* handle(std::shared_ptr<Object> object);
  // Makes this the object of its identity until the store ends; answers which one is.
  Object& keep(const std::shared_ptr<Object>& object);
  std::shared_ptr<Object> kept(const void* identity) const;

 private:
  Engine engine_;
  std::unordered_map<const void*, std::shared_ptr<Object>> kept_;
};

// Types and values.
ValueType value_type(wasm_valkind_t kind);
wasm_valkind_t kind_of(ValueType type);
FuncType func_type(const wasm_functype_t& type);
wasm_functype_t* new_functype(const FuncType& type);
wasm_externtype_t* new_externtype(const ExternType& type);
Limits limits_of(const wasm_limits_t& limits);
wasm_limits_t limits_of(const Limits& limits);
wasm_name_t new_name(std::string_view text);

// A value as a slot; nothing if it is not of this type, or belongs to another store.
std::optional<Slot> slot_of(StoreData& store, ValueType type, const wasm_val_t& value);
std::optional<Slot> slot_of(StoreData& store, ValueType type, const wasm_ref_t* ref);
wasm_val_t value_of(StoreData& store, ValueType type, Slot slot);
wasm_ref_t* ref_of(StoreData& store, ValueType type, Slot slot);

wasm_trap_t* new_trap(StoreData& store, Trap trap);
wasm_trap_t* new_trap(StoreData& store, std::string message);

}  // namespace wago::c_api

struct wasm_config_t {};
struct wasm_engine_t {
  wago::Engine engine;
};
struct wasm_store_t {
  std::shared_ptr<wago::c_api::StoreData> data;
};

struct wasm_ref_t {
  wasm_ref_t(std::shared_ptr<wago::c_api::StoreData> s, std::shared_ptr<wago::c_api::Object> o)
      : store(std::move(s)), object(std::move(o)) {}
  virtual ~wasm_ref_t() = default;
  template <class T>
  T& subject() const {
    return std::get<T>(object->subject);
  }

  // In this order: the object goes first.
  std::shared_ptr<wago::c_api::StoreData> store;
  std::shared_ptr<wago::c_api::Object> object;
};
struct wasm_extern_t : wasm_ref_t {
  using wasm_ref_t::wasm_ref_t;
};
struct wasm_func_t : wasm_extern_t {
  using wasm_extern_t::wasm_extern_t;
};
struct wasm_global_t : wasm_extern_t {
  using wasm_extern_t::wasm_extern_t;
};
struct wasm_table_t : wasm_extern_t {
  using wasm_extern_t::wasm_extern_t;
};
struct wasm_memory_t : wasm_extern_t {
  using wasm_extern_t::wasm_extern_t;
};
struct wasm_instance_t : wasm_ref_t {
  using wasm_ref_t::wasm_ref_t;
};
struct wasm_module_t : wasm_ref_t {
  using wasm_ref_t::wasm_ref_t;
};
struct wasm_foreign_t : wasm_ref_t {
  using wasm_ref_t::wasm_ref_t;
};
struct wasm_trap_t : wasm_ref_t {
  using wasm_ref_t::wasm_ref_t;
};
struct wasm_shared_module_t {
  wago::Module module;
};
struct wasm_frame_t {
  wago::Frame frame;
  std::unique_ptr<wasm_instance_t> instance;
};

struct wasm_valtype_t {
  wasm_valkind_t kind;
};
struct wasm_externtype_t {
  explicit wasm_externtype_t(wasm_externkind_t k) : kind(k) {}
  virtual ~wasm_externtype_t() = default;
  wasm_externkind_t kind;
};
