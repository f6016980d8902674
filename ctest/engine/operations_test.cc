// Every scalar numeric instruction on every pair of operands that its implementation might treat as special,
// in every place that operands and results can have - parameter, constant, memory; value, branch, selection,
// store, comparison with zero - against an interpreter of the specification. Where a NaN comes out, any NaN
// is right.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "codegen/testing/assemble.h"
#include "codegen/testing/machine.h"
#include "engine_fixture.h"
#include "runtime/opcodes.h"

namespace wago::engine_test {
namespace {

using codegen::testing::Machine;
using codegen::testing::Outcome;
using runtime::OpcodeInfo;

const std::vector<Slot> kInts32 = {
    0,      1,      2,          7,          8,          31,         32,         0x7f,       0x80,      0xff,
    0xffff, 0x8000, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff, 0x12345678, 0xffffff80};
const std::vector<Slot> kInts64 = {0,
                                   1,
                                   3,
                                   10,
                                   63,
                                   64,
                                   0xff,
                                   0x7fffffff,
                                   0x80000000,
                                   0xffffffff,
                                   0x100000000,
                                   0xffffffff80000000,
                                   0xffffffff7fffffff,
                                   0x7fffffffffffffff,
                                   0x8000000000000000,
                                   0xfffffffffffffffe,
                                   0xffffffffffffffff,
                                   0x123456789abcdef0,
                                   0x8000008000000001,
                                   0x0020000000000001};
const double kFloats[] = {0.0,
                          1.0,
                          0.5,
                          1.5,
                          2.5,
                          0.49999999999999994,
                          4503599627370497.5,
                          2147483647.0,
                          2147483647.5,
                          2147483648.0,
                          2147483649.0,
                          4294967295.0,
                          4294967295.5,
                          4294967296.0,
                          9223372036854774784.0,
                          9223372036854775808.0,
                          18446744073709549568.0,
                          18446744073709551616.0,
                          1e300,
                          4.9406564584124654e-324,
                          1.1754943508222875e-38,
                          1e-40,
                          3.4028234663852886e38,
                          INFINITY};

std::vector<Slot> operands(ValueType type) {
  if (type == I32) return kInts32;
  if (type == I64) return kInts64;
  std::vector<Slot> all;
  for (double value : kFloats) {
    for (double x : {value, -value}) {
      if (type == F64) {
        all.push_back(std::bit_cast<uint64_t>(x));
      } else {
        all.push_back(std::bit_cast<uint32_t>(static_cast<float>(x)));
      }
    }
  }
  if (type == F64) {
    for (Slot nan : {0x7ff8000000000000, 0x7ff0000000000001}) all.push_back(nan);
    all.push_back(0xfff8000000000123);
  } else {
    for (Slot nan : {0x7fc00000, 0x7f800001}) all.push_back(nan);
    all.push_back(0xffc00123);
  }
  return all;
}

bool is_nan(ValueType type, Slot bits) {
  if (type == F32) return std::isnan(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  return type == F64 && std::isnan(std::bit_cast<double>(bits));
}

// Functions around one instruction, of parameters: its operands, and an address.
class Forms {
 public:
  explicit Forms(const OpcodeInfo& op) : op_(op) {
    std::string types;
    for (uint32_t i = 0; i < op.params; ++i) types += std::string(to_string(op.param[i])) + ", ";
    head_ = "func (" + types + "i32) -> (";
  }

  struct Form {
    ValueType result;
    uint32_t unused;  // the operand that does not matter, or ~0
  };

  void add(ValueType result, const std::string& body, uint32_t unused = ~0u) {
    text_ += head_ + to_string(result) + ")\n" + body + "end\n";
    forms_.push_back({result, unused});
  }
  std::string local(uint32_t i) const { return "local.get " + std::to_string(i) + "\n"; }
  // Stored at the address, and loaded again behind a call, so that the load stays.
  std::string store(uint32_t i) const {
    return local(op_.params) + local(i) + to_string(op_.param[i]) + ".store offset=" + std::to_string(8 * i) +
           "\n";
  }
  std::string load(uint32_t i) const {
    return local(op_.params) + to_string(op_.param[i]) + ".load offset=" + std::to_string(8 * i) + "\n";
  }
  std::string constant(ValueType type, Slot bits) const {
    return std::string(to_string(type)) + ".const " + std::to_string(static_cast<int64_t>(bits)) + "\n";
  }
  std::string op() const { return std::string(op_.text) + "\n"; }
  std::string all_locals() const {
    std::string text;
    for (uint32_t i = 0; i < op_.params; ++i) text += local(i);
    return text;
  }

  void operand_places() {
    add(op_.result, all_locals() + op());
    for (uint32_t i = 0; i < op_.params; ++i) {
      std::string text = store(i) + "call 0\n";
      for (uint32_t k = 0; k < op_.params; ++k) text += k == i ? load(k) : local(k);
      add(op_.result, text + op());
      for (Slot bits : operands(op_.param[i])) {
        text.clear();
        for (uint32_t k = 0; k < op_.params; ++k) text += k == i ? constant(op_.param[k], bits) : local(k);
        add(op_.result, text + op(), i);
      }
    }
    // The same operand twice.
    if (op_.params == 2 && op_.param[0] == op_.param[1]) add(op_.result, local(0) + local(0) + op(), 1);
  }
  void result_places() {
    const std::string value = all_locals() + op();
    const std::string type = to_string(op_.result);
    // Stored over an operand's place, and read back.
    add(op_.result, local(op_.params) + value + type + ".store offset=16\ncall 0\n" + local(op_.params) +
                        type + ".load offset=16\n");
    if (op_.result == I32) {
      add(I32, value + "if (result i32)\ni32.const 7\nelse\ni32.const 9\nend\n");
      add(I32, value + "i32.eqz\ni32.eqz\nif (result i32)\ni32.const 7\nelse\ni32.const 9\nend\n");
      add(I64, "i64.const 7\ni64.const -9\n" + value + "select\n");
      add(F64, "f64.const 7\nf64.const 9\n" + value + "select\n");
      add(I32, local(op_.params) + value + "i32.add\n");
      add(I32, local(op_.params) + value + "i32.eqz\ni32.sub\n");
      add(I64, value + "i64.extend_i32_u\n");
      add(I64, value + "i64.extend_i32_s\n");
      // Left for a later block and used there.
      add(I32, value + "local.tee " + std::to_string(op_.params) + "\nif (result i32)\ni32.const 5\nelse\n" +
                   local(op_.params) + "end\n");
    }
    if (op_.result == I64) {
      add(I32, value + "i32.wrap_i64\n");
      add(I32, value + "i64.eqz\n");
      add(I32, value + "i64.eqz\nif (result i32)\ni32.const 7\nelse\ni32.const 9\nend\n");
    }
    // Read, modify, write, where the first operand is of the result's type.
    if (op_.params == 2 && op_.param[0] == op_.result) {
      std::string text = store(0) + "call 0\n" + local(2) + load(0) + local(1) + op() + type + ".store\n";
      add(op_.result, text + "call 0\n" + load(0));
    }
  }

  // Function 0 is called between a store and a load; it is too large to be placed there.
  std::string text() const {
    std::string busy = "func () -> ()\n";
    for (int i = 0; i < 40; ++i)
      busy += "global.get 0\ni32.const 3\ni32.mul\ni32.const 1\ni32.add\nglobal.set 0\n";
    return busy + "end\n" + text_;
  }
  const std::vector<Form>& forms() const { return forms_; }

 private:
  const OpcodeInfo& op_;
  std::string head_, text_;
  std::vector<Form> forms_;
};

class Operations : public EngineTest {
 protected:
  void check(const OpcodeInfo& op) {
    Forms forms(op);
    forms.operand_places();
    forms.result_places();
    auto bytes = codegen::testing::assemble(forms.text());
    ASSERT_TRUE(bytes.ok()) << bytes.error().to_string() << forms.text();
    auto module = engine_.compile(*bytes);
    ASSERT_TRUE(module.ok()) << module.error().to_string() << forms.text();
    Instance instance = linker_.instantiate(*module).value();
    for (uint32_t f = 0; f < forms.forms().size(); ++f) {
      const Forms::Form& form = forms.forms()[f];
      Function function = instance.function(std::to_string(f + 1)).value();
      auto values = [&](uint32_t i) {
        if (form.unused == i || i >= op.params) return std::vector<Slot>{0};
        return operands(op.param[i]);
      };
      for (Slot a : values(0)) {
        for (Slot b : values(1)) {
          std::vector<Slot> args = {a};
          if (op.params == 2) args.push_back(b);
          args.push_back(64);
          run(op, module->decoded(), function, f + 1, form.result, args);
        }
      }
    }
  }

  void run(const OpcodeInfo& op, const runtime::Module& module, const Function& function, uint32_t index,
           ValueType type, const std::vector<Slot>& args) {
    Machine machine(65536);
    machine.module = &module;
    const Outcome expected = codegen::testing::interpret_wasm(module, index, args, machine);
    Slot result = 0;
    const CallResult got = function.call(args, {&result, 1});
    ++compared_;
    bool same = got.ok() == (expected.kind == Outcome::Kind::Returned);
    if (same && got.ok())
      same = result == expected.values[0] || (is_nan(type, result) && is_nan(type, expected.values[0]));
    if (same && !got.ok()) same = got.trap().code == expected.trap;
    if (same) return;
    std::string shown;
    for (Slot arg : args) shown += std::to_string(arg) + " ";
    ADD_FAILURE() << op.text << ", form " << index << ", of " << shown << ": "
                  << (got.ok() ? std::to_string(result) : got.trap().message) << ", expected "
                  << to_string(expected);
  }

  uint64_t compared_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Configurations, Operations, ::testing::ValuesIn(configurations()), name_of);

bool has_vectors(const OpcodeInfo& op) {
  return op.result == V128 || std::find(op.param, op.param + op.params, V128) != op.param + op.params;
}

TEST_P(Operations, OnInterestingOperandsInAllPlaces) {
  for (const OpcodeInfo& op : runtime::kOpcodes) {
    if (!op.text || !op.simple || op.feature != runtime::Feature::Core) continue;
    if (op.immediate != runtime::Immediate::None || op.params == 0 || op.results != 1) continue;
    if (has_vectors(op)) continue;  // vector_operations_test.cc
    check(op);
  }
  EXPECT_GT(compared_, 100'000u);
}

}  // namespace
}  // namespace wago::engine_test
