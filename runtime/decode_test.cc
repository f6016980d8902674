#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/byte_cursor.h"
#include "runtime/code_reader.h"
#include "runtime/decode_limits.h"
#include "runtime/module.h"
#include "runtime/testing/module_builder.h"

namespace wago::runtime {
namespace {

using testing::Bytes;
using testing::Code;
using testing::ModuleBuilder;
using testing::Section;
using enum ValueType;

std::shared_ptr<const Module> accepted(const ModuleBuilder& builder) {
  auto module = decode_module(builder.build());
  EXPECT_TRUE(module.ok()) << module.error().to_string();
  return module.ok() ? *module : nullptr;
}

std::string refusal(std::vector<uint8_t> bytes, const DecodeOptions& options = {}) {
  auto module = decode_module(std::move(bytes), options);
  return module.ok() ? "accepted" : module.error().to_string();
}
std::string refusal(const ModuleBuilder& builder, const DecodeOptions& options = {}) {
  return refusal(builder.build(), options);
}

// --- what is read

TEST(Decode, EmptyModule) {
  auto module = accepted(ModuleBuilder());
  ASSERT_TRUE(module);
  EXPECT_EQ(module->function_count(), 0u);
  EXPECT_EQ(module->bytes.size(), 8u);
  EXPECT_FALSE(module->has_data_count);
}

TEST(Decode, IndexSpacesPutImportsFirst) {
  ModuleBuilder builder;
  const uint32_t unary = builder.type({I32}, {I64});
  const uint32_t nullary = builder.type({}, {});
  builder.import_function("env", "f", unary);
  builder.import_table("env", "t", ExternRef, 5);
  builder.import_memory("env", "m", 3);
  builder.import_global("env", "g", F64);
  builder.function(nullary, {}, Code().end());
  builder.table(FuncRef, 1, 2);
  builder.global(I64, true, Code().i64(-9).end());
  auto module = accepted(builder);
  ASSERT_TRUE(module);

  EXPECT_EQ(module->function_types, (std::vector<uint32_t>{unary, nullary}));
  EXPECT_EQ(module->imported_functions, 1u);
  ASSERT_EQ(module->bodies.size(), 1u);
  EXPECT_EQ(module->bodies[0].type_index, nullary);
  ASSERT_EQ(module->tables.size(), 2u);
  EXPECT_EQ(module->tables[0], (TableType{ExternRef, {5, std::nullopt}}));
  EXPECT_EQ(module->tables[1], (TableType{FuncRef, {1, 2}}));
  EXPECT_EQ(module->imported_tables, 1u);
  ASSERT_EQ(module->memories.size(), 1u);
  EXPECT_EQ(module->memories[0], (MemoryType{{3, std::nullopt}}));
  EXPECT_EQ(module->imported_memories, 1u);
  ASSERT_EQ(module->globals.size(), 2u);
  EXPECT_EQ(module->globals[0].type, (GlobalType{F64, false}));
  EXPECT_EQ(module->globals[1].type, (GlobalType{I64, true}));
  EXPECT_EQ(module->globals[1].init.bits[0], static_cast<uint64_t>(-9));
  EXPECT_EQ(module->imported_globals, 1u);
  EXPECT_EQ(to_string(module->type_of_function(0)), "(i32) -> (i64)");
  EXPECT_EQ(module->imports[2].kind, ExternKind::Memory);
  EXPECT_EQ(module->imports[2].module, "env");
  EXPECT_EQ(module->imports[2].name, "m");
}

TEST(Decode, BodyKnowsItsBytesLocalsAndSizes) {
  ModuleBuilder builder;
  const uint32_t type = builder.type({I32}, {I32});
  builder.function(type, {{2, I64}, {0, F32}, {1, ExternRef}},
                   Code()
                       .open(Opcode::Block, I32)
                       .i32(1)
                       .i32(2)
                       .op(Opcode::LocalGet, 0)
                       .op(Opcode::I32Add)
                       .op(Opcode::I32Add)
                       .end()
                       .end());
  builder.function(type, {}, Code().op(Opcode::LocalGet, 0).op(Opcode::Call, 0).end());
  auto module = accepted(builder);
  ASSERT_TRUE(module);
  const FunctionBody& body = module->bodies[0];
  EXPECT_EQ(body.locals, (std::vector<ValueType>{I64, I64, ExternRef}));
  EXPECT_EQ(body.code_begin - body.begin, 7u);
  EXPECT_EQ(module->bytes[body.begin], 3);                     // groups of locals
  EXPECT_EQ(module->bytes[body.begin + body.size - 1], 0x0b);  // end
  EXPECT_EQ(module->bytes[body.begin - 1], body.size);
  EXPECT_EQ(body.max_stack, 3u);
  EXPECT_EQ(body.max_control, 2u);
  EXPECT_FALSE(body.calls);
  EXPECT_TRUE(module->bodies[1].calls);
}

TEST(Decode, ConstantExpressionsOfEveryKind) {
  ModuleBuilder builder;
  const uint32_t type = builder.type({}, {});
  builder.import_global("m", "offset", I32);
  builder.function(type, {}, Code().end());
  builder.global(I32, false, Code().i32(-1).end());
  builder.global(F32, false, Code().f32(1.0f).end());
  builder.global(F64, false, Code().f64(-2.0).end());
  builder.global(I32, false, Code().op(Opcode::GlobalGet, 0).end());
  builder.global(FuncRef, false, Code().op(Opcode::RefFunc, 0).end());
  builder.global(ExternRef, false, Code().ref_null(ExternRef).end());
  auto module = accepted(builder);
  ASSERT_TRUE(module);
  auto init = [&](size_t i) { return module->globals[1 + i].init; };
  EXPECT_EQ(init(0).bits[0], 0xffffffffu);  // zero-extended
  EXPECT_EQ(init(1).bits[0], 0x3f800000u);
  EXPECT_EQ(init(2).bits[0], 0xc000000000000000u);
  EXPECT_EQ(init(3).kind, ConstExpr::Kind::GlobalGet);
  EXPECT_EQ(init(3).index, 0u);
  EXPECT_EQ(init(4).kind, ConstExpr::Kind::RefFunc);
  EXPECT_EQ(init(5).kind, ConstExpr::Kind::RefNull);
  EXPECT_EQ(init(5).type, ExternRef);
}

TEST(Decode, ElementSegmentsOfEveryEncoding) {
  ModuleBuilder builder;
  const uint32_t type = builder.type({}, {});
  for (int i = 0; i < 3; ++i) builder.function(type, {}, Code().end());
  builder.table(ExternRef, 1);
  builder.table(FuncRef, 9);
  const Bytes zero = Code().i32(0).end().bytes();
  const Bytes item = Code().op(Opcode::RefFunc, 2).end().bytes();
  const Bytes null = Code().ref_null(FuncRef).end().bytes();
  builder.raw_elements(Bytes{0x01, 0x00, 1, 1});                               // passive, functions
  builder.raw_elements(Bytes{0x02, 0x01}.raw(zero).raw({0x00, 2, 0, 1}));      // active in table 1
  builder.raw_elements(Bytes{0x03, 0x00, 1, 0});                               // declarative
  builder.raw_elements(Bytes{0x05, 0x70, 2}.raw(item).raw(null));              // passive, expressions
  builder.raw_elements(Bytes{0x06, 0x01}.raw(zero).raw({0x70, 1}).raw(item));  // active, expressions
  builder.raw_elements(Bytes{0x07, 0x6f, 0});                                  // declarative, of externref
  auto module = accepted(builder);
  ASSERT_TRUE(module);
  ASSERT_EQ(module->elements.size(), 6u);
  using Mode = ElementSegment::Mode;
  const Mode modes[] = {Mode::Passive, Mode::Active, Mode::Declarative,
                        Mode::Passive, Mode::Active, Mode::Declarative};
  const size_t sizes[] = {1, 2, 1, 2, 1, 0};
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(module->elements[i].mode, modes[i]) << i;
    EXPECT_EQ(module->elements[i].items.size(), sizes[i]) << i;
  }
  EXPECT_EQ(module->elements[1].table, 1u);
  EXPECT_EQ(module->elements[1].items[1].index, 1u);
  EXPECT_EQ(module->elements[3].items[0].index, 2u);
  EXPECT_EQ(module->elements[3].items[1].kind, ConstExpr::Kind::RefNull);
  EXPECT_EQ(module->elements[5].type, ExternRef);
}

TEST(Decode, DataSegmentsPointIntoTheModule) {
  ModuleBuilder builder;
  builder.memory(1);
  builder.data(Code().i32(40).end(), "active");
  builder.passive_data("passive");
  builder.data_count(2);
  auto module = accepted(builder);
  ASSERT_TRUE(module);
  ASSERT_EQ(module->data.size(), 2u);
  auto contents = [&](const DataSegment& segment) {
    return std::string(module->bytes.begin() + segment.begin,
                       module->bytes.begin() + segment.begin + segment.size);
  };
  EXPECT_TRUE(module->data[0].active);
  EXPECT_EQ(module->data[0].offset.bits[0], 40u);
  EXPECT_EQ(contents(module->data[0]), "active");
  EXPECT_FALSE(module->data[1].active);
  EXPECT_EQ(contents(module->data[1]), "passive");
  EXPECT_TRUE(module->has_data_count);
}

TEST(Decode, ReferencedFunctionsAreThoseWhoseAddressCanBeTaken) {
  ModuleBuilder builder;
  const uint32_t type = builder.type({}, {});
  for (int i = 0; i < 6; ++i) builder.function(type, {}, Code().end());
  builder.table(FuncRef, 1);
  builder.global(FuncRef, false, Code().op(Opcode::RefFunc, 1).end());
  builder.export_("two", ExternKind::Function, 2);
  builder.start(3);
  builder.passive_elements({4});
  auto module = accepted(builder);
  ASSERT_TRUE(module);
  constexpr uint32_t kNone = Module::kNotReferenced;
  EXPECT_EQ(module->reference_indices, (std::vector<uint32_t>{kNone, 0, 1, 2, 3, kNone}));
  EXPECT_EQ(module->reference_count, 4u);
  EXPECT_EQ(module->start, 3u);
}

// --- names

TEST(DecodeNames, ExportsAreFoundByName) {
  ModuleBuilder builder;
  const uint32_t type = builder.type({}, {});
  builder.function(type, {}, Code().end());
  builder.memory(1);
  builder.export_("run", ExternKind::Function, 0);
  builder.export_("", ExternKind::Memory, 0);
  builder.export_("memory", ExternKind::Memory, 0);
  auto module = accepted(builder);
  ASSERT_TRUE(module);
  EXPECT_EQ(module->find_export("run"), &module->exports[0]);
  EXPECT_EQ(module->find_export(""), &module->exports[1]);
  EXPECT_EQ(module->find_export("memory"), &module->exports[2]);
  EXPECT_EQ(module->find_export("memor"), nullptr);
  EXPECT_EQ(module->find_export("zzz"), nullptr);
}

TEST(DecodeNames, NameSectionThenExportThenIndex) {
  ModuleBuilder builder;
  const uint32_t type = builder.type({}, {});
  for (int i = 0; i < 3; ++i) builder.function(type, {}, Code().end());
  builder.export_("exported as zero", ExternKind::Function, 0);
  builder.export_("exported as one", ExternKind::Function, 1);
  builder.export_("again", ExternKind::Function, 1);
  const Bytes functions = Bytes{1}.u32(0).name("named");
  builder.custom("name", Bytes{0x00}.sized(Bytes().name("the module")).byte(0x01).sized(functions));
  auto module = accepted(builder);
  ASSERT_TRUE(module);
  EXPECT_EQ(module->name, "the module");
  EXPECT_TRUE(module->has_function_names());
  EXPECT_EQ(module->function_name(0), "named");
  EXPECT_EQ(module->function_name(1), "exported as one");
  EXPECT_EQ(module->function_name(2), "func[2]");
}

TEST(DecodeNames, DamageCostsTheNamesBehindItOnly) {
  ModuleBuilder builder;
  const uint32_t type = builder.type({}, {});
  for (int i = 0; i < 3; ++i) builder.function(type, {}, Code().end());
  Bytes functions = Bytes{3}.u32(0).name("good").u32(77).name("no such function").u32(1);
  functions.u32(2).byte(0xff).byte(0xfe);  // not UTF-8
  builder.custom("name", Bytes{0x01}.sized(functions));
  auto module = accepted(builder);
  ASSERT_TRUE(module);
  EXPECT_EQ(module->function_name(0), "good");
  EXPECT_EQ(module->function_name(1), "func[1]");
  EXPECT_EQ(module->name, "");
}

TEST(DecodeNames, EveryTruncationOfTheNameSectionIsAccepted) {
  const Bytes functions = Bytes{2}.u32(0).name("zero").u32(1).name("one");
  const Bytes whole = Bytes{0x00}.sized(Bytes().name("module")).byte(0x01).sized(functions);
  for (size_t size = 0; size <= whole.size(); ++size) {
    ModuleBuilder builder;
    const uint32_t type = builder.type({}, {});
    for (int i = 0; i < 2; ++i) builder.function(type, {}, Code().end());
    std::vector<uint8_t> part = whole.get();
    part.resize(size);
    builder.custom("name", Bytes(part));
    auto module = accepted(builder);
    ASSERT_TRUE(module);
    EXPECT_EQ(module->function_name(1), size == whole.size() ? "one" : "func[1]");
  }
}

TEST(DecodeNames, CustomSectionsAreListed) {
  ModuleBuilder builder;
  builder.custom("first", Bytes{1, 2, 3});
  builder.custom("second", Bytes{});
  auto module = accepted(builder);
  ASSERT_TRUE(module);
  ASSERT_EQ(module->customs.size(), 2u);
  EXPECT_EQ(module->customs[0].name, "first");
  EXPECT_EQ(module->customs[0].size, 3u);
  EXPECT_EQ(module->bytes[module->customs[0].begin], 1);
  EXPECT_EQ(module->customs[1].size, 0u);
}

// --- what is refused

TEST(DecodeErrorsTest, SayWhereAndWhat) {
  EXPECT_EQ(refusal(std::vector<uint8_t>{}), "header at offset 0x0: the module is empty: unexpected end");
  EXPECT_EQ(refusal(std::vector<uint8_t>{0, 'a', 's'}),
            "header at offset 0x3: unexpected end of section or function");
  EXPECT_EQ(refusal({0, 'a', 's', 'm', 2, 0, 0, 0}),
            "header at offset 0x4: unknown binary version 2, only version 1 is known");
  EXPECT_EQ(refusal({0, 'a', 's', 'm', 13, 0, 1, 0}),
            "header at offset 0x4: unknown binary version 65549 (a component, not a module), only version 1 "
            "is known");
  EXPECT_EQ(
      refusal({0, 'a', 's', 'm', 1, 0, 0, 0, 1, 0x7f, 0}),
      "section header at offset 0x9: length out of bounds: 127 bytes announced, unexpected end after 1");
}

TEST(DecodeErrorsTest, EveryTruncationOfAModuleIsRefusedOrEndsBetweenSections) {
  ModuleBuilder builder;
  const uint32_t type = builder.type({I32}, {I32});
  builder.import_function("env", "f", type);
  builder.memory(1, 2);
  builder.global(I64, true, Code().i64(1LL << 40).end());
  builder.export_("f", ExternKind::Function, 0);
  builder.data(Code().i32(0).end(), "data");
  const std::vector<uint8_t> whole = builder.build();
  size_t accepted_sizes = 0;
  for (size_t size = 0; size < whole.size(); ++size) {
    auto module = decode_module({whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size)});
    if (module.ok()) {
      ++accepted_sizes;
    } else {
      EXPECT_LE(module.error().place.offset.value(), size);
    }
  }
  EXPECT_EQ(accepted_sizes, 6u);  // after the header and after each section but the last
}

