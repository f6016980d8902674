#include "harness/invoker.h"

#include <cstdio>

#include "base/plural.h"
#include "base/scalar.h"
#include "base/slots.h"
#include "base/text.h"
#include "runtime/exported_functions.h"

namespace wago::harness {

namespace {

using base::usage_error;

std::optional<base::Scalar> scalar_of(ValueType type) {
  switch (type) {
    case ValueType::I32:
      return base::Scalar::I32;
    case ValueType::I64:
      return base::Scalar::I64;
    case ValueType::F32:
      return base::Scalar::F32;
    case ValueType::F64:
      return base::Scalar::F64;
    default:
      return std::nullopt;
  }
}

// The type a slot belongs to.
ValueType type_of_slot(const std::vector<ValueType>& types, size_t slot) {
  for (ValueType type : types) {
    if (slot < slots_of(type)) return type;
    slot -= slots_of(type);
  }
  return ValueType::I64;
}

// "-1 (0xffffffff)": the value as its type reads it, and the slot.
std::string shown(ValueType type, uint64_t slot) {
  auto scalar = scalar_of(type);
  if (!scalar) return base::format_slot(slot);
  char hex[24];
  std::snprintf(hex, sizeof hex, " (0x%llx)", static_cast<unsigned long long>(slot));
  return base::format_scalar(*scalar, slot) + hex;
}

base::Result<void> check_slots(const std::string& name, const char* what, const std::vector<uint64_t>& slots,
                               const std::vector<base::SlotType>& stated, const std::vector<ValueType>& types,
                               const FuncType& signature) {
  uint32_t expected = slots_of(types);
  if (slots.size() != expected) {
    return usage_error(name + " has " + base::plural(expected, std::string(what) + " slot") +
                       ", its type being " + to_string(signature) + ", but " + std::to_string(slots.size()) +
                       (slots.size() == 1 ? " is" : " are") + " given");
  }
  for (size_t i = 0; i < slots.size(); ++i) {
    ValueType type = type_of_slot(types, i);
    if (i < stated.size() && stated[i] != base::SlotType::Any && spelling(stated[i]) != to_string(type)) {
      return usage_error(name + ": " + what + " slot " + std::to_string(i) + " is an " + to_string(type) +
                         ", but an " + std::string(spelling(stated[i])) + " is given");
    }
    bool narrow = type == ValueType::I32 || type == ValueType::F32;
    if (narrow && slots[i] >> 32) {
      return usage_error(name + ": " + what + " slot " + std::to_string(i) + " is an " + to_string(type) +
                         ", which " + std::to_string(slots[i]) + " does not fit");
    }
    // The engine would follow it as an address.
    if (type == ValueType::FuncRef && slots[i] != 0) {
      return usage_error(name + ": " + what + " slot " + std::to_string(i) +
                         " is a funcref, of which only 0 (null) can be written down");
    }
  }
  return {};
}

}  // namespace

base::Result<void> check_calls(const capture::Workload& workload, const wago::Module& module) {
  if (workload.init) {
    auto type = runtime::exported_function(module.decoded(), *workload.init);
    if (!type) return type.error();
    if (!(*type)->params.empty() || !(*type)->results.empty()) {
      return usage_error("the init export " + base::display(*workload.init) + " must be () -> (), but is " +
                         to_string(**type));
    }
  }
  for (const capture::Call& call : workload.calls) {
    auto type = runtime::exported_function(module.decoded(), call.export_name);
    if (!type) return type.error();
    const std::string name = base::display(call.export_name);
    auto args = check_slots(name, "argument", call.args, call.arg_types, (*type)->params, **type);
    if (!args) return args;
    if (call.want_trap) continue;
    auto want = check_slots(name, "result", call.want, call.want_types, (*type)->results, **type);
    if (!want) return want;
  }
  return {};
}

base::Result<Invoker> Invoker::create(const capture::Workload& workload, wago::Instance instance) {
  Invoker invoker(workload.mode, instance);
  for (const capture::Call& call : workload.calls) {
    auto function = instance.function(call.export_name);
    if (!function) return function.error();
    uint32_t results = slots_of(function->type().results);
    invoker.calls_.push_back({*function, &call, invoker.calls_.size(), std::vector<uint64_t>(results)});
  }
  return invoker;
}

inline void Invoker::forget(Bound& bound) {
  const std::vector<uint64_t>& want = bound.call->want;
  for (size_t i = 0; i < want.size(); ++i) bound.results[i] = ~want[i];
}

inline bool Invoker::as_wanted(const Bound& bound, const wago::CallResult& outcome) {
  const std::vector<uint64_t>& want = bound.call->want;
  if (!outcome.ok()) return bound.call->want_trap == outcome.trap().code;
  uint64_t difference = bound.call->want_trap ? 1 : 0;
  for (size_t i = 0; i < want.size(); ++i) difference |= want[i] ^ bound.results[i];
  return difference == 0;
}

RunStatus Invoker::run_prepared(uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    for (Bound& bound : calls_) {
      forget(bound);
      wago::CallResult outcome = bound.function.call(bound.call->args, bound.results);
      if (__builtin_expect(!as_wanted(bound, outcome), 0)) return describe(bound, outcome, i);
    }
  }
  return {};
}

RunStatus Invoker::run_public(uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    for (Bound& bound : calls_) {
      forget(bound);
      auto outcome = instance_.call(bound.call->export_name, bound.call->args, bound.results);
      if (!outcome) return RunFailure{outcome.error(), outcome.error().message, {}, i};
      if (__builtin_expect(!as_wanted(bound, *outcome), 0)) return describe(bound, *outcome, i);
    }
  }
  return {};
}

RunFailure Invoker::describe(const Bound& bound, const wago::CallResult& outcome, uint64_t iteration) {
  const capture::Call& call = *bound.call;
  std::string where = "call " + std::to_string(bound.number) + " (" + base::display(call.export_name) + ")";
  if (!outcome.ok()) {
    std::string stored = where + " trapped: " + std::string(base::sentence(outcome.trap().code));
    std::string said = where + " trapped: " + harness::describe(outcome.trap());
    if (call.want_trap) {
      std::string wanted = ", but the trap wanted is " + std::string(base::spelling(*call.want_trap));
      said += wanted;
      stored += wanted;
    }
    return {base::failed(said), stored, outcome.trap(), iteration};
  }
  if (call.want_trap) {
    std::string said =
        where + " returned, but the trap wanted is " + std::string(base::spelling(*call.want_trap));
    return {base::failed(said), said, {}, iteration};
  }
  const std::vector<ValueType>& types = bound.function.type().results;
  for (size_t i = 0; i < call.want.size(); ++i) {
    if (call.want[i] == bound.results[i]) continue;
    ValueType type = type_of_slot(types, i);
    std::string stored = "wrong result of " + where + ": slot " + std::to_string(i);
    return {base::failed(stored + " wanted " + shown(type, call.want[i]) + ", seen " +
                         shown(type, bound.results[i])),
            stored + " differs from what was wanted",
            {},
            iteration};
  }
  WAGO_UNREACHABLE("a result was as wanted");
}

std::string describe(const wago::Trap& trap) {
  std::string text =
      trap.message.empty() ? std::string(base::sentence(trap.code)) : base::printable(trap.message);
  if (trap.frames.empty()) return text;
  const Frame& frame = trap.frames.front();
  if (frame.host) return text + " at " + base::display(frame.name) + " (host)";
  char place[64];
  std::snprintf(place, sizeof place, " (func[%u], wasm pc 0x%x)", frame.function, frame.wasm_pc);
  return text + " at " + base::display(frame.name) + place;
}

}  // namespace wago::harness
