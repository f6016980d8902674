#include "runtime/host.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <vector>

#include "base/check.h"
#include "runtime/boundary_hooks.h"
#include "runtime/decode_limits.h"
#include "runtime/exhaustion.h"
#include "runtime/instance.h"
#include "runtime/stack.h"
#include "runtime/trap.h"

namespace wago::runtime {

namespace {

base::Result<void> check_values(const std::vector<ValueType>& types, uint32_t limit, const char* what) {
  if (types.size() > limit) {
    return base::usage_error("a function has at most " + std::to_string(limit) + " " + what +
                             ", as in modules; this one has " + std::to_string(types.size()));
  }
  for (ValueType type : types) {
    if (!is_value_type(type)) {
      return base::usage_error("the host function's " + std::string(what) + " have a type of number " +
                               std::to_string(static_cast<unsigned>(type)) +
                               ", which no WebAssembly type has");
    }
  }
  return {};
}

base::Result<void> check_signature(const FuncType& type) {
  if (auto params = check_values(type.params, kMaxParams, "parameters"); !params) return params;
  return check_values(type.results, kMaxResults, "results");
}

}  // namespace

base::Result<Function> HostFunctionData::create(std::shared_ptr<EngineData> engine, const FuncType& type,
                                                HostBody body, std::string name) {
  return unless_exhausted("make a host function", [&]() -> base::Result<Function> {
    if (auto usable = check_signature(type); !usable) return usable.error();
    auto canonical = canonical_type(type);
    auto adapters = engine->adapters(canonical);
    if (!adapters) return adapters.error();
    std::unique_ptr<HostFunctionData> host(new HostFunctionData);
    host->HostFunction::call = call_from_guest;
    if (const BoundaryHooks* hooks = engine->boundary_hooks()) {
      body = hooks->host_function_made(std::move(body), name);
    }
    host->engine_ = std::move(engine);
    host->body_ = std::move(body);
    host->name_ = std::move(name);
    host->ref_.code = (*adapters)->host;
    host->ref_.context = static_cast<HostFunction*>(host.get());
    host->ref_.type_id = canonical->id;
    host->ref_.function = kHostFunctionIndex;
    host->ref_.type = &canonical->type;
    host->ref_.adapters = adapters->get();
    host->type_ = std::move(canonical);
    host->adapters_ = *std::move(adapters);
    host->range_ = ReferenceRange(&host->ref_, 1);
    auto store = std::make_shared<Store>(Store::Kind::Host);
    const FuncRef* ref = store->add(std::move(host))->ref();
    return Function(std::move(store), ref);
  });
}

base::Result<Function> make_host_function(const std::shared_ptr<EngineData>& engine, const FuncType& type,
                                          HostBody body, std::string name) {
  return HostFunctionData::create(engine, type, std::move(body), std::move(name));
}

// Marks the innermost activation as being in a host function while it exists.
class ExitScope {
 public:
  ExitScope(ThreadState& thread, const HostFunction* host, const void* frame)
      : thread_(thread), activation_(*innermost(thread)) {
    activation_.exit_frame = frame;
    activation_.exit_host = host;
    activation_.exited = thread.exited;
    thread.exited = &activation_;
  }
  ~ExitScope() { thread_.exited = activation_.exited; }
  const Activation* activation() const { return &activation_; }
  ExitScope(const ExitScope&) = delete;
  ExitScope& operator=(const ExitScope&) = delete;

 private:
  ThreadState& thread_;
  Activation& activation_;
};

namespace {

// What the body returned or threw, left for the host adapter to raise.
__attribute__((noinline, cold)) uint64_t raise(ThreadState& thread, Trap* trap) {
  if (trap->message.empty()) trap->message = base::sentence(trap->code);
  thread.trap->pending.reset(trap);
  return 1;
}

// A std::function on slots, and what it takes to call it.
struct SlotBody {
  Function::HostBody body;
  std::shared_ptr<const CanonicalType> type;
  uint32_t param_slots, result_slots;
  bool gives_functions;