TEST(DecodeErrorsTest, DuplicateExportNamesTheSecondOccurrence) {
  ModuleBuilder builder;
  builder.memory(1);
  builder.export_("a", ExternKind::Memory, 0);
  builder.export_("b\n", ExternKind::Memory, 0);
  builder.export_("b\n", ExternKind::Memory, 0);
  builder.export_("a", ExternKind::Memory, 0);
  EXPECT_EQ(refusal(builder), "export section at offset 0x19: duplicate export name \"b\\x0a\"");
}

TEST(DecodeErrorsTest, FeaturesThatAreNotBuiltAreRefusedByName) {
  auto with_code = [](const Code& code) {
    ModuleBuilder builder;
    builder.function(builder.type({}, {}), {}, code);
    return refusal(builder);
  };
  EXPECT_NE(with_code(Code().op(Opcode::I32x4RelaxedTruncF32x4S).end()).find("relaxed SIMD instruction"),
            std::string::npos);
  EXPECT_NE(
      with_code(Code().op(Opcode::ReturnCall, 0).end()).find("tail calls instruction return_call is not"),
      std::string::npos);
  EXPECT_NE(with_code(Code().op(Opcode::TryTable).end()).find("exceptions instruction try_table is not"),
            std::string::npos);
  EXPECT_NE(
      with_code(Code().op(Opcode::StructNew).end()).find("garbage collection instruction struct.new is not"),
      std::string::npos);
  EXPECT_NE(
      with_code(Code().op(Opcode::I32AtomicLoad).end()).find("threads instruction i32.atomic.load is not"),
      std::string::npos);

  for (auto [flags, name] : {std::pair{0x02, "shared memory"}, {0x03, "shared memory"}, {0x04, "memory64"}}) {
    ModuleBuilder memory;
    memory.section(Section::Memory, Bytes{1, flags, 1, 1});
    EXPECT_NE(refusal(memory).find(name), std::string::npos) << refusal(memory);
  }
  ModuleBuilder extended;
  extended.section(Section::Global, Bytes{1, 0x7f, 0, 0x41, 1, 0x41, 2, 0x6a, 0x0b});
  EXPECT_NE(
      refusal(extended).find("i32.add is not constant, the proposal extended-const is not supported yet"),
      std::string::npos)
      << refusal(extended);
  ModuleBuilder two_memories;
  two_memories.memory(1);
  two_memories.memory(1);
  EXPECT_NE(refusal(two_memories).find("multi-memory is not supported yet"), std::string::npos);
}

