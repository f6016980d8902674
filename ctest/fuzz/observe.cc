#include "ctest/fuzz/observe.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>

#include "base/check.h"

namespace wago::fuzz {

namespace {

constexpr uint32_t kCallsPerFunction = 2;
constexpr uint32_t kTableEntriesSeen = 32;

// The global that generate_module.h fills before every call.
constexpr const char* kFuel = "fuel";

// The arguments' values by type: position 0 of the first call is entry 0, and so on.
constexpr std::array<uint64_t, 8> kI32s = {0, 1, 0xffffffff, 0x7fffffff, 0x80000000, 17, 8, 0x12345678};
constexpr std::array<uint64_t, 8> kI64s = {
    0, 1, 0xffffffffffffffff, 0x7fffffffffffffff, 0x8000000000000000, 0x100000000, 9, 0x123456789abcdef0};
constexpr std::array<uint64_t, 8> kF32s = {0x3f800000, 0,          0x80000000, 0x7fc00000,
                                           0x7f800000, 0xc2f6e979, 0x4f000000, 0x00000001};
constexpr std::array<uint64_t, 8> kF64s = {
    0x3ff0000000000000, 0, 0x8000000000000000, 0x7ff8000000000000, 0xfff0000000000000, 0xc05edccccccccccd,
    0x41e0000000000000, 1};

uint64_t argument(ValueType type, uint32_t at) {
  switch (type) {
    case ValueType::I32:
      return kI32s[at % 8];
    case ValueType::I64:
      return kI64s[at % 8];
    case ValueType::F32:
      return kF32s[at % 8];
    case ValueType::F64:
      return kF64s[at % 8];
    default:
      return 0;  // null
  }
}

bool is_nan(ValueType type, uint64_t bits) {
  return (type == ValueType::F32 && (bits & 0x7fffffff) > 0x7f800000) ||
         (type == ValueType::F64 && (bits & 0x7fffffffffffffff) > 0x7ff0000000000000);
}

std::string value_text(ValueType type, uint64_t bits) {
  if (is_reference(type)) return std::string(to_string(type)) + (bits ? ":ref" : ":null");
  if (is_nan(type, bits)) return std::string(to_string(type)) + ":nan";
  char text[40];
  std::snprintf(text, sizeof text, "%s:0x%llx", to_string(type), static_cast<unsigned long long>(bits));
  return text;
}

std::string values_text(const std::vector<ValueType>& types, std::span<const Slot> slots) {
  std::string text;
  for (size_t i = 0; i < types.size(); ++i) text += " " + value_text(types[i], slots[i]);
  return text;
}

std::vector<Slot> arguments(const FuncType& type, uint32_t call) {
  std::vector<Slot> slots;
  for (uint32_t i = 0; i < type.params.size(); ++i)
    slots.push_back(argument(type.params[i], call * 3 + i * 5));
  return slots;
}

// NaN arguments are written as bits: they are input.
std::string call_text(size_t index, const FuncType& type, uint32_t call) {
  std::string line = "call " + std::to_string(index);
  const std::vector<Slot> slots = arguments(type, call);
  for (size_t i = 0; i < slots.size(); ++i) {
    char text[40];
    std::snprintf(text, sizeof text, " %s:0x%llx", to_string(type.params[i]),
                  static_cast<unsigned long long>(slots[i]));
    line += text;
  }
  return line;
}

// The import: its state depends on every call made of it, and everything it returns on the state.
class Host {
 public:
  std::optional<Trap> exchange(std::span<const Slot> args, std::span<Slot> results) {
    const uint64_t number = is_nan(ValueType::F64, args[1]) ? 0x7ff8000000000000 : args[1];
    state_ = state_ * 6364136223846793005 + static_cast<uint32_t>(args[0]) + (number ^ number >> 32);
    results[0] = state_;
    return std::nullopt;
  }
  uint64_t state() const { return state_; }

