// Every trap, with the stack it shows; exhaustion in all the ways there are.
#include <pthread.h>
#include <signal.h>

#include <thread>

#include "engine_fixture.h"

namespace wago::engine_test {
namespace {

class Traps : public EngineTest {};
INSTANTIATE_TEST_SUITE_P(Configurations, Traps, ::testing::ValuesIn(configurations()), name_of);

// A fault whose signal is blocked ends the process, whatever handler there is.
TEST_P(Traps, AreTrapsOnAThreadThatWasBornWithAllSignalsBlocked) {
  ModuleBuilder module;
  const uint32_t type = module.type({I32}, {I32});
  module.memory(1);
  auto add = [&](const char* name, Code code) {
    module.export_(name, ExternKind::Function, module.function(type, {}, code.end()));
  };
  add("unreachable", Code().op(Opcode::Unreachable));
  add("outside", Code().op(Opcode::LocalGet, 0).op(Opcode::I32Load, 2, 0xfffffff0));
  add("divide", Code().op(Opcode::LocalGet, 0).i32(0).op(Opcode::I32DivS));
  add("deep", Code().op(Opcode::LocalGet, 0).op(Opcode::Call, 3));
  Instance instance = instantiate(module);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread([&] {
    EXPECT_EQ(trap_of(instance, "unreachable", {1}).code, TrapCode::Unreachable);
    EXPECT_EQ(trap_of(instance, "outside", {1}).code, TrapCode::MemoryOutOfBounds);
    EXPECT_EQ(trap_of(instance, "divide", {1}).code, TrapCode::IntegerDivideByZero);
    EXPECT_EQ(trap_of(instance, "deep", {1}).code, TrapCode::StackExhausted);
    sigset_t now;
    pthread_sigmask(SIG_SETMASK, nullptr, &now);
    for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) EXPECT_EQ(sigismember(&now, signal), 0) << signal;
    for (int signal : {SIGTERM, SIGUSR1, SIGPROF}) EXPECT_EQ(sigismember(&now, signal), 1) << signal;
  });
  thread.join();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST_P(Traps, EachHasItsCodeFunctionAndPosition) {
  ModuleBuilder module;
  const uint32_t type = module.type({I32, I32}, {});
  module.memory(1);
  module.table(FuncRef, 3);
  struct Case {
    const char* name;
    TrapCode code;
    uint32_t wasm_pc;
    std::initializer_list<Slot> args;
  };
  auto add = [&](const char* name, Code& code) {
    module.export_(name, ExternKind::Function, module.function(type, {}, code.op(Opcode::Drop).end()));
  };
  auto both = [](Opcode opcode) { return Code().op(Opcode::LocalGet, 0).op(Opcode::LocalGet, 1).op(opcode); };
  auto first = [](Opcode opcode) { return Code().op(Opcode::LocalGet, 0).op(opcode); };
  Code div = both(Opcode::I32DivS), rem = both(Opcode::I32RemU);
  add("div", div);
  add("rem", rem);
  Code load = Code().op(Opcode::LocalGet, 0).op(Opcode::I32Load, 2, 0xfffffff0);
  add("load", load);
  Code trunc = first(Opcode::F32ReinterpretI32).op(Opcode::I32TruncF32S);
  add("trunc", trunc);
  Code get = Code().op(Opcode::LocalGet, 0).op(Opcode::TableGet, 0);
  add("get", get);
  Code indirect = Code().op(Opcode::LocalGet, 0).op(Opcode::LocalGet, 1).op(Opcode::LocalGet, 0);
  indirect.op(Opcode::CallIndirect, type, 0).i32(0);
  add("indirect", indirect);
  Code fill = Code().op(Opcode::LocalGet, 0).i32(1).op(Opcode::LocalGet, 1).op(Opcode::MemoryFill, 0).i32(0);
  add("fill", fill);
  Code unreachable = Code().op(Opcode::Unreachable).i32(0);
  add("unreachable", unreachable);
  const uint32_t other = module.function(module.type({}, {}), {}, Code().end());
  module.elements(Code().i32(1).end(), {other});
  Instance instance = instantiate(module);

  const Case cases[] = {
      {"div", TrapCode::IntegerDivideByZero, 5, {1, 0}},
      {"div", TrapCode::IntegerOverflow, 5, {0x80000000, 0xffffffff}},
      {"rem", TrapCode::IntegerDivideByZero, 5, {1, 0}},
      {"load", TrapCode::MemoryOutOfBounds, 3, {0x10, 0}},
      {"load", TrapCode::MemoryOutOfBounds, 3, {0xffffffff, 0}},
      {"trunc", TrapCode::InvalidConversionToInteger, 4, {0x7fc00000, 0}},
      {"trunc", TrapCode::IntegerOverflow, 4, {0x4f000000, 0}},
      {"get", TrapCode::TableOutOfBounds, 3, {3, 0}},
      {"indirect", TrapCode::UndefinedElement, 7, {3, 0}},
      {"indirect", TrapCode::UninitializedElement, 7, {0, 0}},
      {"indirect", TrapCode::IndirectCallTypeMismatch, 7, {1, 0}},
      {"fill", TrapCode::MemoryOutOfBounds, 7, {65535, 2}},
      {"unreachable", TrapCode::Unreachable, 1, {0, 0}},
  };
  for (int round = 0; round < 2; ++round) {
    for (const Case& c : cases) {
      Trap trap = trap_of(instance, c.name, c.args);
      EXPECT_EQ(trap.code, c.code) << c.name << ": " << trap.message;
      EXPECT_EQ(trap.message, base::sentence(c.code));
      ASSERT_EQ(trap.frames.size(), 1u) << trap.to_string();
      EXPECT_EQ(trap.frames[0].name, c.name);
      EXPECT_EQ(trap.frames[0].wasm_pc, c.wasm_pc) << trap.to_string();
    }
  }
  call(instance, "div", {7, 2});
  call(instance, "fill", {65535, 1});
}

TEST_P(Traps, TheWholeStackIsShownWhetherOrNotCalleesWereInlined) {
  ModuleBuilder module;
  const uint32_t type = module.type({I32}, {I32});
  const uint32_t inner =
      module.function(type, {}, Code().i32(1).op(Opcode::LocalGet, 0).op(Opcode::I32DivU).end());
  const uint32_t middle =
      module.function(type, {}, Code().op(Opcode::LocalGet, 0).op(Opcode::Call, inner).end());
  const uint32_t outer = module.function(
      type, {}, Code().op(Opcode::LocalGet, 0).op(Opcode::Call, middle).i32(1).op(Opcode::I32Add).end());
  module.export_("inner", ExternKind::Function, inner);
  module.export_("middle", ExternKind::Function, middle);
  module.export_("outer", ExternKind::Function, outer);
  Trap trap = trap_of(instantiate(module), "outer", {0});
  ASSERT_EQ(trap.frames.size(), 3u) << trap.to_string();
  const std::tuple<const char*, uint32_t> expected[] = {{"inner", 5}, {"middle", 3}, {"outer", 3}};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(trap.frames[i].name, std::get<0>(expected[i]));
    EXPECT_EQ(trap.frames[i].wasm_pc, std::get<1>(expected[i])) << trap.to_string();
  }
}

// Instances of one module, whose frames differ in nothing else.
TEST_P(Traps, FramesKnowTheirInstances) {
  ModuleBuilder thrower;
  const uint32_t nullary = thrower.type({}, {});
  thrower.export_("h", ExternKind::Function,
                  thrower.function(nullary, {}, Code().op(Opcode::Unreachable).end()));
  ModuleBuilder module;
  const uint32_t type = module.type({}, {});
  const uint32_t imported = module.import_function("other", "h", type);
  module.table(FuncRef, 1);
  const uint32_t f = module.function(type, {}, Code().op(Opcode::Call, imported).end());
  const uint32_t g = module.function(type, {}, Code().op(Opcode::Call, f).end());
  const uint32_t h = module.function(type, {}, Code().i32(0).op(Opcode::CallIndirect, type, 0).end());
  module.elements(Code().i32(0).end(), {g});
  module.export_("h", ExternKind::Function, h);
  const Module compiled = compile(module);

  std::vector<Instance> instances = {instantiate(thrower)};
  for (int i = 0; i < 2; ++i) {
    Linker linker(engine_);
    linker.define_instance("other", instances.back());
    instances.push_back(linker.instantiate(compiled).value());
  }
  Trap trap = trap_of(instances.back(), "h", {});
  const std::pair<size_t, uint32_t> expected[] = {{0, 0}, {1, f}, {1, g}, {1, h}, {2, f}, {2, g}, {2, h}};
  ASSERT_EQ(trap.frames.size(), std::size(expected)) << trap.to_string();
  for (size_t i = 0; i < std::size(expected); ++i) {
    EXPECT_EQ(trap.frames[i].function, expected[i].second) << trap.to_string();
    ASSERT_TRUE(trap.frames[i].instance());
    EXPECT_EQ(trap.frames[i].instance()->data(), instances[expected[i].first].data()) << i;
  }
  instances.clear();
  EXPECT_FALSE(trap.frames[1].instance()) << "a trap keeps nothing alive";
}

TEST_P(Traps, StackCrossesHostFunctionsAndInstances) {
  ModuleBuilder thrower;
  const uint32_t nullary = thrower.type({}, {});
  thrower.export_("throw", ExternKind::Function,
                  thrower.function(nullary, {}, Code().op(Opcode::Unreachable).end()));
  linker_.define_instance("thrower", instantiate(thrower));

  ModuleBuilder module;
  const uint32_t type = module.type({}, {});
  const uint32_t imported = module.import_function("thrower", "throw", type);
  const uint32_t host = module.import_function("env", "host", type);
  module.export_("inner", ExternKind::Function,
                 module.function(type, {}, Code().op(Opcode::Call, imported).end()));
  module.export_("outer", ExternKind::Function,
                 module.function(type, {}, Code().op(Opcode::Call, host).end()));
  std::optional<Instance> instance;
  define_host("host", {}, [&](auto, auto) -> std::optional<Trap> {
    CallResult result = instance->function("inner").value().call({}, {});
    return result.trap();
  });
  instance = instantiate(module);
  EXPECT_EQ(trap_of(*instance, "outer", {}).to_string(),
            "wago: trap: unreachable instruction executed\n"
            "  at throw (func[0], wasm pc 0x1)\n"
            "  at inner (func[2], wasm pc 0x1)\n"
            "  at env.host (host)\n"
            "  at outer (func[3], wasm pc 0x1)\n");
}

TEST_P(Traps, HostRaisedOnesCarryTheirSentence) {
  define_host("abort", {}, [](auto, auto) {
    Trap trap;
    trap.code = TrapCode::Abort;
    return trap;
  });
  ModuleBuilder module;
  const uint32_t type = module.type({}, {});
  const uint32_t host = module.import_function("env", "abort", type);
  module.export_("f", ExternKind::Function, module.function(type, {}, Code().op(Opcode::Call, host).end()));
  Trap trap = trap_of(instantiate(module), "f", {});
  EXPECT_EQ(trap.code, TrapCode::Abort);
  EXPECT_EQ(trap.to_string(),
            "wago: trap: env.abort called\n  at env.abort (host)\n  at f (func[1], wasm pc 0x1)\n");
}

// One instance that exhausts the stack in several ways: "deep" by itself, "wide" with a frame of 600 locals
// that are all live, "bounce" through the host.
class Exhaustion : public EngineTest {
 public:
  Exhaustion() {
    define_host("bounce", {{I32}, {I32}}, [this](std::span<const Slot> args, std::span<Slot> results) {
      std::optional<Trap> trap;
      CallResult inner = instance_->function("bounce").value().call(args, results);
      if (!inner) trap = inner.trap();
      return trap;
    });
    ModuleBuilder module;
    const uint32_t type = module.type({I32}, {I32});
    const uint32_t host = module.import_function("env", "bounce", type);
    const uint32_t deep = 1, wide = 2, bounce = 3;
    auto recurse = [](uint32_t function) {
      return Code()
          .op(Opcode::LocalGet, 0)
          .i32(1)
          .op(Opcode::I32Add)
          .op(Opcode::Call, function)
          .i32(1)
          .op(Opcode::I32Add);
    };
    module.function(type, {}, recurse(deep).end());
    constexpr uint32_t kLocals = 600;
    Code live;
    for (uint32_t i = 1; i <= kLocals; ++i)
      live.op(Opcode::LocalGet, 0).i32(static_cast<int32_t>(i)).op(Opcode::I32Mul).op(Opcode::LocalSet, i);
    live.op(Opcode::LocalGet, 0).op(Opcode::Call, wide);
    for (uint32_t i = 1; i <= kLocals; ++i) live.op(Opcode::LocalGet, i).op(Opcode::I32Add);
    module.function(type, {{kLocals, I32}}, live.end());
    module.function(type, {}, recurse(host).end());
    const uint32_t add =
        module.function(type, {}, Code().op(Opcode::LocalGet, 0).i32(1).op(Opcode::I32Add).end());
    module.export_("deep", ExternKind::Function, deep);
    module.export_("wide", ExternKind::Function, wide);
    module.export_("bounce", ExternKind::Function, bounce);
    module.export_("add", ExternKind::Function, add);
    instance_ = instantiate(module);
  }
  void exhaust_in_every_way() {
    for (const char* name : {"deep", "wide", "bounce", "deep"}) {
      Trap trap = trap_of(*instance_, name, {0});
      EXPECT_EQ(trap.code, TrapCode::StackExhausted) << name << ": " << trap.message;
      ASSERT_FALSE(trap.frames.empty());
      // The host function's adapter may be the one that finds no room.
      EXPECT_TRUE(trap.frames[0].name == name || (trap.frames[0].host && trap.frames[1].name == name))
          << trap.frames[0].name;
      EXPECT_EQ(call(*instance_, "add", {1})[0], 2u);
    }
  }

