// Builds modules by hand, for tests: exactly the bytes one asks for, valid or not. Header-only and for tests
// alone.
//
//   ModuleBuilder module;
//   uint32_t type = module.type({ValueType::I32}, {ValueType::I32});
//   uint32_t f = module.function(type, {}, Code().op(Opcode::LocalGet, 0).end());
//   module.export_("identity", ExternKind::Function, f);
//   decode_module(module.build());
//
// Imports come before what is defined, as in the format; sections appear in their order and only if used.
// section() replaces or adds any section by raw contents, for damage.
#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/opcodes.h"
#include "runtime/types.h"

namespace wago::runtime::testing {

// Bytes with the format's primitives.
class Bytes {
 public:
  Bytes() = default;
  explicit Bytes(std::vector<uint8_t> bytes) : bytes_(std::move(bytes)) {}
  Bytes(std::initializer_list<int> bytes) {
    for (int b : bytes) byte(static_cast<uint8_t>(b));
  }
  Bytes& byte(uint8_t value) { return bytes_.push_back(value), *this; }
  Bytes& u32(uint64_t value) {
    for (; value >= 0x80; value >>= 7) byte(static_cast<uint8_t>(value | 0x80));
    return byte(static_cast<uint8_t>(value));
  }
  Bytes& s64(int64_t value) {
    while (value < -64 || value > 63) {
      byte(static_cast<uint8_t>((value & 0x7f) | 0x80));
      value >>= 7;
    }
    return byte(static_cast<uint8_t>(value & 0x7f));
  }
  Bytes& type(ValueType value) { return byte(static_cast<uint8_t>(value)); }
  template <class T>
  Bytes& fixed(T value) {
    for (size_t i = 0; i < sizeof value; ++i) byte(static_cast<uint8_t>(value >> 8 * i));
    return *this;
  }
  Bytes& raw(const Bytes& more) {
    bytes_.insert(bytes_.end(), more.bytes_.begin(), more.bytes_.end());
    return *this;
  }
  // A vector of bytes: length, then contents.
  Bytes& sized(const Bytes& more) { return u32(more.size()).raw(more); }
  Bytes& name(std::string_view text) {
    u32(text.size());
    bytes_.insert(bytes_.end(), text.begin(), text.end());
    return *this;
  }
  size_t size() const { return bytes_.size(); }
  const std::vector<uint8_t>& get() const { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
};

// Instructions. op() takes immediates that are indices, depths, alignments and offsets, in encoding order.
class Code {
 public:
  Code() = default;
  Code& op(Opcode opcode, std::initializer_list<uint32_t> immediates) {
    const auto value = static_cast<uint32_t>(opcode);
    for (uint32_t prefix : {0xfeu, 0xfdu, 0xfcu, 0xfbu, 0u}) {
      if (value < opcode_base(prefix)) continue;
      if (prefix == 0) {
        bytes_.byte(static_cast<uint8_t>(value));
      } else {
        bytes_.byte(static_cast<uint8_t>(prefix)).u32(value - opcode_base(prefix));
      }
      break;
    }
    for (uint32_t immediate : immediates) bytes_.u32(immediate);
    return *this;
  }
  template <class... Immediates>
  Code& op(Opcode opcode, Immediates... immediates) {
    return op(opcode, {static_cast<uint32_t>(immediates)...});
  }
  Code& i32(int32_t value) { return op(Opcode::I32Const).signed_(value); }
  Code& i64(int64_t value) { return op(Opcode::I64Const).signed_(value); }
  Code& f32(float value) { return op(Opcode::F32Const).raw(Bytes().fixed(std::bit_cast<uint32_t>(value))); }
  Code& f64(double value) { return op(Opcode::F64Const).raw(Bytes().fixed(std::bit_cast<uint64_t>(value))); }
  // block, loop, if: without a type, with one result, or with a type index.
  Code& open(Opcode opcode) { return op(opcode).raw({0x40}); }
  Code& open(Opcode opcode, ValueType result) { return op(opcode).raw(Bytes().type(result)); }
  Code& open(Opcode opcode, uint32_t type_index) { return op(opcode).signed_(type_index); }
  Code& br_table(std::initializer_list<uint32_t> depths, uint32_t default_depth) {
    op(Opcode::BrTable).bytes_.u32(depths.size());
    for (uint32_t depth : depths) bytes_.u32(depth);
    bytes_.u32(default_depth);
    return *this;
  }
  Code& ref_null(ValueType type) { return op(Opcode::RefNull).raw(Bytes().type(type)); }
  Code& select(ValueType type) { return op(Opcode::SelectTyped, 1).raw(Bytes().type(type)); }
  Code& end() { return op(Opcode::End); }
  Code& raw(const Bytes& bytes) { return bytes_.raw(bytes), *this; }
  const Bytes& bytes() const { return bytes_; }

 private:
  Code& signed_(int64_t value) { return bytes_.s64(value), *this; }

  Bytes bytes_;
};

enum class Section : uint8_t {
  Custom,
  Type,
  Import,
  Function,
  Table,
  Memory,
  Global,
  Export,
  Start,
  Element,
  Code,
  Data,
  DataCount,
};

class ModuleBuilder {
 public:
  using Types = std::vector<ValueType>;
  using Locals = std::vector<std::pair<uint32_t, ValueType>>;  // run lengths, as in the format