 private:
  uint64_t state_ = 1;
};

bool crosses_to_script(const FuncType& type) {
  auto is_vector = [](ValueType it) { return it == ValueType::V128; };
  return std::none_of(type.params.begin(), type.params.end(), is_vector) &&
         std::none_of(type.results.begin(), type.results.end(), is_vector);
}

std::string memory_text(const Memory& memory) {
  uint32_t hash = 0x811c9dc5;
  for (uint8_t byte : memory.bytes()) hash = (hash ^ byte) * 0x01000193;
  char text[64];
  std::snprintf(text, sizeof text, "%u pages %x", memory.pages(), hash);
  return text;
}

std::string table_text(const Table& table) {
  std::string text = std::to_string(table.size()) + " ";
  for (uint32_t i = 0; i < std::min(table.size(), kTableEntriesSeen); ++i) text += *table.get(i) ? '1' : '0';
  return text;
}

// Of what is exported; script cannot look at vectors.
bool is_state(const ExportInfo& it) {
  return it.type.kind == ExternKind::Memory || it.type.kind == ExternKind::Table ||
         (it.type.kind == ExternKind::Global && it.name != kFuel && it.type.global.value != ValueType::V128);
}

std::string state_text(const Instance& instance, const ExportInfo& it) {
  if (it.type.kind == ExternKind::Memory) return memory_text(instance.memory(it.name).value());
  if (it.type.kind == ExternKind::Table) return table_text(instance.table(it.name).value());
  Slot slot = 0;
  instance.global(it.name).value().get({&slot, 1});
  return value_text(it.type.global.value, slot);
}

}  // namespace

std::string plan_of(const runtime::Module& module) {
  std::string plan;
  const std::vector<ExportInfo> exports = exports_of(module);
  for (size_t i = 0; i < exports.size(); ++i) {
    const ExternType& type = exports[i].type;
    if (type.kind != ExternKind::Function || !crosses_to_script(type.function)) continue;
    for (uint32_t call = 0; call < kCallsPerFunction; ++call) {
      plan += call_text(i, type.function, call) + " #";
      for (ValueType result : type.function.results) plan += std::string(" ") + to_string(result);
      plan += "\n";
    }
  }
  for (size_t i = 0; i < exports.size(); ++i) {
    const ExternType& type = exports[i].type;
    if (!is_state(exports[i])) continue;
    plan += to_string(type.kind) + (" " + std::to_string(i));
    if (type.kind == ExternKind::Global) plan += std::string(" ") + to_string(type.global.value);
    plan += "\n";
  }
  return plan;
}

Observation observe(const Engine& engine, std::span<const uint8_t> bytes) {
  Observation seen;
  const Result<Module> module = engine.compile({bytes.begin(), bytes.end()});
  WAGO_CHECK_MSG(module.ok(), module.ok() ? "" : module.error().to_string().c_str());
  const std::vector<ExportInfo> exports = module->exports();
  Host host;
  Linker linker(engine);
  auto exchange = [&](auto args, auto results) { return host.exchange(args, results); };
  WAGO_CHECK(
      linker.define_host("host", "exchange", {{ValueType::I32, ValueType::F64}, {ValueType::I64}}, exchange)
          .ok());
  const InstantiateResult instantiated = linker.instantiate(*module);
  if (!instantiated.ok()) {
    const std::optional<Trap>& trap = instantiated.failure().trap;
    WAGO_CHECK_MSG(trap.has_value(), instantiated.failure().error.to_string().c_str());
    seen.text = "! " + std::string(base::spelling(trap->code)) + "\n";
    seen.exhausted = trap->code == TrapCode::StackExhausted;
    return seen;
  }
  const Instance& instance = instantiated.value();
  const Result<Global> fuel = instance.global(kFuel);
  for (size_t i = 0; i < exports.size(); ++i) {
    const FuncType& type = exports[i].type.function;
    if (exports[i].type.kind != ExternKind::Function || !crosses_to_script(type)) continue;
    const Function function = instance.function(exports[i].name).value();
    for (uint32_t call = 0; call < kCallsPerFunction && !seen.exhausted; ++call) {
      const Slot full = kFuelPerCall;
      if (fuel) WAGO_CHECK(fuel->set(std::span<const Slot>(&full, 1)).ok());
      std::vector<Slot> results(type.results.size());
      const CallResult result = function.call(arguments(type, call), results);
      seen.text += call_text(i, type, call) + "\n";
      if (result) {
        seen.text += "=" + values_text(type.results, results) + "\n";
      } else {
        seen.text += "! " + std::string(base::spelling(result.trap().code)) + "\n";
        seen.exhausted = result.trap().code == TrapCode::StackExhausted;
      }
    }
  }
  for (size_t i = 0; i < exports.size(); ++i) {
    if (!is_state(exports[i])) continue;
    seen.text += to_string(exports[i].type.kind) + (" " + std::to_string(i)) + " " +
                 state_text(instance, exports[i]) + "\n";
  }
  char text[40];
  std::snprintf(text, sizeof text, "host %llx\n", static_cast<unsigned long long>(host.state()));
  seen.text += text;
  return seen;
}

}  // namespace wago::fuzz
