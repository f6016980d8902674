// What the compiler says it decided, of functions for which anybody can tell.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/files.h"
#include "codegen/compile.h"
#include "codegen/llvm/disassembler.h"
#include "runtime/testing/module_builder.h"

namespace wago::codegen {
namespace {

using runtime::CodeImage;
using runtime::CompileSettings;
using runtime::Opcode;
using runtime::testing::Code;
using runtime::testing::ModuleBuilder;
using enum ValueType;
using Lines = std::vector<std::string>;

std::shared_ptr<const CodeImage> compiled(const runtime::Module& module, CompileSettings settings = {}) {
  static const std::unique_ptr<runtime::Compiler> compiler = make_compiler();
  auto image = compiler->compile(module, settings);
  EXPECT_TRUE(image.ok());
  return *image;
}

std::shared_ptr<const runtime::Module> decoded(const ModuleBuilder& builder) {
  auto module = runtime::decode_module(builder.build());
  EXPECT_TRUE(module.ok()) << module.error().to_string();
  return *module;
}

// Of one function, "1 not-inlined-large 3": wasm pc, word, callee; of inlined code with its site in front.
Lines decided(const CodeImage& image, uint32_t function) {
  Lines lines;
  for (const runtime::Decision& d : image.decisions) {
    if (d.function != function) continue;
    std::string line = d.inline_site == ~0u ? "" : "site " + std::to_string(d.inline_site) + ": ";
    line += std::to_string(d.wasm_pc) + " " + std::string(spelling(d.kind));
    if (d.callee != ~0u) line += " " + std::to_string(d.callee);
    lines.push_back(std::move(line));
  }
  return lines;
}

CompileSettings with_maps(base::Bounds bounds = base::Bounds::Signals) {
  CompileSettings settings;
  settings.bounds = bounds;
  settings.source_maps = true;
  return settings;
}

// Of (i32, i32) -> i32 with an i32 local, a memory of one page and a mutable global.
Lines decided_of(const Code& code, CompileSettings settings = with_maps()) {
  ModuleBuilder builder;
  const uint32_t type = builder.type({I32, I32}, {I32});
  builder.memory(1);
  builder.global(I32, true, Code().i32(0).end());
  builder.function(type, {{1, I32}}, code);
  return decided(*compiled(*decoded(builder), settings), 0);
}

// Local declarations take three bytes: the first instruction is at 3.
Code get(std::initializer_list<uint32_t> locals) {
  Code code;
  for (const uint32_t local : locals) code.op(Opcode::LocalGet, local);
  return code;
}

TEST(Decisions, EveryCallIsInlinedOrHasAReason) {
  ModuleBuilder builder;
  const uint32_t type = builder.type({I32}, {I32});
  const uint32_t host = builder.import_function("host", "f", type);
  builder.table(FuncRef, 1);
  const uint32_t small = builder.function(type, {}, get({0}).i32(3).op(Opcode::I32Xor).end());
  const uint32_t outer = builder.function(
      type, {},
      get({0}).op(Opcode::Call, small).op(Opcode::Call, host).i32(0).op(Opcode::CallIndirect, type, 0).end());
  Code many = get({0});
  for (int i = 0; i < 20; ++i) many.op(Opcode::LocalGet, 0).op(Opcode::I32Add);
  const uint32_t large = builder.function(type, {}, many.end());
  const uint32_t caller = builder.function(type, {},
                                           get({0})
                                               .op(Opcode::Call, small)      // at 3
                                               .op(Opcode::Call, outer)      // 5
                                               .op(Opcode::Call, large)      // 7
                                               .op(Opcode::Call, large + 1)  // 9: itself
                                               .op(Opcode::Call, host)       // 11
                                               .i32(0)
                                               .op(Opcode::CallIndirect, type, 0)  // 15
                                               .end());
  const auto module = decoded(builder);
  const auto image = compiled(*module, with_maps());
  const Lines outer_lines = {"3 inlined 1", "5 not-inlined-imported 0", "9 not-inlined-indirect"};
  EXPECT_EQ(decided(*image, outer), outer_lines);
  // The sites of `outer` and `caller` in the image: the one in `outer`, then those of `caller`, last call
  // first.
  const Lines lines = {"3 inlined 1",
                       "5 inlined 2",
                       "7 not-inlined-large 3",
                       "9 not-inlined-recursive 4",
                       "11 not-inlined-imported 0",
                       "15 not-inlined-indirect",
                       "site 1: 3 not-inlined-nested 1",
                       "site 1: 5 not-inlined-imported 0",
                       "site 1: 9 not-inlined-indirect"};
  EXPECT_EQ(decided(*image, caller), lines);
  EXPECT_EQ(decided(*image, large), Lines());
  CompileSettings level0 = with_maps();
  level0.level = 0;
  EXPECT_EQ(decided(*compiled(*module, level0), caller), Lines());
}

TEST(Decisions, ACallerTakesInWhatItsBudgetAllows) {
  ModuleBuilder builder;
  const uint32_t type = builder.type({I32}, {I32});
  Code body = get({0});
  for (int i = 0; i < 12; ++i) body.i32(1).op(Opcode::I32Xor);
  const uint32_t callee = builder.function(type, {}, body.end());  // 1 + 2 + 36 + 1 bytes
  Code calls = get({0});
  for (int i = 0; i < 15; ++i) calls.op(Opcode::Call, callee);
  const uint32_t caller = builder.function(type, {}, calls.end());
  const auto module = decoded(builder);
  ASSERT_EQ(module->bodies[callee].size, 40u);
  uint32_t inlined = 0, refused = 0;
  const auto image = compiled(*module, with_maps());
  for (const runtime::Decision& d : image->decisions) {
    if (d.function != caller || d.inline_site != ~0u) continue;
    inlined += d.kind == base::DecisionKind::Inlined;
    refused += d.kind == base::DecisionKind::NotInlinedBudget;
  }
  EXPECT_EQ(inlined, 512u / 40u);
  EXPECT_EQ(refused, 15 - 512u / 40u);
}

TEST(Decisions, ValuesThatAreKnownOrComputedBefore) {
  EXPECT_EQ(decided_of(get({0, 1})
                           .op(Opcode::I32Mul)
                           .op(Opcode::LocalGet, 0)
                           .op(Opcode::LocalGet, 1)
                           .op(Opcode::I32Mul)  // at 12
                           .op(Opcode::I32Sub)
                           .end()),
            (Lines{"7 unused", "12 numbered", "13 simplified"}));
  EXPECT_EQ(decided_of(get({0}).i32(0).op(Opcode::I32Add).end()), Lines{"7 simplified"});
  EXPECT_EQ(decided_of(get({0}).i32(8).op(Opcode::I32Mul).end()), Lines{"7 strength-reduced"});
  EXPECT_EQ(decided_of(get({0}).i32(7).op(Opcode::I32DivU).end()), Lines{"7 strength-reduced"});
  EXPECT_EQ(decided_of(get({0, 1}).op(Opcode::I32Mul).op(Opcode::Drop).op(Opcode::LocalGet, 0).end()),
            Lines{"7 unused"});
  EXPECT_EQ(decided_of(get({0})
                           .i32(1)
                           .open(Opcode::If, I32)
                           .i32(4)
                           .op(Opcode::Else)
                           .i32(5)
                           .end()
                           .op(Opcode::I32Add)
                           .end()),
            Lines{"7 branch-folded"});
}

TEST(Decisions, ReadsOfWhatIsKnown) {
  EXPECT_EQ(decided_of(get({0, 1})
                           .op(Opcode::I32Store, 2, 0)
                           .op(Opcode::LocalGet, 0)
                           .op(Opcode::I32Load, 2, 0)  // at 12
                           .end()),
            Lines{"12 load-forwarded"});
  EXPECT_EQ(decided_of(get({0}).op(Opcode::GlobalSet, 0).op(Opcode::GlobalGet, 0).end()),
            Lines{"7 global-forwarded"});
}

TEST(Decisions, ChecksThatStayAndThoseThatDoNot) {
  EXPECT_EQ(decided_of(get({0, 1}).op(Opcode::I32DivS).end()),
            (Lines{"7 zero-check-kept", "7 overflow-check-kept"}));
  EXPECT_EQ(decided_of(get({0, 1}).op(Opcode::I32RemS).end()), Lines{"7 zero-check-kept"});
  // Eight bytes at the local's address are checked, four are not again; those at 16 are in any memory of a
  // page.
  const Code loads = get({0})
                         .op(Opcode::I64Load, 3, 0)
                         .op(Opcode::I32WrapI64)
                         .op(Opcode::LocalGet, 0)
                         .op(Opcode::I32Load, 2, 4)  // at 11
                         .op(Opcode::I32Add)
                         .i32(16)
                         .op(Opcode::I32Load, 2, 0)  // 17
                         .op(Opcode::I32Add)
                         .end();
  EXPECT_EQ(decided_of(loads, with_maps(base::Bounds::Explicit)),
            (Lines{"11 bounds-check-implied", "17 bounds-check-constant"}));
  EXPECT_EQ(decided_of(loads), Lines());
}

TEST(Decisions, WhatDoesNotChangeInALoopMovesOutOfIt) {
  // local 2 += local 0 * local 1, until it is zero
  EXPECT_EQ(decided_of(Code()
                           .open(Opcode::Loop)
                           .op(Opcode::LocalGet, 2)
                           .op(Opcode::LocalGet, 0)
                           .op(Opcode::LocalGet, 1)
                           .op(Opcode::I32Mul)  // at 11
                           .op(Opcode::I32Add)
                           .op(Opcode::LocalTee, 2)
                           .op(Opcode::BrIf, 0)
                           .end()
                           .op(Opcode::LocalGet, 2)
                           .end()),
            Lines{"11 hoisted"});
}

TEST(Decisions, SayFromHowMuchAFunctionWasMade) {
  ModuleBuilder builder;
  const uint32_t type = builder.type({I32}, {I32});
  const uint32_t small = builder.function(type, {}, get({0}).i32(3).op(Opcode::I32Xor).end());
  const uint32_t caller = builder.function(type, {}, get({0}).op(Opcode::Call, small).end());
  const auto image = compiled(*decoded(builder), with_maps());
  // A constant, the xor, a return; a call and a return, and of the callee all but its return.
  EXPECT_EQ(image->origins, (std::vector<runtime::CodeOrigin>{{small, 3, 0}, {caller, 2, 2}}));
}

// Alignment is no spill and no move, wherever it stands; how much of it there is.
size_t nops_of_nothing(const CodeImage& image, const std::string& what) {
  size_t nops = 0;
  auto site = image.emitted_sites.begin();
  for (const Disassembled& inst : Disassembler().disassemble(image.bytes)) {
    while (site != image.emitted_sites.end() && site + 1 != image.emitted_sites.end() &&
           (site + 1)->offset <= inst.offset) {
      ++site;
    }
    if (!inst.text.starts_with("nop")) continue;
    ++nops;
    EXPECT_EQ(site->kind, runtime::SiteKind::None) << what << " at " << inst.offset;
  }
  return nops;
}

// Every bundled module, at both levels and with both kinds of bounds.
TEST(Decisions, AskingChangesNoCodeAndWorkersNoDecisions) {
  size_t modules = 0, decisions = 0, nops = 0;
  for (const auto& entry : std::filesystem::directory_iterator(WAGO_SOURCE_DIR "/corpora")) {
    if (entry.path().extension() != ".wasm") continue;
    auto bytes = base::system_files().read(entry.path().string(), uint64_t{1} << 24);
    ASSERT_TRUE(bytes.ok());
    auto module = runtime::decode_module(*std::move(bytes));
    ASSERT_TRUE(module.ok()) << entry.path();
    ++modules;
    for (const base::Bounds bounds : {base::Bounds::Signals, base::Bounds::Explicit}) {
      for (const int level : {0, 1}) {
        CompileSettings settings = with_maps(bounds);
        settings.level = level;
        const auto with = compiled(**module, settings);
        settings.workers = 2;
        EXPECT_TRUE(*compiled(**module, settings) == *with) << entry.path();
        settings.source_maps = false;
        const auto without = compiled(**module, settings);
        EXPECT_TRUE(without->bytes == with->bytes) << entry.path() << " at level " << level;
        EXPECT_TRUE(without->functions == with->functions) << entry.path();
        EXPECT_TRUE(without->decisions.empty() && without->origins.empty());
        EXPECT_EQ(with->origins.size(), with->functions.size());
        nops += nops_of_nothing(*with, entry.path().string());
        decisions += with->decisions.size();
      }
    }
  }
  EXPECT_GE(modules, 30u);
  EXPECT_GE(decisions, 1000u);
  EXPECT_GE(nops, 100u);
}

}  // namespace
}  // namespace wago::codegen