  uint32_t type(const Types& params, const Types& results) {
    Bytes type{0x60};
    for (const Types* list : {&params, &results}) {
      type.u32(list->size());
      for (ValueType value : *list) type.type(value);
    }
    return add(Section::Type, type);
  }
  uint32_t import_function(std::string_view module, std::string_view name, uint32_t type) {
    import(module, name, Bytes{0x00}.u32(type));
    return functions_++;
  }
  uint32_t import_table(std::string_view module, std::string_view name, ValueType element, uint32_t min) {
    import(module, name, Bytes{0x01}.type(element).raw(limits(min, std::nullopt)));
    return tables_++;
  }
  uint32_t import_memory(std::string_view module, std::string_view name, uint32_t min) {
    import(module, name, Bytes{0x02}.raw(limits(min, std::nullopt)));
    return memories_++;
  }
  uint32_t import_global(std::string_view module, std::string_view name, ValueType type,
                         bool mutable_ = false) {
    import(module, name, Bytes{0x03}.type(type).byte(mutable_));
    return globals_++;
  }
  // `code` ends with its own end().
  uint32_t function(uint32_t type, const Locals& locals, const class Code& code) {
    Bytes body;
    body.u32(locals.size());
    for (auto [count, local] : locals) body.u32(count).type(local);
    body.raw(code.bytes());
    return raw_function(type, body);
  }
  // `body` from its local declarations on.
  uint32_t raw_function(uint32_t type, const Bytes& body) {
    add(Section::Function, Bytes().u32(type));
    add(Section::Code, Bytes().sized(body));
    return functions_++;
  }
  uint32_t table(ValueType element, uint32_t min, std::optional<uint32_t> max = std::nullopt) {
    add(Section::Table, Bytes().type(element).raw(limits(min, max)));
    return tables_++;
  }
  uint32_t memory(uint32_t min, std::optional<uint32_t> max = std::nullopt) {
    add(Section::Memory, limits(min, max));
    return memories_++;
  }
  // `init` ends with its own end(); also for the offsets below.
  uint32_t global(ValueType type, bool mutable_, const class Code& init) {
    add(Section::Global, Bytes().type(type).byte(mutable_).raw(init.bytes()));
    return globals_++;
  }
  void export_(std::string_view name, ExternKind kind, uint32_t index) {
    add(Section::Export, Bytes().name(name).byte(static_cast<uint8_t>(kind)).u32(index));
  }
  void start(uint32_t function) { section(Section::Start, Bytes().u32(function)); }
  // Active in table 0, of functions.
  uint32_t elements(const class Code& offset, const std::vector<uint32_t>& functions) {
    return add(Section::Element, Bytes().u32(0).raw(offset.bytes()).raw(indices(functions)));
  }
  uint32_t passive_elements(const std::vector<uint32_t>& functions) {
    return add(Section::Element, Bytes{0x01, 0x00}.raw(indices(functions)));
  }
  uint32_t declare_elements(const std::vector<uint32_t>& functions) {
    return add(Section::Element, Bytes{0x03, 0x00}.raw(indices(functions)));
  }
  uint32_t raw_elements(const Bytes& segment) { return add(Section::Element, segment); }
  // Active in memory 0.
  uint32_t data(const class Code& offset, std::string_view contents) {
    return add(Section::Data, Bytes().u32(0).raw(offset.bytes()).name(contents));
  }
  uint32_t passive_data(std::string_view contents) {
    return add(Section::Data, Bytes().u32(1).name(contents));
  }
  void data_count(uint32_t segments) { section(Section::DataCount, Bytes().u32(segments)); }
  void custom(std::string_view name, const Bytes& contents) {  // after all other sections
    customs_.push_back(Bytes().name(name).raw(contents));
  }

  // The section's contents, count included.
  void section(Section id, const Bytes& contents) { raw_[id] = contents; }

  std::vector<uint8_t> build() const {
    Bytes module{0x00, 'a', 's', 'm', 0x01, 0x00, 0x00, 0x00};
    using enum Section;
    for (Section id :
         {Type, Import, Function, Table, Memory, Global, Export, Start, Element, DataCount, Code, Data}) {
      if (auto raw = raw_.find(id); raw != raw_.end()) {
        module.byte(static_cast<uint8_t>(id)).sized(raw->second);
      } else if (auto items = sections_.find(id); items != sections_.end()) {
        module.byte(static_cast<uint8_t>(id))
            .sized(Bytes().u32(items->second.count).raw(items->second.items));
      }
    }
    for (const Bytes& custom : customs_) module.byte(0).sized(custom);
    return module.get();
  }

 private:
  struct Items {
    uint32_t count = 0;
    Bytes items;
  };

  uint32_t add(Section id, const Bytes& item) {
    Items& items = sections_[id];
    items.items.raw(item);
    return items.count++;
  }
  void import(std::string_view module, std::string_view name, const Bytes& description) {
    add(Section::Import, Bytes().name(module).name(name).raw(description));
  }
  static Bytes limits(uint32_t min, std::optional<uint32_t> max) {
    Bytes bytes;
    bytes.byte(max.has_value()).u32(min);
    if (max) bytes.u32(*max);
    return bytes;
  }
  static Bytes indices(const std::vector<uint32_t>& list) {
    Bytes bytes;
    bytes.u32(list.size());
    for (uint32_t index : list) bytes.u32(index);
    return bytes;
  }

  uint32_t functions_ = 0, tables_ = 0, memories_ = 0, globals_ = 0;
  std::map<Section, Items> sections_;
  std::map<Section, Bytes> raw_;
  std::vector<Bytes> customs_;
};

}  // namespace wago::runtime::testing
