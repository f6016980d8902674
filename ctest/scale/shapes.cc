#include "ctest/scale/shapes.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>

#include "runtime/testing/module_builder.h"

namespace wago::scale {

namespace {

using runtime::Opcode;
using runtime::testing::Bytes;
using runtime::testing::Code;
using runtime::testing::ModuleBuilder;
using enum ValueType;

constexpr uint32_t kArgument = 0;  // local 0 of run

// A module whose run has `locals` i32 locals besides its argument.
std::vector<uint8_t> module_of(const Code& code, uint32_t locals) {
  ModuleBuilder module;
  const uint32_t type = module.type({I32}, {I32});
  module.memory(1);
  const uint32_t run = module.function(type, {{locals, I32}}, code);
  module.export_("run", ExternKind::Function, run);
  return module.build();
}

void get(Code& code, uint32_t local) {
  code.op(Opcode::LocalGet, local);
}
void set(Code& code, uint32_t local) {
  code.op(Opcode::LocalSet, local);
}
int32_t constant(uint32_t value) {
  return static_cast<int32_t>(value);
}
// local += value
void add_to(Code& code, uint32_t local, uint32_t value) {
  get(code, local);
  code.i32(constant(value)).op(Opcode::I32Add);
  set(code, local);
}
// local = local * 31 + value, so that order shows
void mix_into(Code& code, uint32_t local, uint32_t value) {
  get(code, local);
  code.i32(31).op(Opcode::I32Mul).i32(constant(value)).op(Opcode::I32Add);
  set(code, local);
}
uint32_t mixed(uint32_t local, uint32_t value) {
  return local * 31 + value;
}
// Leaves the sum of the first `count` locals behind the argument on the stack.
void sum_locals(Code& code, uint32_t count) {
  code.i32(0);
  for (uint32_t i = 0; i < count; ++i) {
    get(code, 1 + i);
    code.op(Opcode::I32Add);
  }
}
uint32_t sum_of(std::span<const uint32_t> locals) {
  return std::accumulate(locals.begin(), locals.end(), uint32_t{0});
}

// Every local lives around a loop that changes it.
std::vector<uint8_t> locals(uint32_t n) {
  Code code;
  for (uint32_t i = 1; i <= n; ++i) {
    get(code, kArgument);
    code.i32(constant(i)).op(Opcode::I32Xor);
    set(code, i);
  }
  code.open(Opcode::Loop);
  for (uint32_t i = 1; i <= n; ++i) add_to(code, i, i);
  get(code, kArgument);
  code.i32(1).op(Opcode::I32Sub).op(Opcode::LocalTee, kArgument).op(Opcode::BrIf, 0).end();
  sum_locals(code, n);
  return module_of(code.end(), n);
}
uint32_t locals_result(uint32_t n, uint32_t argument) {
  uint32_t sum = 0;
  for (uint32_t i = 1; i <= n; ++i) sum += (argument ^ i) + argument * i;
  return sum;
}

// Arithmetic, loads and stores in one block.
std::vector<uint8_t> straight(uint32_t n) {
  Code code;
  for (uint32_t i = 1; i <= 8; ++i) {
    get(code, kArgument);
    set(code, i);
  }
  for (uint32_t i = 0; i < n; ++i) {
    mix_into(code, 1 + i % 8, i);
    if (i % 4 == 0) {
      code.i32(constant(i % 16384 * 4));
      get(code, 1 + i % 8);
      code.op(Opcode::I32Store, 2, 0);
    }
    if (i % 4 == 3) {
      code.i32(constant((i - 3) % 16384 * 4)).op(Opcode::I32Load, 2, 0);
      get(code, kArgument);
      code.op(Opcode::I32Xor);
      set(code, 1 + i % 8);
    }
  }
  sum_locals(code, 8);
  return module_of(code.end(), 8);
}
uint32_t straight_result(uint32_t n, uint32_t argument) {
  std::array<uint32_t, 8> local;
  local.fill(argument);
  std::vector<uint32_t> memory(16384);
  for (uint32_t i = 0; i < n; ++i) {
    local[i % 8] = mixed(local[i % 8], i);
    if (i % 4 == 0) memory[i % 16384] = local[i % 8];
    if (i % 4 == 3) local[i % 8] = memory[(i - 3) % 16384] ^ argument;
  }
  return sum_of(local);
}

// As many vectors alive as need memory, and a constant or a shuffle of its own in each statement.
constexpr uint32_t kVectors = 24;
using Lanes = std::array<uint32_t, 4>;

Lanes lanes_of(uint32_t i) {
  return {i * 0x9e3779b9, i * 0x85ebca6b, i * 0xc2b2ae35, i};
}
std::vector<uint8_t> vectors(uint32_t n) {
  Code code;
  for (uint32_t i = 1; i <= kVectors; ++i) {
    get(code, kArgument);
    code.op(Opcode::I32x4Splat);
    set(code, i);
  }
  for (uint32_t i = 0; i < n; ++i) {
    const uint32_t local = 1 + i % kVectors;
    get(code, local);
    if (i % 3 != 0) {
      code.op(Opcode::V128Const);
      for (uint32_t lane : lanes_of(i)) code.raw(Bytes().fixed(lane));
      code.op(Opcode::I32x4Add);
    } else {
      get(code, 1 + (i + 1) % kVectors);
      Bytes indices;
      for (uint32_t k = 0; k < 16; ++k) indices.byte(static_cast<uint8_t>((i * (2 * k + 1) + k) % 32));
      code.op(Opcode::I8x16Shuffle).raw(indices);
    }
    set(code, local);
  }
  get(code, 1);
  for (uint32_t i = 2; i <= kVectors; ++i) {
    get(code, i);
    code.op(Opcode::V128Xor);
  }
  ModuleBuilder module;
  code.op(Opcode::I32x4ExtractLane).raw(Bytes{0}).end();
  const uint32_t run = module.function(module.type({I32}, {I32}), {{kVectors, V128}}, code);
  module.export_("run", ExternKind::Function, run);
  return module.build();
}
uint32_t vectors_result(uint32_t n, uint32_t argument) {
  std::array<Lanes, kVectors> local;
  local.fill({argument, argument, argument, argument});
  auto byte_of = [](const Lanes& lanes, uint32_t k) { return lanes[k / 4] >> 8 * (k % 4) & 0xff; };
  for (uint32_t i = 0; i < n; ++i) {
    Lanes& lanes = local[i % kVectors];
    if (i % 3 != 0) {
      for (uint32_t k = 0; k < 4; ++k) lanes[k] += lanes_of(i)[k];
      continue;
    }
    const Lanes first = lanes, second = local[(i + 1) % kVectors];
    lanes = {};
    for (uint32_t k = 0; k < 16; ++k) {
      const uint32_t index = (i * (2 * k + 1) + k) % 32;
      lanes[k / 4] |= (index < 16 ? byte_of(first, index) : byte_of(second, index - 16)) << 8 * (k % 4);
    }
  }
  uint32_t result = 0;
  for (const Lanes& lanes : local) result ^= lanes[0];
  return result;
}

// n values on the operand stack at once.
std::vector<uint8_t> operands(uint32_t n) {
  Code code;
  for (uint32_t i = 0; i < n; ++i) {
    get(code, kArgument);
    code.i32(constant(i * 7 + 1)).op(Opcode::I32Mul);
  }
  for (uint32_t i = 1; i < n; ++i) code.op(i % 2 ? Opcode::I32Add : Opcode::I32Xor);
  return module_of(code.end(), 0);
}
uint32_t operands_result(uint32_t n, uint32_t argument) {
  uint32_t value = argument * ((n - 1) * 7 + 1);
  for (uint32_t i = 1; i < n; ++i) {
    const uint32_t below = argument * ((n - 1 - i) * 7 + 1);
    value = i % 2 ? below + value : below ^ value;
  }
  return value;
}

// One table with n targets, over 64 cases.
std::vector<uint8_t> table_targets(uint32_t n) {
  constexpr uint32_t kCases = 64;
  Code code;
  for (uint32_t i = 0; i <= kCases; ++i) code.open(Opcode::Block);
  get(code, kArgument);
  code.op(Opcode::BrTable, n);
  Bytes depths;
  for (uint32_t i = 0; i < n; ++i) depths.u32(i * 7 % kCases);
  code.raw(depths.u32(kCases));
  for (uint32_t i = 0; i < kCases; ++i) {
    code.end();
    add_to(code, 1, i + 1);
  }
  code.end();
  get(code, 1);
  return module_of(code.end(), 1);
}
uint32_t table_targets_result(uint32_t n, uint32_t argument) {
  uint32_t sum = 0;
  if (argument < n) {
    for (uint32_t i = argument * 7 % 64; i < 64; ++i) sum += i + 1;
  }
  return sum;
}

// n cases, each a block of its own, entered through one table.
std::vector<uint8_t> cases(uint32_t n) {
  Code code;
  for (uint32_t i = 0; i < n; ++i) code.open(Opcode::Block);
  get(code, kArgument);
  code.op(Opcode::BrTable, n - 1);
  Bytes depths;
  for (uint32_t i = 0; i < n; ++i) depths.u32(i);
  code.raw(depths);
  for (uint32_t i = 0; i < n; ++i) {
    code.end();
    mix_into(code, 1 + i % 16, i);
  }
  sum_locals(code, 16);
  return module_of(code.end(), 16);
}
uint32_t cases_result(uint32_t n, uint32_t argument) {
  std::array<uint32_t, 16> local{};
  for (uint32_t i = std::min(argument, n - 1); i < n; ++i) local[i % 16] = mixed(local[i % 16], i);
  return sum_of(local);
}

// Blocks in one another, each left with a value by a branch to the outermost.
std::vector<uint8_t> nested(uint32_t n) {
  Code code;
  for (uint32_t i = 0; i < n; ++i) code.open(Opcode::Block, I32);
  get(code, kArgument);
  for (uint32_t i = 0; i < n; ++i) {
    code.i32(1).op(Opcode::I32Add).op(Opcode::LocalTee, 1);
    get(code, 1);
    code.i32(constant(0x7fffff00)).op(Opcode::I32Eq).op(Opcode::BrIf, n - 1 - i).end();
  }
  return module_of(code.end(), 1);
}
uint32_t nested_result(uint32_t n, uint32_t argument) {
  return argument + n;
}

// Loops in one another; only the innermost goes round.
std::vector<uint8_t> nested_loops(uint32_t n) {
  Code code;
  for (uint32_t i = 0; i < n; ++i) code.open(Opcode::Loop);
  add_to(code, 1, 1);
  for (uint32_t i = 0; i < n; ++i) {
    add_to(code, 2, i);
    get(code, 1);
    code.i32(constant(i == 0 ? 5 : 1)).op(Opcode::I32LtU).op(Opcode::BrIf, 0).end();
  }
  get(code, 1);
  get(code, 2);
  code.op(Opcode::I32Add);
  return module_of(code.end(), 2);
}
uint32_t nested_loops_result(uint32_t n, uint32_t) {
  uint32_t sum = 5;
  for (uint32_t i = 1; i < n; ++i) sum += i;
  return sum;
}

// Loops in one another around values that only the innermost changes: they live through the ends of all.
std::vector<uint8_t> loops_around(uint32_t n) {
  Code code;
  for (uint32_t i = 0; i < n; ++i) code.open(Opcode::Loop);
  add_to(code, 1, 1);
  add_to(code, 2, 2);
  for (uint32_t i = 0; i < n; ++i) {
    get(code, 1);
    code.i32(1).op(Opcode::I32LtU).op(Opcode::BrIf, 0).end();
  }
  get(code, 1);
  get(code, 2);
  code.op(Opcode::I32Add);
  return module_of(code.end(), 2);
}
uint32_t loops_around_result(uint32_t, uint32_t) {
  return 3;
}

// Blocks in a row, each maybe left early.
std::vector<uint8_t> blocks(uint32_t n) {
  Code code;
  for (uint32_t i = 0; i < n; ++i) {
    code.open(Opcode::Block);
    get(code, kArgument);
    code.i32(constant(i % 7)).op(Opcode::I32Eq).op(Opcode::BrIf, 0);
    mix_into(code, 1 + i % 8, i);
    code.end();
  }
  sum_locals(code, 8);
  return module_of(code.end(), 8);
}
uint32_t blocks_result(uint32_t n, uint32_t argument) {
  std::array<uint32_t, 8> local{};
  for (uint32_t i = 0; i < n; ++i) {
    if (argument != i % 7) local[i % 8] = mixed(local[i % 8], i);
  }
  return sum_of(local);
}

// if ... else if ... else, n long.
std::vector<uint8_t> else_ifs(uint32_t n) {
  Code code;
  for (uint32_t i = 0; i < n; ++i) {
    get(code, kArgument);
    code.i32(constant(i)).op(Opcode::I32Eq).open(Opcode::If);
    mix_into(code, 1, i + 5);
    code.op(Opcode::Else);
  }
  for (uint32_t i = 0; i < n; ++i) code.end();
  get(code, 1);
  return module_of(code.end(), 1);
}
uint32_t else_ifs_result(uint32_t n, uint32_t argument) {
  return argument < n ? argument + 5 : 0;
}

// Every local is changed in some arm and read after it, over and over: n merges of 64 locals.
std::vector<uint8_t> merges(uint32_t n) {
  constexpr uint32_t kLocals = 64;
  Code code;
  for (uint32_t i = 0; i < n; ++i) {
    get(code, kArgument);
    code.i32(constant(1u << i % 4)).op(Opcode::I32And).open(Opcode::If);
    for (uint32_t j = 0; j < 8; ++j) add_to(code, 1 + (i * 8 + j) % kLocals, i + j);
    code.end();
    get(code, 1 + (i * 8 + 3) % kLocals);
    get(code, 1 + (i * 8 + 20) % kLocals);
    code.op(Opcode::I32Xor);
    set(code, 1 + (i * 8 + 40) % kLocals);
  }
  sum_locals(code, kLocals);
  return module_of(code.end(), kLocals);
}
uint32_t merges_result(uint32_t n, uint32_t argument) {
  std::array<uint32_t, 64> local{};
  for (uint32_t i = 0; i < n; ++i) {
    if (argument & 1u << i % 4) {
      for (uint32_t j = 0; j < 8; ++j) local[(i * 8 + j) % 64] += i + j;
    }
    local[(i * 8 + 40) % 64] = local[(i * 8 + 3) % 64] ^ local[(i * 8 + 20) % 64];
  }
  return sum_of(local);
}

// Two functions with n parameters and results that call each other once, several times in a row.
std::vector<uint8_t> parameters(uint32_t n) {
  ModuleBuilder module;
  const std::vector<ValueType> list(n, I32);
  const uint32_t run_type = module.type({I32}, {I32});
  const uint32_t wide = module.type(list, list);
  Code run;
  for (uint32_t i = 0; i < n; ++i) {
    get(run, kArgument);
    run.i32(constant(i)).op(Opcode::I32Add);
  }
  for (uint32_t i = 0; i < 4; ++i) run.op(Opcode::Call, 1);
  for (uint32_t i = 1; i < n; ++i) run.op(i % 2 ? Opcode::I32Xor : Opcode::I32Add);
  const uint32_t function = module.function(run_type, {}, run.end());
  Code reverse;
  for (uint32_t i = n; i-- > 0;) {
    get(reverse, i);
    reverse.i32(constant(i)).op(Opcode::I32Add);
  }
  module.function(wide, {}, reverse.end());
  module.export_("run", ExternKind::Function, function);
  return module.build();
}
uint32_t parameters_result(uint32_t n, uint32_t argument) {
  std::vector<uint32_t> values(n), next(n);
  for (uint32_t i = 0; i < n; ++i) values[i] = argument + i;
  for (uint32_t call = 0; call < 4; ++call) {
    for (uint32_t i = 0; i < n; ++i) next[n - 1 - i] = values[i] + i;
    std::swap(values, next);
  }
  uint32_t value = values[n - 1];
  for (uint32_t i = 1; i < n; ++i) {
    value = i % 2 ? values[n - 1 - i] ^ value : values[n - 1 - i] + value;
  }
  return value;
}

// n functions; each calls the next, and names eight others it does not call.
std::vector<uint8_t> functions(uint32_t n) {
  ModuleBuilder module;
  const uint32_t type = module.type({I32}, {I32});
  for (uint32_t i = 0; i < n; ++i) {
    Code code;
    get(code, kArgument);
    code.i32(-1).op(Opcode::I32Eq).open(Opcode::If);
    for (uint32_t j = 0; j < 8; ++j) {
      get(code, kArgument);
      code.op(Opcode::Call, (i * 31 + j * 17) % n);
      set(code, kArgument);
    }
    code.end();
    get(code, kArgument);
    code.i32(constant(i)).op(Opcode::I32Add);
    if (i + 1 < n) code.op(Opcode::Call, i + 1);
    module.function(type, {}, code.end());
  }
  module.export_("run", ExternKind::Function, 0);
  return module.build();
}
uint32_t functions_result(uint32_t n, uint32_t argument) {
  for (uint32_t i = 0; i < n; ++i) argument += i;
  return argument;
}

// Calls with values alive across them, in one function.
std::vector<uint8_t> calls(uint32_t n) {
  constexpr uint32_t kLocals = 20;
  ModuleBuilder module;
  const uint32_t type = module.type({I32}, {I32});
  Code run;
  for (uint32_t i = 0; i < n; ++i) {
    get(run, 1 + i % kLocals);
    get(run, 1 + (i + 7) % kLocals);
    run.op(Opcode::I32Add).op(Opcode::Call, 1);
    set(run, 1 + i % kLocals);
  }
  run.i32(0);
  for (uint32_t i = 0; i < kLocals; ++i) {
    get(run, 1 + i);
    run.op(Opcode::I32Add);
  }
  const uint32_t function = module.function(type, {{kLocals, I32}}, run.end());
  Code callee;  // too much of a loop to be placed in the caller
  callee.open(Opcode::Loop);
  add_to(callee, 1, 3);
  get(callee, 1);
  callee.i32(9).op(Opcode::I32LtU).op(Opcode::BrIf, 0).end();
  get(callee, 0);
  get(callee, 1);
  callee.op(Opcode::I32Xor);
  module.function(type, {{1, I32}}, callee.end());
  module.export_("run", ExternKind::Function, function);
  return module.build();
}
uint32_t calls_result(uint32_t n, uint32_t) {
  std::array<uint32_t, 20> local{};
  for (uint32_t i = 0; i < n; ++i) local[i % 20] = (local[i % 20] + local[(i + 7) % 20]) ^ 9;
  return sum_of(local);
}

// n locals, and n merges after which a few of them are read: SSA form itself could be n * n here.
std::vector<uint8_t> locals_and_merges(uint32_t n) {
  Code code;
  for (uint32_t i = 0; i < n; ++i) {
    get(code, kArgument);
    code.i32(constant(i % 5)).op(Opcode::I32Eq).open(Opcode::If);
    add_to(code, 1 + i, i);
    add_to(code, 1 + i * 7 % n, i);
    code.end();
  }
  sum_locals(code, n);
  return module_of(code.end(), n);
}
uint32_t locals_and_merges_result(uint32_t n, uint32_t argument) {
  uint32_t sum = 0;
  for (uint32_t i = 0; i < n; ++i) sum += argument == i % 5 ? 2 * i : 0;
  return sum;
}

constexpr Shape kShapes[] = {
    {"locals", "locals around a loop", 12'500, 500, locals, locals_result},
    {"straight", "statements in one block", 25'000, 3000, straight, straight_result},
    {"vectors", "statements on vectors", 12'500, 2000, vectors, vectors_result},
    {"operands", "values on the operand stack", 25'000, 1000, operands, operands_result},
    {"table-targets", "targets of one br_table", 16'000, 5000, table_targets, table_targets_result},
    {"cases", "cases of one br_table", 4000, 400, cases, cases_result},
    {"nested", "blocks in one another", 10'000, 1000, nested, nested_result},
    {"nested-loops", "loops in one another", 2500, 50, nested_loops, nested_loops_result},
    {"loops-around", "loops around the same values", 10'000, 50, loops_around, loops_around_result},
    {"blocks", "blocks in a row", 25'000, 1000, blocks, blocks_result},
    {"else-ifs", "arms of an else-if chain", 5000, 500, else_ifs, else_ifs_result},
    {"merges", "merges of 64 locals", 5000, 200, merges, merges_result},
    {"parameters", "parameters and results", 250, 1000, parameters, parameters_result},
    {"functions", "functions calling each other", 1000, 500, functions, functions_result},
    {"calls", "calls in one function", 5000, 500, calls, calls_result},
    {"locals-merges", "locals and merges", 2500, 200, locals_and_merges, locals_and_merges_result},
};

}  // namespace

std::span<const Shape> shapes() {
  return kShapes;
}

std::vector<uint8_t> large_module(uint32_t functions, uint32_t body_bytes) {
  ModuleBuilder module;
  const uint32_t type = module.type({I32}, {I32});
  Code code;
  while (code.bytes().size() + 8 < body_bytes) add_to(code, kArgument, 100);
  get(code, kArgument);
  code.end();
  for (uint32_t i = 0; i < functions; ++i) module.function(type, {}, code);
  return module.build();
}

}  // namespace wago::scale
