#include "ctest/fuzz/generate_module.h"

#include <algorithm>
#include <array>
#include <string>

#include "ctest/fuzz/choices.h"
#include "ctest/fuzz/generate_function.h"

namespace wago::fuzz {

namespace {

using runtime::Opcode;
using runtime::testing::Bytes;
using runtime::testing::Code;
using runtime::testing::ModuleBuilder;
using enum ValueType;

constexpr uint32_t kMaxModuleInstructions = 6000;
constexpr std::array<ValueType, 7> kAllTypes = {I32, I64, F32, F64, V128, FuncRef, ExternRef};

std::vector<ValueType> type_list(Choices& choices, uint32_t most) {
  std::vector<ValueType> list(choices.below(most + 1));
  const uint32_t numbers = choices.chance(96) ? 5 : 4;
  for (ValueType& type : list) type = kAllTypes[choices.below(choices.chance(32) ? 7 : numbers)];
  return list;
}

// Whether a call may come from JavaScript, which has no vectors.
bool is_callable(const FuncType& type) {
  return std::ranges::find(type.params, V128) == type.params.end() &&
         std::ranges::find(type.results, V128) == type.results.end();
}

class ModuleGenerator {
 public:
  explicit ModuleGenerator(Choices& choices) : choices_(choices) {}

  std::vector<uint8_t> run() {
    declare_types();
    module_.import_function("host", "exchange", kExchangeType);
    shape_.function_types.push_back(kExchangeType);
    for (uint32_t count = 1 + choices_.below(6); count-- > 0;) {
      shape_.function_types.push_back(choices_.below(static_cast<uint32_t>(shape_.types.size())));
    }
    declare_globals();
    declare_tables_and_memory();
    const auto functions = static_cast<uint32_t>(shape_.function_types.size());
    for (uint32_t i = 1; i < functions; ++i) {
      const GeneratedBody body =
          generate_function(choices_, shape_, i, kMaxModuleInstructions / (functions - 1));
      module_.function(shape_.function_types[i], body.locals, body.code);
      if (!is_callable(shape_.type_of(i))) continue;
      module_.export_("f" + std::to_string(i), ExternKind::Function, i);
    }
    export_vectors();
    return module_.build();
  }

 private:
  static constexpr uint32_t kExchangeType = 0;
  static constexpr uint32_t kNoValuesType = 1;

  // The first ones give constructs of every type something to be.
  void declare_types() {
    shape_.types = {{{I32, F64}, {I64}},
                    {{}, {}},
                    {{}, {I32}},
                    {{}, {F64}},
                    {{I32}, {I32}},
                    {{I64}, {F32}},
                    {{I64, F32}, {F32, I64}},
                    {{}, {FuncRef}},
                    {{}, {ExternRef}},
                    {{I32}, {}},
                    {{F64, I32}, {F64, I32}}};
    shape_.types.push_back({{}, {V128}});
    shape_.types.push_back({{V128, I32}, {V128}});
    shape_.types.push_back({{F32, V128}, {V128, F32}});
    for (uint32_t i = 0; i < 2; ++i) {
      const uint32_t most = choices_.chance(48) ? 12 : 4;
      FuncType type{type_list(choices_, most), type_list(choices_, choices_.chance(48) ? 12 : 3)};
      shape_.types.push_back(std::move(type));
    }
    for (const FuncType& type : shape_.types) module_.type(type.params, type.results);
  }

  void declare_globals() {
    shape_.globals = {I32};  // fuel
    module_.global(I32, true, Code().i32(1000).end());
    module_.export_("fuel", ExternKind::Global, kFuelGlobal);
    for (ValueType type : kAllTypes) add_global(type, true);
    for (ValueType type : type_list(choices_, 4)) add_global(type, true);
    shape_.first_constant_global = static_cast<uint32_t>(shape_.globals.size());
    for (ValueType type : {I32, I64, F32, F64, V128}) add_global(type, false);
  }
  void add_global(ValueType type, bool is_mutable) {
    Code init;
    generate_constant(choices_, type, init);
    const uint32_t index = module_.global(type, is_mutable, init.end());
    shape_.globals.push_back(type);
    if (is_mutable && type != V128) module_.export_("g" + std::to_string(index), ExternKind::Global, index);
  }

  // What has the values of vector globals for all to see: in memory.
  void export_vectors() {
    Code code;
    uint32_t address = 0;
    for (uint32_t i = 0; i < shape_.globals.size(); ++i) {
      if (shape_.globals[i] != V128) continue;
      code.i32(static_cast<int32_t>(address)).op(Opcode::GlobalGet, i).op(Opcode::V128Store, 0, 0);
      address += 16;
    }
    const uint32_t function = module_.function(kNoValuesType, {}, code.end());
    module_.export_("vectors", ExternKind::Function, function);
  }

  void declare_tables_and_memory() {
    const auto functions = static_cast<uint32_t>(shape_.function_types.size());
    std::vector<uint32_t> entries(1 + choices_.below(6)), all(functions);
    for (uint32_t& entry : entries) {
      entry = choices_.below(functions);
      shape_.table_types.push_back(shape_.function_types[entry]);
    }
    for (uint32_t i = 0; i < functions; ++i) all[i] = i;
    module_.table(FuncRef, 8, 20);
    module_.table(ExternRef, 6, 12);
    module_.memory(1, 3);
    module_.export_("table", ExternKind::Table, kFunctionTable);
    module_.export_("externs", ExternKind::Table, kExternTable);
    module_.export_("memory", ExternKind::Memory, 0);
    module_.elements(Code().i32(0).end(), entries);
    module_.passive_elements(entries);
    module_.declare_elements(all);
    shape_.element_segments = 3;
    module_.data_count(2);
    const std::vector<uint8_t> contents = data_contents();
    const std::string_view text(reinterpret_cast<const char*>(contents.data()), contents.size());
    module_.data(Code().i32(16).end(), text);
    module_.passive_data(text);
    shape_.data_segments = 2;
  }
  std::vector<uint8_t> data_contents() {
    std::vector<uint8_t> contents(24);
    for (uint8_t& byte : contents) byte = choices_.byte();
    return contents;
  }

  Choices& choices_;
  ModuleShape shape_;
  ModuleBuilder module_;
};

}  // namespace

std::vector<uint8_t> generate_module(std::span<const uint8_t> bytes) {
  Choices choices(bytes);
  return ModuleGenerator(choices).run();
}

}  // namespace wago::fuzz
