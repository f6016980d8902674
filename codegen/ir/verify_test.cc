// Each mistake the verifier is there for, made once. That it is content with what is right, the file tests
// show.
#include "codegen/ir/verify.h"

#include <gtest/gtest.h>

#include "codegen/ir/parse.h"

namespace wago::codegen {
namespace {

std::string verify_text(const std::string& text, const VerifyOptions& options = {}) {
  auto parsed = parse(text);
  if (!parsed) return "does not parse: " + parsed.error().message;
  return verify(parsed->ir, options);
}

TEST(Verify, UsesNeedADominatingDefinition) {
  EXPECT_EQ(verify_text(R"(function 0
block0(v0:i32):
  branch v0, block1, block2
block1:
  v1:i32 = iadd v0, v0
  jump block2
block2:
  return v1
)"),
            "block2: return v1: uses a value that does not dominate it");
  EXPECT_EQ(verify_text(R"(function 0
block0(v0:i32):
  v1:i32 = iadd v0, v2
  v2:i32 = iadd v0, v0
  return v1
)"),
            "block0: v1:i32 = iadd v0, v2: uses a value before its definition");
  EXPECT_EQ(verify_text(R"(function 0
block0(v0:i32):
  branch v0, block1(v0), block2
block1(v1:i32):
  jump block2
block2:
  return v1
)"),
            "block2: return v1: uses a parameter that does not dominate it");
}

TEST(Verify, EdgesAgreeWithParameters) {
  EXPECT_EQ(verify_text("function 0\nblock0(v0:i32):\n  jump block1\nblock1(v1:i32):\n  return v1\n"),
            "block0: an edge passes the wrong number of arguments");
  EXPECT_EQ(verify_text("function 0\nblock0(v0:i32):\n  jump block1(v0)\nblock1(v1:i64):\n  return v1\n"),
            "block0: an edge passes an argument of the wrong type");
  const std::string critical = R"(function 0
block0(v0:i32):
  branch v0, block1(v0), block2
block1(v1:i32):
  return v1
block2:
  return v0
)";
  EXPECT_EQ(verify_text(critical), "");
  EXPECT_EQ(verify_text(critical, {true}), "block0: a critical edge passes arguments");
}

TEST(Verify, BlocksEndInOneTerminator) {
  EXPECT_EQ(verify_text("function 0\nblock0(v0:i32):\n  return v0\n  v1:i32 = iadd v0, v0\n"),
            "block0: return v0: terminators end blocks");
  EXPECT_EQ(verify_text("function 0\nblock0(v0:i32):\n  v1:i32 = iadd v0, v0\n"),
            "block0: v1:i32 = iadd v0, v0: terminators end blocks");
  EXPECT_EQ(verify_text("function 0\nblock0(v0:i32):\n  jump block1\nblock1:\n"),
            "block1: has no terminator");
  EXPECT_EQ(verify_text("function 0\nblock0(v0:i32):\n  branch v0, block1\nblock1:\n  return\n"),
            "block0: branch v0, block1: needs two successors");
  EXPECT_EQ(verify_text("function 0\nblock0(v0:i32):\n  jump block1\nblock1:\n  jump block0\n"),
            "the entry has a predecessor");
}

TEST(Verify, TypesFit) {
  EXPECT_EQ(verify_text("function 0\nblock0(v0:i32, v1:i64):\n  v2:i32 = iadd v0, v1\n  return v2\n"),
            "block0: v2:i32 = iadd v0, v1: has an argument of the wrong type");
  EXPECT_EQ(verify_text("function 0\nblock0(v0:f32):\n  v1:i64 = bitcast v0\n  return v1\n"),
            "block0: v1:i64 = bitcast v0: has the wrong type");
  EXPECT_EQ(verify_text("function 0\nblock0(v0:i64):\n  branch v0, block1, block1\nblock1:\n  return\n"),
            "block0: branch v0, block1, block1: has an argument of the wrong type");
  EXPECT_EQ(verify_text("function 0 (i32) -> (i64)\nblock0(v0:i32):\n  return v0\n"),
            "block0: return v0: returns a value of the wrong type");
  EXPECT_EQ(verify_text("function 0\nblock0(v0:i32):\n  v1:i32 = iadd v0\n  return v1\n"),
            "block0: v1:i32 = iadd v0: has the wrong number of arguments");
}

TEST(Verify, VectorsFit) {
  auto verify_vector = [](const std::string& line) {
    return verify_text("function 0\nblock0(v0:v128, v1:i32, v3:i64):\n  " + line + "\n  return v2\n");
  };
  EXPECT_EQ(verify_vector("v2:v128 = viadd.i64x2 v0, v0"), "");
  EXPECT_EQ(verify_vector("v2:v128 = viadd.f64x2 v0, v0"),
            "block0: v2:v128 = viadd.f64x2 v0, v0: has a shape that the operation does not have");
  EXPECT_EQ(verify_vector("v2:v128 = viadd.i64x2 v0, v1"),
            "block0: v2:v128 = viadd.i64x2 v0, v1: has an argument of the wrong type");
  EXPECT_EQ(verify_vector("v2:v128 = vsplat.i64x2 v1"),
            "block0: v2:v128 = vsplat.i64x2 v1: has an argument of the wrong type");
  EXPECT_EQ(verify_vector("v2:i64 = vextract_u.i32x4 v0, #0"),
            "block0: v2:i64 = vextract_u.i32x4 v0, #0: has the wrong type");
  EXPECT_EQ(verify_vector("v2:i32 = vextract_u.i32x4 v0, #4"),
            "block0: v2:i32 = vextract_u.i32x4 v0, #4: names a lane that is not there");
  EXPECT_EQ(verify_vector("v2:v128 = iadd v0, v0"), "block0: v2:v128 = iadd v0, v0: has the wrong type");
  EXPECT_EQ(verify_vector("v2:v128 = load.u8 v3, v1"),
            "block0: v2:v128 = load.u8 v3, v1, #0: extends what is no integer");
  auto parsed = parse("function 0\nblock0:\n  v0:v128 = vconst #0x5\n  return v0\n");
  ASSERT_TRUE(parsed.ok());
  parsed->ir.insts[0].imm = 2;
  EXPECT_EQ(verify(parsed->ir), "block0: v0:v128 = vconst #?: has a vector that is not there");
}

TEST(Verify, PredecessorsAgreeWithEdges) {
  auto parsed = parse("function 0\nblock0(v0:i32):\n  jump block1\nblock1:\n  return\n");
  ASSERT_TRUE(parsed.ok());
  parsed->ir.block(BlockId(1)).preds.clear();
  EXPECT_EQ(verify(parsed->ir), "block1: predecessors and edges differ in number");
  parsed->ir.block(BlockId(1)).preds.push_back(BlockId(1));
  EXPECT_EQ(verify(parsed->ir), "block1: a predecessor has no edge here");
}

TEST(Verify, RemovedInstructionsAreNotUsed) {
  auto parsed = parse("function 0\nblock0(v0:i32):\n  v1:i32 = iadd v0, v0\n  return v1\n");
  ASSERT_TRUE(parsed.ok());
  parsed->ir.remove(InstId(0));
  EXPECT_EQ(verify(parsed->ir), "block0: return v1: uses the result of a removed instruction");
}

TEST(Parse, NamesTheLineOfAMistake) {
  auto message = [](const char* text) {
    auto parsed = parse(text);
    return parsed.ok() ? std::string() : parsed.error().message;
  };
  EXPECT_EQ(message("function 0\nblock0(v0:i32):\n  v1:i32 = iaddd v0, v0\n"),
            "line 3: no such operation: iaddd at \" v0, v0\"");
  EXPECT_EQ(message("function 0\nblock0(v0:i32):\n  v0:i32 = iadd v0, v0\n"),
            "line 3: v0 is defined twice at \"i32 = iadd v0, v0\"");
  EXPECT_EQ(message("function 0\nblock0:\n  return v3\n"), "v3 is used but not defined");
  EXPECT_EQ(message("function 0\nblock0:\n  trap.nonsense\n"), "line 3: not a variant of trap at \"\"");
  EXPECT_EQ(message("function 0\nblock0(v0:v128):\n  v1:v128 = vicmp.i8x16.lt v0, v0\n"),
            "line 3: not a variant of vicmp at \" v0, v0\"");
  EXPECT_EQ(message("function 0\nblock0:\n  v1:v128 = vconst #0x123456789012345678901234567890123\n"),
            "line 3: expected up to 32 hexadecimal digits at \"\"");
  EXPECT_EQ(message("  return\n"), "line 1: an instruction outside of a block at \"return\"");
  EXPECT_EQ(message("function 0\nblock9999999:\n  return\n"),
            "line 2: a number too large for a name at \":\"");
  EXPECT_EQ(message(""), "no blocks");
}

}  // namespace
}  // namespace wago::codegen
