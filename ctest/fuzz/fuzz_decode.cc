// Fuzzes the decoder and the validator, and what everything after them builds on: that a module they accept
// can be read without checks. The input is taken twice: as a module, and as the body of a function in a
// module rich enough that a body can refer to anything; the second reaches the validator without guessing
// section sizes.

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "base/check.h"
#include "runtime/byte_cursor.h"
#include "runtime/code_reader.h"
#include "runtime/local_names.h"
#include "runtime/module.h"
#include "runtime/testing/module_builder.h"

namespace {

using namespace wago;
using namespace wago::runtime;
using runtime::testing::Bytes;
using runtime::testing::Code;
using runtime::testing::ModuleBuilder;

std::vector<uint8_t> module_around(const Bytes& body) {
  using enum ValueType;
  ModuleBuilder module;
  const uint32_t nothing = module.type({}, {});
  const uint32_t number = module.type({I32}, {I32});
  const uint32_t several = module.type({I32, I64, F32, F64}, {F64, F32, I64, I32});
  const uint32_t references = module.type({FuncRef, ExternRef}, {ExternRef, FuncRef});
  module.import_global("m", "g", I32);
  for (uint32_t type : {nothing, number, several, references}) module.import_function("m", "f", type);
  module.table(FuncRef, 1);
  module.table(ExternRef, 1, 2);
  module.memory(1);
  module.global(I64, true, Code().i64(1).end());
  module.global(FuncRef, true, Code().ref_null(FuncRef).end());
  module.declare_elements({0, 1});
  module.passive_elements({2});
  module.data_count(1);
  module.passive_data("data");
  module.raw_function(several, body);
  return module.build();
}

void read_bodies(const Module& module) {
  Instruction instruction;
  for (const FunctionBody& body : module.bodies) {
    BodyReader reader = read_body(module, body);
    uint32_t next = body.code_begin - body.begin;
    while (!reader.at_end()) {
      WAGO_CHECK(reader.pc() == next && next < body.size);
      reader.next(instruction);
      WAGO_CHECK(reader.pc() > next && info(instruction.opcode).feature == Feature::Core);
      next = reader.pc();
    }
    WAGO_CHECK(next == body.size && instruction.opcode == Opcode::End);
  }
}

void read_names(const Module& module) {
  const LocalNames locals(module);
  for (uint32_t i = 0; i < module.function_count(); ++i) {
    WAGO_CHECK(!module.function_name(i).empty());
    // Beyond the parameters and locals that there are nothing has a name.
    uint64_t count = module.type_of_function(i).params.size();
    if (i >= module.imported_functions) count += module.bodies[i - module.imported_functions].locals.size();
    for (uint32_t local = 0; local < 64; ++local) {
      const std::string_view name = locals.of(i, local);
      WAGO_CHECK(name.empty() || (local < count && is_utf8(name)));
    }
  }
}

void decode(const std::vector<uint8_t>& bytes) {
  DecodeOptions options;
  auto alone = decode_module(bytes, options);
  options.workers = 3;
  auto together = decode_module(bytes, options);
  WAGO_CHECK(alone.ok() == together.ok());
  if (alone.ok()) {
    read_bodies(**alone);
    return read_names(**alone);
  }
  WAGO_CHECK(alone.error().to_string() == together.error().to_string());
  WAGO_CHECK(!alone.error().message.empty() && alone.error().place.offset.value() <= bytes.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<uint8_t> input(data, data + size);
  decode(input);
  decode(module_around(Bytes(input)));
  return 0;
}
