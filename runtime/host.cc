#include "runtime/host.h"

#include <array>
#include <exception>
#include <vector>

#include "base/check.h"
#include "runtime/instance.h"
#include "runtime/stack.h"
#include "runtime/trap.h"
#include "runtime/type_registry.h"

namespace wago::runtime {

base::Result<Function> HostFunctionData::create(std::shared_ptr<EngineData> engine, const FuncType& type,
                                                Function::HostBody body, std::string name) {
  const uint32_t type_id = canonical_type_id(type);
  auto adapters = engine->adapters(type_id);
  if (!adapters) return adapters.error();
  std::unique_ptr<HostFunctionData> host(new HostFunctionData);
  host->HostFunction::call = call_from_guest;
  host->engine_ = std::move(engine);
  host->body_ = std::move(body);
  host->name_ = std::move(name);
  host->ref_.code = (*adapters)->host;
  host->ref_.context = static_cast<HostFunction*>(host.get());
  host->ref_.type_id = type_id;
  host->ref_.function = kHostFunctionIndex;
  host->ref_.type = &canonical_type(type_id);
  host->ref_.adapters = *adapters;
  host->param_slots_ = (*adapters)->param_slots;
  host->result_slots_ = (*adapters)->result_slots;
  auto store = std::make_shared<Store>(Store::Kind::Host);
  const FuncRef* ref = &store->add(std::move(host))->ref();
  return Function(std::move(store), ref);
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
  ExitScope(const ExitScope&) = delete;
  ExitScope& operator=(const ExitScope&) = delete;

 private:
  ThreadState& thread_;
  Activation& activation_;
};

namespace {

// What the body returned or threw, left for the host adapter to raise.
__attribute__((noinline, cold)) uint64_t raise(ThreadState& thread, Trap trap) {
  if (trap.message.empty()) trap.message = base::sentence(trap.code);
  thread.trap->pending = std::make_unique<Trap>(std::move(trap));
  return 1;
}

__attribute__((noinline, cold)) uint64_t raise(ThreadState& thread, const char* message) {
  Trap trap = make_trap(base::TrapCode::Host);
  trap.message = message;
  return raise(thread, std::move(trap));
}

}  // namespace

// Entered from the host adapter. Its own frame pointer is where the walk of an inner trap goes on, so it must
// have one.
__attribute__((optimize("no-omit-frame-pointer"))) uint64_t HostFunctionData::call_from_guest(
    HostFunction* self, uint64_t* slots) {
  const auto& host = *static_cast<const HostFunctionData*>(self);
  ThreadState& thread = thread_state;
  ExitScope exit(thread, self, __builtin_frame_address(0));
  const size_t result_slots = host.result_slots_;
  try {
    // Arguments and results share the adapter's slots; the body must not see that.
    std::array<Slot, 4> few{};
    std::vector<Slot> many;
    Slot* results = few.data();
    if (__builtin_expect(result_slots > few.size(), 0)) {
      many.resize(result_slots);
      results = many.data();
    }
    std::optional<Trap> trap = host.body_({slots, host.param_slots_}, {results, result_slots});
    if (__builtin_expect(trap.has_value(), 0)) return raise(thread, *std::move(trap));
    if (result_slots == 1) {
      slots[0] = results[0];
    } else {
      std::copy_n(results, result_slots, slots);
    }
    return 0;
  } catch (const std::exception& exception) {
    return raise(thread, exception.what());
  } catch (...) {
    return raise(thread, "the host function threw an exception that is not a std::exception");
  }
}

Store* owner_of(const FuncRef& ref) {
  if (ref.function == kHostFunctionIndex) {
    return static_cast<HostFunctionData*>(static_cast<HostFunction*>(ref.context))->store();
  }
  return static_cast<InstanceContext*>(ref.context)->instance->store();
}

}  // namespace wago::runtime