TEST(DecodeErrorsTest, CountsThatTheBytesCannotHoldAreRefusedWithoutAllocating) {
  for (Section id : {Section::Type, Section::Import, Section::Function, Section::Table, Section::Global,
                     Section::Export, Section::Element, Section::Data}) {
    for (uint32_t count : {0xffffffffu, 99999u}) {
      ModuleBuilder builder;
      builder.type({}, {});
      builder.section(id, Bytes().u32(count));
      const std::string message = refusal(builder);
      EXPECT_TRUE(message.find("too many") != std::string::npos ||
                  message.find("unexpected end") != std::string::npos)
          << message;
    }
  }
}

TEST(DecodeLimits, EachIsRefusedByName) {
  auto body = [](const Bytes& bytes) {
    ModuleBuilder builder;
    builder.raw_function(builder.type({}, {}), bytes);
    return builder;
  };
  DecodeOptions options;
  options.max_locals = 10;
  EXPECT_EQ(refusal(body(Bytes{2, 6, 0x7f, 4, 0x7e, 0x0b}), options), "accepted");
  EXPECT_EQ(refusal(body(Bytes{2, 6, 0x7f, 5, 0x7e, 0x0b}), options),
            "code section at offset 0x19: too many locals: 11, the limit is 10, in func[0]");
  options.max_function_bytes = 3;
  EXPECT_NE(
      refusal(body(Bytes{0, 1, 1, 0x0b}), options).find("too many bytes in the function: 4, the limit is 3"),
      std::string::npos);
  options.max_module_bytes = 7;
  EXPECT_NE(refusal(ModuleBuilder(), options).find("too many bytes in the module: 8, the limit is 7"),
            std::string::npos);
  options = {};
  options.max_functions = 1;
  ModuleBuilder functions;
  const uint32_t type = functions.type({}, {});
  functions.import_function("m", "f", type);
  EXPECT_EQ(refusal(functions, options), "accepted");
  functions.function(type, {}, Code().end());
  EXPECT_NE(refusal(functions, options).find("too many functions: 2, the limit is 1"), std::string::npos);

  ModuleBuilder parameters;
  parameters.type(std::vector<ValueType>(kMaxParams + 1, I32), {});
  EXPECT_NE(refusal(parameters).find("too many parameters: 1001, the limit is 1000"), std::string::npos);
  ModuleBuilder table;
  table.table(FuncRef, kMaxTableEntries + 1);
  EXPECT_NE(refusal(table).find("too many table entries: 10000001, the limit is 10000000"),
            std::string::npos);
  ModuleBuilder name;
  name.custom(std::string(kMaxNameBytes + 1, 'n'), Bytes{});
  EXPECT_NE(refusal(name).find("too many bytes in a custom section's name"), std::string::npos);
}

