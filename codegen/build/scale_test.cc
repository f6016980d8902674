// Cost grows with the size of a function and nothing else: generators print a function of size n, and eight
// times as much code may take at most about eight times as long to build and to pass through level 1.
// Generated code looks like this now and then; strangers' code is made to.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "base/clock.h"
#include "codegen/build/build.h"
#include "codegen/passes/passes.h"
#include "codegen/testing/assemble.h"

namespace wago::codegen {
namespace {

std::string number(uint32_t n) {
  return std::to_string(n);
}
std::string repeat(uint32_t n, const std::function<std::string(uint32_t)>& part) {
  std::string text;
  for (uint32_t i = 0; i < n; ++i) text += part(i);
  return text;
}
std::string function(uint32_t locals, const std::string& code) {
  return "func (i32) -> (i32) (locals" + repeat(locals, [](uint32_t) { return " i32"; }) + ")\n" + code +
         "local.get 1\nend\nfunc (i32) -> (i32)\nlocal.get 0\nif (result i32)\ni32.const 3\nelse\ni32.const "
         "4\nend\nend\n";
}
// Local 1 + i % 50 becomes something new.
std::string set_one(uint32_t i) {
  return "local.get 0\ni32.const " + number(i) + "\ni32.add\nlocal.set " + number(1 + i % 50) + "\n";
}

struct Shape {
  const char* name;
  std::string (*code)(uint32_t n);
};
constexpr Shape kShapes[] = {
    {"straight line",
     [](uint32_t n) {
       return repeat(n, [](uint32_t i) { return set_one(i) + "local.get 0\ni32.load\nlocal.set 2\n"; });
     }},
    {"nested blocks, each left early",
     [](uint32_t n) {
       return repeat(n, [](uint32_t) { return std::string("block\n"); }) +
              repeat(n, [](uint32_t i) { return "local.get 0\nbr_if " + number(i) + "\n" + set_one(i); }) +
              repeat(n, [](uint32_t) { return std::string("end\n"); });
     }},
    {"one block left early n times",
     [](uint32_t n) {
       return "block\n" + repeat(n, [](uint32_t i) { return "local.get 0\nbr_if 0\n" + set_one(i % 20); }) +
              "end\n" + repeat(20, [](uint32_t i) { return "local.get " + number(1 + i) + "\ndrop\n"; });
     }},
    {"n ifs in a row",
     [](uint32_t n) {
       return repeat(n, [](uint32_t i) { return "local.get 0\nif\n" + set_one(i) + "end\n"; });
     }},
    {"n merges of one local",
     [](uint32_t n) {
       return repeat(n, [](uint32_t i) { return "local.get 0\nif\n" + set_one(50 * i) + "end\n"; });
     }},
    {"else if n times",
     [](uint32_t n) {
       return repeat(n,
                     [](uint32_t i) {
                       return "local.get 0\nif\n" + set_one(0) + "else\nlocal.get 1\ndrop\n" + set_one(i);
                     }) +
              repeat(n, [](uint32_t) { return std::string("end\n"); });
     }},
    {"nested loops",
     [](uint32_t n) {
       return repeat(n, [](uint32_t) { return std::string("loop\n"); }) + set_one(0) +
              repeat(n, [](uint32_t) { return std::string("local.get 0\nbr_if 0\nend\n"); });
     }},
    {"nested while loops",
     [](uint32_t n) {
       return repeat(n, [](uint32_t) { return std::string("block\nloop\nlocal.get 0\nbr_if 1\n"); }) +
              set_one(0) + repeat(n, [](uint32_t) { return std::string("br 0\nend\nend\n"); });
     }},
    {"n loops in a row",
     [](uint32_t n) {
       return repeat(n, [](uint32_t i) { return "loop\n" + set_one(i) + "local.get 0\nbr_if 0\nend\n"; });
     }},
    {"left n times with a value",
     [](uint32_t n) {
       return repeat(n, [](uint32_t i) {
         return "local.get 0\nlocal.get 0\ni32.const " + number(i) + "\ni32.eq\nbr_if " + "0\ndrop\n";
       });
     }},
    {"br_table to n cases",
     [](uint32_t n) {
       return repeat(n, [](uint32_t) { return std::string("block\n"); }) + "local.get 0\nbr_table" +
              repeat(n, [n](uint32_t i) { return " " + number(i % n); }) + "\n" +
              repeat(n, [](uint32_t i) { return "end\n" + set_one(i); });
     }},
    {"n small callees placed",
     [](uint32_t n) {
       return repeat(n, [](uint32_t i) {
         return "local.get 0\ncall 1\nlocal.set 1\n" + set_one(i) + set_one(i + 1) + set_one(i + 2);
       });
     }},
};

// CPU time of this thread for building and all passes, the best of three; the first run also grows the
// scratch.
uint64_t cost_ns(const std::string& text) {
  auto bytes = testing::assemble(text);
  EXPECT_TRUE(bytes.ok()) << bytes.error().message;
  auto module = runtime::decode_module(std::move(*bytes));
  EXPECT_TRUE(module.ok()) << module.error().message;
  IrBuilder builder;
  PassPipeline passes;
  IrFunction ir;
  runtime::CompileSettings settings;
  uint64_t best = ~uint64_t{0};
  for (int run = 0; run < 3; ++run) {
    const uint64_t begin = base::thread_cpu_ns();
    EXPECT_TRUE(builder.build(**module, 0, settings, ir).ok());
    passes.run(**module, settings, ir);
    best = std::min(best, base::thread_cpu_ns() - begin);
  }
  return best;
}

TEST(Scale, EightTimesTheCodeIsAboutEightTimesTheCost) {
  constexpr uint32_t kSmall = 1000, kFactor = 8;
  for (const Shape& shape : kShapes) {
    const uint64_t small = cost_ns(function(50, shape.code(kSmall)));
    const uint64_t large = cost_ns(function(50, shape.code(kSmall * kFactor)));
    // Quadratic would be 64. The rest is for caches and for what else the machine does.
    EXPECT_LT(large, small * kFactor * 4) << shape.name << ": " << small << " ns, then " << large << " ns";
  }
}

}  // namespace
}  // namespace wago::codegen
