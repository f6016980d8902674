#include "runtime/instruction_text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/testing/module_builder.h"

namespace wago::runtime {
namespace {

using testing::Code;
using testing::ModuleBuilder;

std::vector<std::string> texts_of(ModuleBuilder& builder) {
  auto module = decode_module(builder.build());
  EXPECT_TRUE(module) << module.error().to_string();
  std::vector<std::string> texts;
  BodyReader reader = read_body(**module, (*module)->bodies[0]);
  for (Instruction instruction; !reader.at_end();) {
    reader.next(instruction);
    texts.push_back(text_of(**module, instruction));
  }
  return texts;
}

TEST(InstructionText, IsTheTextFormats) {
  ModuleBuilder builder;
  const uint32_t type = builder.type({ValueType::I32}, {});
  builder.memory(1);
  builder.function(type, {},
                   Code()
                       .open(Opcode::Block, ValueType::I32)
                       .op(Opcode::LocalGet, 0)
                       .end()
                       .op(Opcode::BrIf, 0)
                       .i32(-7)
                       .op(Opcode::Drop)
                       .i64(1'000'000'000'000)
                       .op(Opcode::Drop)
                       .i32(0)
                       .op(Opcode::Call, 0)
                       .end());
  EXPECT_EQ(
      texts_of(builder),
      (std::vector<std::string>{"block (result i32)", "local.get 0", "end", "br_if 0", "i32.const -7", "drop",
                                "i64.const 1000000000000", "drop", "i32.const 0", "call 0", "end"}));
}

}  // namespace
}  // namespace wago::runtime
