// The modules that the C tests run.
#include <map>
#include <string_view>

#include "codegen/c_api/tests/testing.h"
#include "runtime/testing/module_builder.h"

namespace {

using namespace wago::runtime::testing;
using wago::ExternKind;
using wago::runtime::Opcode;
using enum wago::ValueType;

// run(x) = env.add(x + 1); swap(a, b) = env.swap(a, b), with two results of two types.
ModuleBuilder callbacks() {
  ModuleBuilder module;
  const uint32_t unary = module.type({I32}, {I32}), pair = module.type({I32, I64}, {I64, I32});
  const uint32_t add = module.import_function("env", "add", unary),
                 swap = module.import_function("env", "swap", pair);
  module.export_(
      "run", ExternKind::Function,
      module.function(unary, {},
                      Code().op(Opcode::LocalGet, 0).i32(1).op(Opcode::I32Add).op(Opcode::Call, add).end()));
  module.export_(
      "swap", ExternKind::Function,
      module.function(pair, {},
                      Code().op(Opcode::LocalGet, 0).op(Opcode::LocalGet, 1).op(Opcode::Call, swap).end()));
  return module;
}

// Imports a callback; "unreachable" (1), "outer" (2) that calls it, "call" (3) that calls the callback,
// "divide".
ModuleBuilder traps() {
  ModuleBuilder module;
  const uint32_t nullary = module.type({}, {}), unary = module.type({I32}, {I32});
  const uint32_t host = module.import_function("env", "trap", nullary);
  const uint32_t inner = module.function(nullary, {}, Code().op(Opcode::Nop).op(Opcode::Unreachable).end());
  module.export_("unreachable", ExternKind::Function, inner);
  module.export_("outer", ExternKind::Function,
                 module.function(nullary, {}, Code().op(Opcode::Call, inner).end()));
  module.export_("call", ExternKind::Function,
                 module.function(nullary, {}, Code().op(Opcode::Call, host).end()));
  module.export_(
      "divide", ExternKind::Function,
      module.function(unary, {}, Code().i32(10).op(Opcode::LocalGet, 0).op(Opcode::I32DivS).end()));
  return module;
}

// A memory, tables of both kinds, globals of several types, and functions that use them.
ModuleBuilder objects() {
  ModuleBuilder module;
  const uint32_t unary = module.type({I32}, {I32}), binary = module.type({I32, I32}, {I32}),
                 store = module.type({I32, I32}, {}), keep = module.type({ExternRef}, {ExternRef}),
                 get = module.type({}, {ExternRef});
  module.memory(1, 3);
  module.data(Code().i32(4).end(), "data");
  const uint32_t functions = module.table(FuncRef, 2, 5), references = module.table(ExternRef, 2);
  const uint32_t constant = module.global(I32, false, Code().i32(-7).end()),
                 variable = module.global(I64, true, Code().i64(1ll << 40).end()),
                 real = module.global(F64, true, Code().f64(0.5).end());
  const uint32_t negate =
      module.function(unary, {}, Code().i32(0).op(Opcode::LocalGet, 0).op(Opcode::I32Sub).end());
  module.elements(Code().i32(1).end(), {negate});
  auto add = [&](const char* name, uint32_t type, Code code) {
    module.export_(name, ExternKind::Function, module.function(type, {}, code.end()));
  };
  module.export_("memory", ExternKind::Memory, 0);
  module.export_("functions", ExternKind::Table, functions);
  module.export_("references", ExternKind::Table, references);
  module.export_("constant", ExternKind::Global, constant);
  module.export_("variable", ExternKind::Global, variable);
  module.export_("real", ExternKind::Global, real);
  add("load", unary, Code().op(Opcode::LocalGet, 0).op(Opcode::I32Load8U, 0, 0));
  add("store", store, Code().op(Opcode::LocalGet, 0).op(Opcode::LocalGet, 1).op(Opcode::I32Store8, 0, 0));
  add("call_indirect", binary,
      Code().op(Opcode::LocalGet, 1).op(Opcode::LocalGet, 0).op(Opcode::CallIndirect, unary, functions));
  add("keep", keep,
      Code().i32(0).op(Opcode::LocalGet, 0).op(Opcode::TableSet, references).op(Opcode::LocalGet, 0));
  add("kept", get, Code().i32(0).op(Opcode::TableGet, references));
  return module;
}

ModuleBuilder start() {
  ModuleBuilder module;
  const uint32_t nullary = module.type({}, {});
  module.start(module.function(nullary, {}, Code().op(Opcode::Unreachable).end()));
  return module;
}

// One import of each kind, exported again, and a function of every type.
ModuleBuilder reflect() {
  ModuleBuilder module;
  const uint32_t type = module.type({I32, I64, F32, F64, V128, FuncRef, ExternRef}, {F64, I32});
  const uint32_t function = module.import_function("some", "function", type);
  const uint32_t global = module.import_global("some", "global", F32, true);
  const uint32_t table = module.import_table("other", "table", ExternRef, 3);
  const uint32_t memory = module.import_memory("other", "memory", 2);
  module.export_("function", ExternKind::Function, function);
  module.export_("global", ExternKind::Global, global);
  module.export_("table", ExternKind::Table, table);
  module.export_("memory", ExternKind::Memory, memory);
  return module;
}

const std::map<std::string_view, ModuleBuilder (*)()> kModules = {
    {"callbacks", callbacks}, {"traps", traps}, {"objects", objects}, {"start", start}, {"reflect", reflect}};

}  // namespace

void test_module(const char* name, wasm_byte_vec_t* out) {
  const std::vector<uint8_t> bytes = kModules.at(name)().build();
  wasm_byte_vec_new(out, bytes.size(), reinterpret_cast<const wasm_byte_t*>(bytes.data()));
}
