// Artifacts: what comes back is what was compiled, whatever else is refused with a sentence.
#include <algorithm>
#include <functional>

#include "codegen/testing/assemble.h"
#include "codegen/testing/random_wasm.h"
#include "engine_fixture.h"
#include "runtime/artifact.h"
#include "runtime/engine_data.h"

namespace wago::engine_test {
namespace {

using runtime::CodeImage;

// A bit of everything that an image has: traps, inlined calls, literals, tables, an import, two signatures.
ModuleBuilder example() {
  ModuleBuilder module;
  const uint32_t unary = module.type({I32}, {I32}), binary = module.type({F64, I64}, {F64});
  const uint32_t host = module.import_function("env", "host", unary);
  module.memory(1);
  module.table(FuncRef, 4);
  const uint32_t inner =
      module.function(unary, {}, Code().op(Opcode::LocalGet, 0).op(Opcode::I32Load, 2, 4).end());
  const uint32_t outer = module.function(
      unary, {}, Code().op(Opcode::LocalGet, 0).op(Opcode::Call, inner).i32(7).op(Opcode::I32DivS).end());
  Code loop;
  loop.open(Opcode::Loop).op(Opcode::LocalGet, 0).op(Opcode::Call, host).op(Opcode::LocalTee, 0);
  const uint32_t looping =
      module.function(unary, {}, loop.op(Opcode::BrIf, 0).end().op(Opcode::LocalGet, 0).end());
  const uint32_t mixed = module.function(binary, {},
                                         Code()
                                             .op(Opcode::LocalGet, 0)
                                             .f64(1.25)
                                             .op(Opcode::F64Add)
                                             .op(Opcode::LocalGet, 1)
                                             .op(Opcode::F64ConvertI64U)
                                             .op(Opcode::F64Mul)
                                             .end());
  module.elements(Code().i32(0).end(), {inner, outer});
  module.data(Code().i32(4).end(), std::string("\x2a\0\0\0", 4));
  module.export_("outer", ExternKind::Function, outer);
  module.export_("looping", ExternKind::Function, looping);
  module.export_("mixed", ExternKind::Function, mixed);
  return module;
}

class Artifacts : public EngineTest {
 protected:
  Artifacts() : module_(compile(example())), bytes_(module_.serialize()) {}

  std::string refusal(std::span<const uint8_t> bytes) const {
    auto loaded = Module::deserialize(engine_, bytes);
    return loaded.ok() ? "accepted" : loaded.error().to_string();
  }
  // With a right hash, as a stranger would make it.
  std::string refusal_of(const std::function<void(CodeImage&)>& change, bool of_adapter = false) const {
    const runtime::CompileSettings settings = engine_.data()->compile_settings();
    const runtime::CodeTarget& target = engine_.data()->compiler().target();
    runtime::Artifact artifact = runtime::read_artifact(bytes_, settings, target).value();
    auto& image = of_adapter ? artifact.adapters.at(0).image : artifact.image;
    CodeImage changed = *image;
    change(changed);
    EXPECT_FALSE(changed == *image) << "nothing was changed";
    image = std::make_shared<const CodeImage>(std::move(changed));
    return refusal(runtime::write_artifact(artifact, settings, target));
  }

