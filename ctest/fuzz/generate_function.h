// One function body of a generated module. See generate_module.h for what it promises.
#pragma once

#include <cstdint>
#include <vector>

#include "ctest/fuzz/choices.h"
#include "runtime/testing/module_builder.h"

namespace wago::fuzz {

// What a body may refer to: the module around it.
struct ModuleShape {
  std::vector<FuncType> types;
  std::vector<uint32_t> function_types;  // of every function, imports first
  std::vector<ValueType> globals;        // all mutable but those from `first_constant_global` on
  uint32_t first_constant_global = 0;
  std::vector<uint32_t> table_types;  // of the functions that table 0 begins with
  uint32_t data_segments = 0;         // 0 is active, so it is dropped already
  uint32_t element_segments = 0;      // likewise; the last one only declares

  const FuncType& type_of(uint32_t function) const { return types[function_types[function]]; }
};

constexpr uint32_t kFuelGlobal = 0;
constexpr uint32_t kFunctionTable = 0;
constexpr uint32_t kExternTable = 1;

struct GeneratedBody {
  runtime::testing::ModuleBuilder::Locals locals;
  runtime::testing::Code code;
};

// The body of function `index`, whose size `choices` and `max_instructions` bound.
GeneratedBody generate_function(Choices& choices, const ModuleShape& shape, uint32_t index,
                                uint32_t max_instructions);

// A constant of a numeric or vector type or a null reference; of interest to compilers, mostly.
void generate_constant(Choices& choices, ValueType type, runtime::testing::Code& code);

}  // namespace wago::fuzz
