// Functions of <wasm.h>: callbacks and calls.
#include <algorithm>

#include "base/plural.h"
#include "codegen/c_api/objects.h"

using namespace wago;
using namespace wago::c_api;

namespace {

// Values in a vector's form, deleted in the end.
class Values {
 public:
  explicit Values(size_t size) { wasm_val_vec_new_uninitialized(&values_, size); }
  ~Values() { wasm_val_vec_delete(&values_); }
  Values(const Values&) = delete;
  Values& operator=(const Values&) = delete;
  wasm_val_vec_t* get() { return &values_; }
  wasm_val_t& operator[](size_t i) { return values_.data[i]; }

 private:
  wasm_val_vec_t values_;
};

bool has_vectors(const std::vector<ValueType>& types) {
  return std::find(types.begin(), types.end(), ValueType::V128) != types.end();
}

constexpr char kNoVectors[] = "values of type v128 do not cross the C API";

Trap host_trap(std::string message) {
  Trap trap;
  trap.code = TrapCode::Host;
  trap.message = std::move(message);
  return trap;
}

// A callback of either kind, and what it is given.
struct Callback {
  wasm_func_callback_t plain = nullptr;
  wasm_func_callback_with_env_t with_env = nullptr;
  std::shared_ptr<HostInfo> env;

  wasm_trap_t* operator()(const wasm_val_vec_t* args, wasm_val_vec_t* results) const {
    return plain ? plain(args, results) : with_env(env->get(), args, results);
  }
};

std::optional<Trap> run_callback(StoreData& store, const FuncType& type, const Callback& callback,
                                 std::span<const Slot> args, std::span<Slot> results) {
  if (has_vectors(type.params) || has_vectors(type.results)) return host_trap(kNoVectors);
  Values given(type.params.size()), returned(type.results.size());
  for (size_t i = 0; i < args.size(); ++i) given[i] = value_of(store, type.params[i], args[i]);
  if (std::unique_ptr<wasm_trap_t> trap{callback(given.get(), returned.get())}) return trap->subject<Trap>();
  // References among the results are the guest's from here on, whatever becomes of these handles.
  for (size_t i = 0; i < results.size(); ++i) {
    const auto slot = slot_of(store, type.results[i], returned[i]);
    if (!slot) {
      return host_trap("result " + std::to_string(i) + " of a callback is not " +
                       with_article(type.results[i]) + " of its store");
    }
    results[i] = *slot;
    if (is_reference(type.results[i]) && returned[i].of.ref) store.keep(returned[i].of.ref->object);
  }
  return std::nullopt;
}

wasm_func_t* new_function(wasm_store_t& store, const wasm_functype_t& functype, Callback callback) {
  const FuncType type = func_type(functype);
  // Not counted: the store keeps the function, not the other way round.
  std::weak_ptr<StoreData> weak = store.data;
  auto function = Function::host(
      store.data->engine(), type,
      [weak, type, callback](std::span<const Slot> args, std::span<Slot> results) -> std::optional<Trap> {
        const std::shared_ptr<StoreData> data = weak.lock();
        if (!data) return host_trap("the store of the callback is gone");
        return run_callback(*data, type, callback, args, results);
      });
  return function ? static_cast<wasm_func_t*>(store.data->handle(Subject(*std::move(function)))) : nullptr;
}

}  // namespace

wasm_func_t* wasm_func_new(wasm_store_t* store, const wasm_functype_t* type, wasm_func_callback_t callback) {
  return new_function(*store, *type, {callback, nullptr, nullptr});
}

wasm_func_t* wasm_func_new_with_env(wasm_store_t* store, const wasm_functype_t* type,
                                    wasm_func_callback_with_env_t callback, void* env,
                                    void (*finalizer)(void*)) {
  auto held = std::make_shared<HostInfo>();
  held->set(env, finalizer);
  return new_function(*store, *type, {nullptr, callback, std::move(held)});
}

wasm_functype_t* wasm_func_type(const wasm_func_t* func) {
  return new_functype(func->subject<Function>().type());
}
size_t wasm_func_param_arity(const wasm_func_t* func) {
  return func->subject<Function>().type().params.size();
}
size_t wasm_func_result_arity(const wasm_func_t* func) {
  return func->subject<Function>().type().results.size();
}

wasm_trap_t* wasm_func_call(const wasm_func_t* func, const wasm_val_vec_t* args, wasm_val_vec_t* results) {
  // A callback may delete the last handles.
  const std::shared_ptr<StoreData> store = func->store;
  const Function function = func->subject<Function>();
  const FuncType& type = function.type();
  const size_t given = args ? args->size : 0, room = results ? results->size : 0;
  if (has_vectors(type.params) || has_vectors(type.results)) return new_trap(*store, kNoVectors);
  if (given != type.params.size() || room < type.results.size()) {
    return new_trap(*store, "the function is " + to_string(type) + ", but " +
                                base::plural(given, "argument") + " and room for " +
                                base::plural(room, "result") + " are given");
  }
  std::vector<Slot> slots(given + type.results.size());
  for (size_t i = 0; i < given; ++i) {
    const auto slot = slot_of(*store, type.params[i], args->data[i]);
    if (!slot) {
      return new_trap(*store, "argument " + std::to_string(i) + " is not " + with_article(type.params[i]) +
                                  " of this store");
    }
    slots[i] = *slot;
  }
  const std::span<Slot> all(slots);
  CallResult outcome = function.call(all.first(given), all.subspan(given));
  if (!outcome) return new_trap(*store, outcome.trap());
  for (size_t i = 0; i < type.results.size(); ++i) {
    results->data[i] = value_of(*store, type.results[i], slots[given + i]);
  }
  return nullptr;
}
