// Tests of the engine as an embedder sees it, in each configuration that changes what code does at run time.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include <wago/wago.h>

#include "runtime/testing/module_builder.h"

namespace wago {

// For GoogleTest, which would print the bytes.
inline void PrintTo(const EngineSettings& settings, std::ostream* out) {
  *out << base::spelling(settings.bounds) << "_level_" << settings.level
       << (settings.spill_everything ? "_spilled" : "") << (settings.interruptible ? "_interruptible" : "");
}

}  // namespace wago

namespace wago::engine_test {

using runtime::Opcode;
using runtime::testing::Bytes;
using runtime::testing::Code;
using runtime::testing::ModuleBuilder;
using enum ValueType;

class EngineTest : public ::testing::TestWithParam<EngineSettings> {
 protected:
  EngineTest() : engine_(Engine::open(GetParam()).value()), linker_(engine_) {}

  Module compile(const ModuleBuilder& builder) {
    auto module = engine_.compile(builder.build());
    WAGO_CHECK_MSG(module.ok(), module.ok() ? nullptr : module.error().to_string().c_str());
    return *std::move(module);
  }
  Instance instantiate(const ModuleBuilder& builder) { return linker_.instantiate(compile(builder)).value(); }

  void define_host(const char* name, FuncType type, Function::HostBody body) {
    ASSERT_TRUE(linker_.define_host("env", name, std::move(type), std::move(body)).ok());
  }

  static std::vector<Slot> call(const Function& function, std::initializer_list<Slot> args) {
    std::vector<Slot> results(slots_of(function.type().results));
    CallResult outcome = function.call({args.begin(), args.size()}, results);
    EXPECT_TRUE(outcome.ok()) << (outcome.ok() ? "" : outcome.trap().to_string());
    return results;
  }
  static std::vector<Slot> call(const Instance& instance, const char* name,
                                std::initializer_list<Slot> args) {
    return call(instance.function(name).value(), args);
  }
  static Trap trap_of(const Instance& instance, const char* name, std::initializer_list<Slot> args) {
    Function function = instance.function(name).value();
    std::vector<Slot> results(slots_of(function.type().results));
    CallResult outcome = function.call({args.begin(), args.size()}, results);
    EXPECT_FALSE(outcome.ok()) << name << " was to trap";
    return outcome.ok() ? Trap() : outcome.trap();
  }

  // `values`, in slots of `types`, go through guest code to a host function that gives them back, and return
  // the same way; called directly, and once more through a table.
  void expect_to_pass_through(const std::vector<ValueType>& types, const std::vector<Slot>& values) {
    std::vector<Slot> seen;
    define_host("mixed", {types, types}, [&](std::span<const Slot> args, std::span<Slot> results) {
      seen.assign(args.begin(), args.end());
      std::copy(args.begin(), args.end(), results.begin());
      return std::nullopt;
    });
    ModuleBuilder module;
    const uint32_t type = module.type(types, types);
    const uint32_t host = module.import_function("env", "mixed", type);
    Code direct, indirect;
    for (uint32_t i = 0; i < types.size(); ++i) direct.op(Opcode::LocalGet, i);
    direct.op(Opcode::Call, host).end();
    const uint32_t inner = module.function(type, {}, direct);
    for (uint32_t i = 0; i < types.size(); ++i) indirect.op(Opcode::LocalGet, i);
    indirect.i32(0).op(Opcode::CallIndirect, type, module.table(FuncRef, 1)).end();
    module.elements(Code().i32(0).end(), {inner});
    module.export_("direct", ExternKind::Function, inner);
    module.export_("indirect", ExternKind::Function, module.function(type, {}, indirect));
    const Instance instance = instantiate(module);
    for (const char* name : {"direct", "indirect"}) {
      SCOPED_TRACE(name);
      seen.clear();
      std::vector<Slot> results(values.size());
      ASSERT_TRUE(instance.function(name).value().call(values, results).ok());
      EXPECT_EQ(seen, values);
      EXPECT_EQ(results, values);
    }
  }

  Engine engine_;
  Linker linker_;
};

inline std::vector<EngineSettings> configurations() {
  std::vector<EngineSettings> all;
  for (Bounds bounds : {Bounds::Signals, Bounds::Explicit}) {
    for (int level : {0, 1}) {
      EngineSettings settings;
      settings.bounds = bounds;
      settings.level = level;
      settings.verify_ir = settings.check_allocation = true;
      all.push_back(settings);
    }
  }
  all.push_back(all.back());
  all.back().spill_everything = true;
  all.push_back(all.front());
  all.back().level = 1;
  all.back().interruptible = true;
  return all;
}

inline std::string name_of(const ::testing::TestParamInfo<EngineSettings>& info) {
  return ::testing::PrintToString(info.param);
}

}  // namespace wago::engine_test