  static Trap* invoke(void* state, const Caller&, Slot* slots);
  Trap* accept(const Slot* results) const;
};

Trap* SlotBody::invoke(void* state, const Caller&, Slot* slots) {
  const SlotBody& self = *static_cast<const SlotBody*>(state);
  // Arguments and results share the adapter's slots; the body must not see that.
  std::array<Slot, 4> few{};
  std::vector<Slot> many;
  Slot* results = few.data();
  if (__builtin_expect(self.result_slots > few.size(), 0)) {
    many.resize(self.result_slots);
    results = many.data();
  }
  std::optional<Trap> trap = self.body({slots, self.param_slots}, {results, self.result_slots});
  if (__builtin_expect(trap.has_value(), 0)) return new_trap(*trap);
  if (__builtin_expect(self.gives_functions, 0)) {
    if (Trap* refused = self.accept(results)) return refused;
  }
  if (self.result_slots == 1) {
    slots[0] = results[0];
  } else {
    std::copy_n(results, self.result_slots, slots);
  }
  return nullptr;
}

// Checks the function references among results that a body wrote as numbers.
Trap* SlotBody::accept(const Slot* results) const {
  for (ValueType result : type->type.results) {
    if (result == ValueType::FuncRef && *results != 0) {
      if (!find_reference(*results).ref) {
        return new_trap("the host function returned a funcref that refers to no living function");
      }
      give_to_guest(*results);
    }
    results += slots_of(result);
  }
  return nullptr;
}

}  // namespace

Trap* new_trap(std::string message) {
  Trap trap = make_trap(base::TrapCode::Host);
  if (!message.empty()) trap.message = std::move(message);
  return new Trap(std::move(trap));
}

Trap* new_trap(const Trap& trap) {
  return new Trap(trap);
}

base::Result<Function> HostFunctionData::create(std::shared_ptr<EngineData> engine, const FuncType& type,
                                                Function::HostBody body, std::string name) {
  if (auto usable = check_signature(type); !usable) return usable.error();
  const bool gives_functions =
      std::find(type.results.begin(), type.results.end(), ValueType::FuncRef) != type.results.end();
  return unless_exhausted("make a host function", [&] {
    HostBody erased;
    erased.invoke = SlotBody::invoke;
    erased.state = {new SlotBody{std::move(body), canonical_type(type), slots_of(type.params),
                                 slots_of(type.results), gives_functions},
                    [](void* state) { delete static_cast<SlotBody*>(state); }};
    return create(std::move(engine), type, std::move(erased), std::move(name));
  });
}

void give_to_guest(Slot reference) {
  if (reference == 0) return;
  const FoundReference found = find_reference(reference);
  WAGO_CHECK_MSG(found.ref, "the function was let go while it was being returned");
  // What the entered function's store reaches is all the guest can keep it in; a host function called by the
  // host itself has no guest.
  Store* guest = owner_of(*thread_state.exited->callee);
  if (!guest->is_host()) guest->link(found.store);
}

// Entered from the host adapter. Its own frame pointer is where the walk of an inner trap goes on, and where
// Caller finds who called, so it must have one.
__attribute__((optimize("no-omit-frame-pointer"))) uint64_t HostFunctionData::call_from_guest(
    HostFunction* self, uint64_t* slots) {
  const auto& host = *static_cast<const HostFunctionData*>(self);
  ThreadState& thread = thread_state;
  const void* frame = __builtin_frame_address(0);
  ExitScope exit(thread, self, frame);
  try {
    Trap* trap = host.body_.invoke(host.body_.state.get(), Caller(frame, exit.activation()), slots);
    if (__builtin_expect(trap != nullptr, 0)) return raise(thread, trap);
    // Whatever a body makes of an interruption that reached a call of its own: its guest is stopped too.
    if (__builtin_expect(
            std::atomic_ref(thread.stack_limit).load(std::memory_order_relaxed) == kInterruptStackLimit, 0)) {
      return 1;
    }
    return 0;
  } catch (const std::exception& exception) {
    return raise(thread, new_trap(exception.what()));
  } catch (...) {
    return raise(thread, new_trap("the host function threw an exception that is not a std::exception"));
  }
}

Store* owner_of(const FuncRef& ref) {
  if (ref.function == kHostFunctionIndex) {
    return static_cast<HostFunctionData*>(static_cast<HostFunction*>(ref.context))->store();
  }
  return static_cast<InstanceContext*>(ref.context)->instance->store();
}

}  // namespace wago::runtime

namespace wago {

namespace {

// The context of the guest function that called, or nullptr: the host called.
runtime::InstanceContext* calling_context(const void* frame, const void* activation) {
  auto saved_frame = [](const void* at) { return *static_cast<const uint8_t* const*>(at); };
  const uint8_t* adapter_frame = saved_frame(frame);
  const uint8_t* caller_frame = saved_frame(adapter_frame);
  if (caller_frame == static_cast<const uint8_t*>(activation) + runtime::kActivationRbp) return nullptr;
  // Where functions that call other instances keep theirs; see runtime/abi.h.
  return *reinterpret_cast<runtime::InstanceContext* const*>(caller_frame - 8);
}

}  // namespace

std::optional<Instance> Caller::instance() const {
  runtime::InstanceContext* context = calling_context(frame_, activation_);
  if (!context) return std::nullopt;
  return Instance(context->instance->store()->shared_from_this(), context->instance);
}

std::optional<MemoryAccess> Caller::memory() const {
  runtime::InstanceContext* context = calling_context(frame_, activation_);
  if (!context || !context->memory) return std::nullopt;
  return MemoryAccess(context->instance->memory(0));
}

}  // namespace wago