TEST(DecodeLimits, LocalsOfAllFunctionsTogether) {
  ModuleBuilder builder;
  const uint32_t type = builder.type({}, {});
  for (uint32_t i = 0; i <= kMaxModuleLocals / 50000; ++i) {
    builder.function(type, {{50000, I32}}, Code().end());
  }
  EXPECT_NE(refusal(builder).find(
                "too many locals in all functions: 50050000, the limit is 50000000, in func[1000]"),
            std::string::npos);
}

// --- primitives

TEST(CheckedCursorTest, IntegersAtTheirLimits) {
  struct Case {
    Bytes bytes;
    int64_t value;
    const char* error;
  };
  auto check = [](const std::vector<Case>& cases, auto read) {
    for (const Case& c : cases) {
      DecodeErrors errors;
      CheckedCursor in(c.bytes.get(), 0, static_cast<uint32_t>(c.bytes.size()), &errors);
      const int64_t value = read(in);
      if (c.error == nullptr) {
        EXPECT_FALSE(in.failed());
        EXPECT_TRUE(in.at_end());
        EXPECT_EQ(value, c.value);
      } else {
        ASSERT_TRUE(errors.any());
        EXPECT_NE(errors.take().message.find(c.error), std::string::npos);
        EXPECT_TRUE(in.failed() && in.at_end());
      }
    }
  };
  const char* too_long = "integer representation too long";
  const char* too_large = "integer too large";
  const char* end = "unexpected end";
  check({{{0x00}, 0, nullptr},
         {{0x7f}, 127, nullptr},
         {{0x80, 0x80, 0x80, 0x80, 0x00}, 0, nullptr},
         {{0xff, 0xff, 0xff, 0xff, 0x0f}, 0xffffffff, nullptr},
         {{0xff, 0xff, 0xff, 0xff, 0x1f}, 0, too_large},
         {{0x80, 0x80, 0x80, 0x80, 0x80}, 0, too_long},
         {{0x80}, 0, end},
         {{}, 0, end}},
        [](CheckedCursor& in) { return int64_t{in.u32()}; });
  check({{{0x7f}, -1, nullptr},
         {{0x40}, -64, nullptr},
         {{0x3f}, 63, nullptr},
         {{0xff, 0xff, 0xff, 0xff, 0x07}, INT32_MAX, nullptr},
         {{0x80, 0x80, 0x80, 0x80, 0x78}, INT32_MIN, nullptr},
         {{0xff, 0xff, 0xff, 0xff, 0x7f}, -1, nullptr},
         {{0xff, 0xff, 0xff, 0xff, 0x0f}, 0, too_large},
         {{0x80, 0x80, 0x80, 0x80, 0x70}, 0, too_large},
         {{0xff, 0xff, 0xff, 0xff, 0xff}, 0, too_long},
         {{0xff, 0xff}, 0, end}},
        [](CheckedCursor& in) { return int64_t{in.s32()}; });
  check({{{0x7f}, -1, nullptr},
         {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x00}, INT64_MAX, nullptr},
         {{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f}, INT64_MIN, nullptr},
         {{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7e}, 0, too_large},
         {{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80}, 0, too_long}},
        [](CheckedCursor& in) { return in.s64(); });
}