 private:
  std::optional<Instance> instance_;
};
INSTANTIATE_TEST_SUITE_P(Configurations, Exhaustion, ::testing::ValuesIn(configurations()), name_of);

TEST_P(Exhaustion, IsATrapOnTheMainThread) {
  exhaust_in_every_way();
}

TEST_P(Exhaustion, IsATrapOnThreadsWithSmallStacks) {
  for (size_t kib : {64, 96, 128, 400, 600, 1024, 4096}) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    ASSERT_EQ(pthread_attr_setstacksize(&attributes, kib << 10), 0);
    pthread_t thread;
    auto run = [](void* self) -> void* {
      static_cast<Exhaustion*>(self)->exhaust_in_every_way();
      return nullptr;
    };
    ASSERT_EQ(pthread_create(&thread, &attributes, run, this), 0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
  }
}

TEST_P(Exhaustion, GuestHasTheStackThatIsPromised) {
  // Level 0 frames of "deep" are the smallest there are to count by; what matters is the order of magnitude.
  uint64_t frames = 0;
  ModuleBuilder module;
  const uint32_t type = module.type({}, {});
  const uint32_t counter = module.global(I64, true, Code().i64(0).end());
  Code code;
  code.op(Opcode::GlobalGet, counter)
      .i64(1)
      .op(Opcode::I64Add)
      .op(Opcode::GlobalSet, counter)
      .op(Opcode::Call, 0);
  code.op(Opcode::GlobalGet, counter).op(Opcode::GlobalSet, counter);
  module.function(type, {}, code.end());
  module.export_("deep", ExternKind::Function, 0);
  module.export_("frames", ExternKind::Global, counter);
  Instance instance = instantiate(module);
  EXPECT_EQ(trap_of(instance, "deep", {}).code, TrapCode::StackExhausted);
  instance.global("frames").value().get({&frames, 1});
  EXPECT_GT(frames, 5000u);
  EXPECT_LT(frames, 100000u);
}

}  // namespace
}  // namespace wago::engine_test