  Module module_;
  std::vector<uint8_t> bytes_;
};
INSTANTIATE_TEST_SUITE_P(Configurations, Artifacts, ::testing::ValuesIn(configurations()), name_of);

TEST_P(Artifacts, WhatIsLoadedIsWhatWasCompiled) {
  const Engine fresh = Engine::open(GetParam()).value();
  const Module loaded = Module::deserialize(fresh, bytes_).value();
  EXPECT_TRUE(loaded.code() == module_.code());
  EXPECT_EQ(loaded.decoded().bytes, module_.decoded().bytes);
  EXPECT_EQ(loaded.serialize(), bytes_);
  for (const char* name : {"outer", "looping", "mixed"}) {
    const uint32_t index = module_.decoded().find_export(name)->index;
    auto adapter = [&](const Module& module) {
      return module.data()->adapters(module.decoded().function_types[index])->mapped->image();
    };
    EXPECT_TRUE(adapter(loaded) == adapter(module_)) << name;
  }
  Linker linker(fresh);
  ASSERT_TRUE(linker
                  .define_host("env", "host", {{I32}, {I32}},
                               [](std::span<const Slot> args, std::span<Slot> results) {
                                 results[0] = args[0] - 1;
                                 return std::optional<Trap>();
                               })
                  .ok());
  const Instance instance = linker.instantiate(loaded).value();
  EXPECT_EQ(call(instance, "outer", {0}), std::vector<Slot>{6});
  EXPECT_EQ(call(instance, "looping", {5}), std::vector<Slot>{0});
  EXPECT_EQ(call(instance, "mixed", {0x3ff0000000000000, 2}), std::vector<Slot>{0x4012000000000000});
  const Trap trap = trap_of(instance, "outer", {0x7fffffff});
  EXPECT_EQ(trap.code, TrapCode::MemoryOutOfBounds);
  EXPECT_EQ(trap.frames.size(), 2u) << trap.to_string();
}

TEST_P(Artifacts, BytesDoNotDependOnWorkersOrTime) {
  EngineSettings settings = GetParam();
  settings.workers = 3;
  settings.check_allocation = settings.verify_ir = false;
  const Engine parallel = Engine::open(settings).value();
  EXPECT_EQ(parallel.compile(example().build()).value().serialize(), bytes_);
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    auto wasm = codegen::testing::assemble(codegen::testing::random_wasm(seed)).value();
    const Module one = engine_.compile(wasm).value(), other = parallel.compile(wasm).value();
    const std::vector<uint8_t> bytes = one.serialize();
    EXPECT_EQ(other.serialize(), bytes) << seed;
    const Module loaded = Module::deserialize(engine_, bytes).value();
    EXPECT_TRUE(loaded.code() == one.code()) << seed;
  }
}

TEST_P(Artifacts, DamageIsRefusedWhereverItIs) {
  for (size_t size = 0; size < bytes_.size(); size += 1 + size / 40) {
    EXPECT_NE(refusal(std::span(bytes_).first(size)), "accepted") << size;
  }
  std::vector<uint8_t> longer = bytes_;
  longer.push_back(0);
  EXPECT_NE(refusal(longer).find("the artifact is damaged: it has "), std::string::npos) << refusal(longer);
  for (size_t at = 0; at < bytes_.size(); at += 1 + at / 40) {
    std::vector<uint8_t> damaged = bytes_;
    damaged[at] ^= 0x10;
    EXPECT_NE(refusal(damaged), "accepted") << at;
  }
  std::vector<uint8_t> damaged = bytes_;
  damaged[bytes_.size() / 2] ^= 1;
  EXPECT_EQ(refusal(damaged),
            "the artifact is damaged: its contents do not have the SHA-256 in its header: compile the module "
            "again");
  EXPECT_EQ(refusal(module_.decoded().bytes),
            "this is not a compiled module: it does not begin as artifacts do");
  damaged = bytes_;
  damaged[8] = 99;
  EXPECT_EQ(refusal(damaged),
            "the artifact has format version 99, not 4 as this program reads: compile the module again");
  damaged = bytes_;
  damaged[12] = 99;
  EXPECT_EQ(refusal(damaged).rfind("the artifact's code is for ABI version 99, not this program's ", 0), 0u);
}

TEST_P(Artifacts, OfOtherSettingsAndMachinesAreRefusedByName) {
  auto refused_by = [&](auto change) {
    EngineSettings settings = GetParam();
    change(settings);
    auto loaded = Module::deserialize(Engine::open(settings).value(), bytes_);
    return loaded.ok() ? "accepted" : loaded.error().to_string();
  };
  const std::string cure = ": open the engine with the artifact's settings, or compile the module again";
  const bool explicit_ = GetParam().bounds == Bounds::Explicit;
  EXPECT_EQ(refused_by([&](auto& s) { s.bounds = explicit_ ? Bounds::Signals : Bounds::Explicit; }),
            explicit_ ? "the artifact was compiled with bounds explicit, and this engine has signals" + cure
                      : "the artifact was compiled with bounds signals, and this engine has explicit" + cure);
  EXPECT_NE(refused_by([](auto& s) { s.level ^= 1; }).find("compiled with level "), std::string::npos);
  EXPECT_NE(refused_by([](auto& s) { s.interruptible ^= true; }).find("compiled with interruptible "),
            std::string::npos);
  EXPECT_NE(refused_by([](auto& s) { s.spill_everything ^= true; }).find("with spill_everything "),
            std::string::npos);
  EXPECT_NE(refused_by([](auto& s) { s.source_maps ^= true; }).find("with source_maps "), std::string::npos);
  EXPECT_EQ(refused_by([](auto& s) { s.workers = 2, s.verify_ir ^= true, s.code_offset = 48; }), "accepted");

  const runtime::CompileSettings settings = engine_.data()->compile_settings();
  runtime::CodeTarget target = engine_.data()->compiler().target();
  const runtime::Artifact artifact = runtime::read_artifact(bytes_, settings, target).value();
  target.name = "aarch64-linux";
  EXPECT_EQ(
      refusal(runtime::write_artifact(artifact, settings, target)),
      "the artifact was compiled with target aarch64-linux, and this engine has x86_64-linux: compile the "
      "module again on this machine");
  target = engine_.data()->compiler().target();
  target.features += " avx512f";
  EXPECT_EQ(
      refusal(runtime::write_artifact(artifact, settings, target)),
      "the artifact was compiled with processor features x86-64-v3 avx512f, and this engine has x86-64-v3: "
      "compile the module again on this machine");
}

TEST_P(Artifacts, ForgedOnesAreRefusedThoughTheirHashIsRight) {
  auto last = [](auto& list) -> auto& {
    return list.back();
  };
  const std::pair<const char*, std::function<void(CodeImage&)>> forgeries[] = {
      {"regions", [&](auto& i) { last(i.regions).size += 1; }},
      {"regions", [&](auto& i) { i.regions[0].begin = 16; }},
      {"regions", [&](auto& i) { i.regions[0].kind = runtime::RegionKind(77); }},
      {"regions", [&](auto& i) { i.regions[0].function = 1000; }},
      {"regions", [&](auto& i) { i.regions[0].function = 0; }},  // an import
      {"functions", [&](auto& i) { i.functions.pop_back(); }},
      {"functions", [&](auto& i) { i.functions[1].begin += 16; }},
      {"functions", [&](auto& i) { i.functions[1].begin = i.functions[0].begin; }},
      {"functions", [&](auto& i) { last(i.functions).size = 0x7fffffff; }},
      {"functions", [&](auto& i) { i.functions[0].function = 2; }},
      {"functions", [&](auto& i) { i.functions[0].wasm_begin += 1; }},
      {"functions", [&](auto& i) { i.entry_adapter = 4; }},
      {"trap sites", [&](auto& i) { last(i.trap_sites).offset = 0xfffffff0; }},
      {"trap sites", [&](auto& i) { std::swap(i.trap_sites[0], i.trap_sites[1]); }},
      {"trap sites", [&](auto& i) { i.trap_sites[0].code = TrapCode::Interrupted; }},
      {"source positions", [&](auto& i) { last(i.positions).offset = 0xfffffff0; }},
      {"source positions", [&](auto& i) { std::swap(i.positions.front(), i.positions.back()); }},
      {"source positions", [&](auto& i) { i.positions[0].inline_site = 1000; }},
      {"source positions", [&](auto& i) { i.positions[0].wasm_pc = 100000; }},
      {"relocations", [&](auto& i) { i.tls_fixups[0].offset = 0xfffffffe; }},
      {"relocations", [&](auto& i) { i.tls_fixups.push_back(i.tls_fixups.back()); }},
      {"relocations",
       [&](auto& i) {
         std::fill_n(i.bytes.begin() + i.tls_fixups[0].offset, 4, uint8_t{0x40});  // another's memory
       }},
      {"inline sites",
       [&](auto& i) {
         i.inline_sites.push_back({1, 0, 5000});
       }},
      {"inline sites",
       [&](auto& i) {
         const auto own = static_cast<uint32_t>(i.inline_sites.size());
         i.inline_sites.push_back({1, 0, own});  // its own parent
       }},
      {"inline sites",
       [&](auto& i) {
         i.inline_sites.push_back({0, 0, ~0u});
       }},
      {"decisions", [&](auto& i) { i.decisions = {{.function = 0}}; }},  // an import
      {"decisions",
       [&](auto& i) {
         i.decisions = {{.function = 2}, {.function = 1}};
       }},
      {"decisions", [&](auto& i) { i.decisions = {{.function = 1, .kind = base::DecisionKind(77)}}; }},
      {"decisions", [&](auto& i) { i.decisions = {{.function = 1, .wasm_pc = 100000}}; }},
      {"decisions", [&](auto& i) { i.decisions = {{.function = 1, .inline_site = 1000}}; }},
      {"decisions", [&](auto& i) { i.decisions = {{.function = 1, .callee = 1000}}; }},
      {"decisions", [&](auto& i) { i.origins = {{.function = 0}}; }},
      {"decisions",
       [&](auto& i) {
         i.origins = {{.function = 1}, {.function = 1}};
       }},
  };
  for (const auto& [what, forge] : forgeries) {
    const std::string said = refusal_of(forge);
    EXPECT_EQ(said.rfind("the artifact is damaged: its " + std::string(what), 0), 0u) << said;
  }
  EXPECT_NE(refusal_of([](auto& i) { i.host_adapter += 1; }, true), "accepted");
  EXPECT_NE(refusal_of([](auto& i) { i.entry_adapter = 1 << 20; }, true), "accepted");
  EXPECT_NE(refusal_of([](auto& i) { i.regions[0].kind = runtime::RegionKind::Body; }, true), "accepted");
}

}  // namespace
}  // namespace wago::engine_test