TEST(CheckedCursorTest, BlockTypes) {
  auto read = [](const Bytes& bytes, bool& failed) {
    DecodeErrors errors;
    CheckedCursor in(bytes.get(), 0, static_cast<uint32_t>(bytes.size()), &errors);
    BlockType type = in.block_type();
    failed = in.failed();
    return type;
  };
  Module module;
  module.types.resize(128);
  module.types[127] = FuncType{{I32, F32}, {F64}};
  bool failed;
  EXPECT_TRUE(read({0x40}, failed).results(module).empty());
  BlockType one = read({0x6f}, failed);
  EXPECT_EQ(one.results(module).size(), 1u);
  EXPECT_EQ(one.results(module)[0], ExternRef);
  EXPECT_TRUE(one.params(module).empty());
  BlockType indexed = read({0xff, 0x00}, failed);
  ASSERT_TRUE(indexed.has_index());
  EXPECT_EQ(indexed.index(), 127u);
  EXPECT_EQ(indexed.params(module).size(), 2u);
  EXPECT_EQ(indexed.results(module)[0], F64);
  EXPECT_FALSE(failed);
  for (const Bytes& bad : {Bytes{0x7a}, Bytes{0x41}, Bytes{0xff, 0x7f}, Bytes{0xc0, 0x7f}, Bytes{}}) {
    read(bad, failed);
    EXPECT_TRUE(failed);
  }
  read({0xff, 0xff, 0xff, 0xff, 0x0f}, failed);  // 2^32 - 1: a type index, if an unlikely one
  EXPECT_FALSE(failed);
}

TEST(Utf8, StrictForms) {
  for (const char* good : {"", "plain", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_TRUE(is_utf8(good)) << good;
  }
  for (const char* bad :
       {"\x80", "\xc3", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
        "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80", "\xe2\x82", "\xe2\x28\xa1"}) {
    EXPECT_FALSE(is_utf8(bad)) << bad;
  }
}

// --- the opcode table and the reader

TEST(Opcodes, TableKnowsNamesNumbersAndSignatures) {
  EXPECT_STREQ(to_string(Opcode::I32Add), "i32.add");
  EXPECT_EQ(static_cast<int>(Opcode::I32Add), 0x6a);
  EXPECT_EQ(static_cast<int>(Opcode::I64Extend32S), 0xc4);
  EXPECT_EQ(static_cast<uint32_t>(Opcode::TableFill), opcode_base(0xfc) + 17);
  EXPECT_EQ(static_cast<uint32_t>(Opcode::F64x2ConvertLowI32x4U), opcode_base(0xfd) + 255);
  EXPECT_EQ(info(Opcode::I64Store32).natural_alignment, 2);
  EXPECT_EQ(info(Opcode::I64Store32).params, 2);
  EXPECT_EQ(info(Opcode::I64Store32).param[0], I32);
  EXPECT_EQ(info(Opcode::I64Store32).param[1], I64);
  EXPECT_EQ(info(Opcode::F32DemoteF64).result, F32);
  EXPECT_EQ(kOpcodes[0x27].feature, Feature::Unknown);
  int core = 0;
  for (const OpcodeInfo& opcode : kOpcodes) core += opcode.feature == Feature::Core;
  // 1.0, sign extension, saturating conversions, bulk memory and tables, reference types, SIMD.
  EXPECT_EQ(core, 172 + 5 + 8 + 7 + 9 + 236);
}

TEST(BodyReader, SeesWhatWasWritten) {
  auto read = [](const ModuleBuilder& from) {
    auto module = accepted(from);
    std::vector<Instruction> all;
    BodyReader reader = read_body(*module, module->bodies[0]);
    while (!reader.at_end()) reader.next(all.emplace_back());
    return std::pair(module, all);
  };

  ModuleBuilder builder;
  builder.type({I32}, {F64});
  builder.memory(1);
  builder.table(FuncRef, 1);
  builder.function(0, {{1, I64}},
                   Code()
                       .i32(-3)
                       .op(Opcode::I64Load32U, 2, 70000)
                       .op(Opcode::LocalSet, 1)
                       .open(Opcode::Block)
                       .op(Opcode::LocalGet, 0)
                       .br_table({0, 0, 0}, 0)
                       .end()
                       .i64(INT64_MIN)
                       .op(Opcode::Drop)
                       .f32(-1.5f)
                       .op(Opcode::I32TruncSatF32S)
                       .i32(200)
                       .op(Opcode::CallIndirect, 0, 0)
                       .end());
  auto [module, all] = read(builder);
  ASSERT_EQ(all.size(), 14u);
  EXPECT_EQ(all[0].pc, 3u);  // after the local declarations
  EXPECT_EQ(all[0].bits[0], 0xfffffffdu);
  EXPECT_EQ(all[1].opcode, Opcode::I64Load32U);
  EXPECT_EQ(all[1].a, 2u);
  EXPECT_EQ(all[1].bits[0], 70000u);
  EXPECT_EQ(all[1].pc, 5u);
  EXPECT_EQ(all[2].a, 1u);
  EXPECT_TRUE(all[3].block.results(*module).empty());
  EXPECT_EQ(all[5].a, 3u);
  Labels labels(all[5]);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(labels.next(), 0u);
  EXPECT_EQ(all[6].opcode, Opcode::End);
  EXPECT_EQ(all[7].bits[0], uint64_t{1} << 63);
  EXPECT_EQ(all[9].bits[0], 0xbfc00000u);
  EXPECT_EQ(all[10].opcode, Opcode::I32TruncSatF32S);
  EXPECT_EQ(all[12].a, 0u);
  EXPECT_EQ(all[12].b, 0u);
  EXPECT_EQ(all[13].opcode, Opcode::End);
  EXPECT_EQ(all[13].pc + 1, module->bodies[0].size);
}

}  // namespace
}  // namespace wago::runtime
