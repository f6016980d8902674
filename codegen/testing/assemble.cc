#include "codegen/testing/assemble.h"

#include <charconv>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "runtime/opcodes.h"

namespace wago::codegen::testing {

namespace {

using runtime::Immediate;
using Bytes = std::vector<uint8_t>;

void append(Bytes& to, const Bytes& bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}
void unsigned_leb(Bytes& to, uint64_t value) {
  for (; value >= 0x80; value >>= 7) to.push_back(static_cast<uint8_t>(value | 0x80));
  to.push_back(static_cast<uint8_t>(value));
}
void signed_leb(Bytes& to, int64_t value) {
  for (; value < -64 || value >= 64; value >>= 7) to.push_back(static_cast<uint8_t>(value | 0x80));
  to.push_back(static_cast<uint8_t>(value & 0x7f));
}
void fixed(Bytes& to, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) to.push_back(static_cast<uint8_t>(value >> 8 * i));
}
void section(Bytes& to, uint8_t id, const Bytes& content) {
  to.push_back(id);
  unsigned_leb(to, content.size());
  append(to, content);
}
void vector_section(Bytes& to, uint8_t id, uint64_t count, const Bytes& items) {
  Bytes content;
  unsigned_leb(content, count);
  append(content, items);
  section(to, id, content);
}

struct Function {
  Bytes type;
  std::vector<uint8_t> locals;
  Bytes code;
};

class Assembler {
 public:
  explicit Assembler(std::string_view text) : text_(text) {}

  base::Result<Bytes> run() {
    while (error_.empty()) {
      const std::string_view name = word();
      if (name.empty()) break;
      if (name == "type") {
        extra_types_.push_back(function_type());
      } else if (name == "func") {
        function();
      } else {
        fail("expected func or type, not " + std::string(name));
      }
    }
    if (!error_.empty()) return base::failed(error_);
    return module();
  }

 private:
  void fail(std::string message) {
    if (error_.empty()) error_ = std::move(message);
  }
  void skip_spaces() {
    while (!text_.empty() && (text_[0] == ' ' || text_[0] == '\n' || text_[0] == '\t' || text_[0] == ',')) {
      text_.remove_prefix(1);
    }
    if (!text_.empty() && text_[0] == ';') {
      text_.remove_prefix(std::min(text_.find('\n'), text_.size()));
      skip_spaces();
    }
  }
  std::string_view word() {
    skip_spaces();
    const std::string_view result = text_.substr(0, text_.find_first_of(" \n\t(),;"));
    text_.remove_prefix(result.size());
    return result;
  }
  bool take(std::string_view token) {
    skip_spaces();
    if (text_.substr(0, token.size()) != token) return false;
    text_.remove_prefix(token.size());
    return true;
  }
  uint64_t number() {
    std::string_view digits = word();
    const std::string_view all = digits;
    const bool negative = digits.substr(0, 1) == "-";
    if (negative) digits.remove_prefix(1);
    const int base = digits.substr(0, 2) == "0x" ? 16 : 10;
    if (base == 16) digits.remove_prefix(2);
    uint64_t value = 0;
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    if (code != std::errc() || end != digits.data() + digits.size())
      fail("not a number: " + std::string(all));
    return negative ? 0 - value : value;
  }
  bool at_number() {
    skip_spaces();
    return !text_.empty() && text_[0] >= '0' && text_[0] <= '9';
  }
  uint8_t value_type() {
    const std::string_view name = word();
    for (const ValueType t : {ValueType::I32, ValueType::I64, ValueType::F32, ValueType::F64, ValueType::V128,
                              ValueType::FuncRef, ValueType::ExternRef}) {
      if (name == to_string(t)) return static_cast<uint8_t>(t);
    }
    fail("not a type: " + std::string(name));
    return 0;
  }
  Bytes types_until_bracket() {
    Bytes types;
    while (error_.empty() && !take(")")) types.push_back(value_type());
    return types;
  }
  Bytes function_type() {
    Bytes type{0x60};
    for (int part = 0; part < 2; ++part) {
      if (!take(part == 0 ? "(" : "-> (")) fail("expected (types) -> (types)");
      const Bytes types = types_until_bracket();
      unsigned_leb(type, types.size());
      append(type, types);
    }
    return type;
  }

  void function() {
    Function& f = functions_.emplace_back();
    f.type = function_type();
    if (take("(locals")) f.locals = types_until_bracket();
    for (int depth = 1; depth > 0 && error_.empty();) {
      const std::string_view name = word();
      if (name.empty()) return fail("a function without end");
      if (name == "block" || name == "loop" || name == "if") ++depth;
      if (name == "end") --depth;
      instruction(f.code, name);
    }
  }

  // The encoding of every instruction of WebAssembly 2.0, by name.
  using Encodings = std::unordered_map<std::string_view, std::pair<uint32_t, uint32_t>>;
  static const Encodings& encodings() {
    static const Encodings all = [] {
      Encodings by_name;
      for (const uint32_t prefix : {0u, 0xfcu, 0xfdu}) {
        const uint32_t end = prefix == 0 ? 0xfbu : runtime::opcode_room(prefix);
        for (uint32_t number = 0; number < end; ++number) {
          const auto opcode = static_cast<runtime::Opcode>(runtime::opcode_base(prefix) + number);
          if (const char* text = runtime::to_string(opcode)) by_name.emplace(text, std::pair(prefix, number));
        }
      }
      return by_name;
    }();
    return all;
  }

  void instruction(Bytes& code, std::string_view name) {
    const auto found = encodings().find(name);
    if (found == encodings().end()) return fail("no such instruction: " + std::string(name));
    auto [prefix, number] = found->second;
    // The two encodings of select share a name.
    if (name == "select" && peek_type()) number = static_cast<uint32_t>(runtime::Opcode::SelectTyped);
    if (prefix == 0) {
      code.push_back(static_cast<uint8_t>(number));
    } else {
      code.push_back(static_cast<uint8_t>(prefix));
      unsigned_leb(code, number);
    }
    immediates(code, runtime::info(static_cast<runtime::Opcode>(runtime::opcode_base(prefix) + number)));
  }
  bool peek_type() {
    skip_spaces();
    return text_.substr(0, 8) == "(result ";
  }

  void immediates(Bytes& code, const runtime::OpcodeInfo& opcode) {
    switch (opcode.immediate) {
      case Immediate::None:
        return;
      case Immediate::Block:
        return block_type(code);
      case Immediate::LabelTable: {
        std::vector<uint64_t> labels;
        while (at_number()) labels.push_back(number());
        if (labels.empty()) return fail("br_table without labels");
        unsigned_leb(code, labels.size() - 1);
        for (const uint64_t label : labels) unsigned_leb(code, label);
        return;
      }
      case Immediate::TypeTable: {
        const uint64_t table = number();
        if (!take("(type")) fail("expected (type n)");
        unsigned_leb(code, number());
        if (!take(")")) fail("expected )");
        return unsigned_leb(code, table);
      }
      case Immediate::Memarg:
        return memarg(code, opcode);
      case Immediate::MemargLane:
        memarg(code, opcode);
        return fixed(code, number(), 1);
      case Immediate::Lane:
        return fixed(code, number(), 1);
      case Immediate::Shuffle:
        for (int i = 0; i < 16; ++i) fixed(code, number(), 1);
        return;
      case Immediate::V128:  // the lower half first
        fixed(code, number(), 8);
        return fixed(code, number(), 8);
      case Immediate::Memory:
        return code.push_back(0);
      case Immediate::MemoryMemory:
        return fixed(code, 0, 2);
      case Immediate::DataMemory:
        unsigned_leb(code, number());
        return code.push_back(0);
      case Immediate::ElementTable:
      case Immediate::TableTable:
        unsigned_leb(code, number());
        return unsigned_leb(code, number());
      case Immediate::I32:
        return signed_leb(code, static_cast<int32_t>(number()));
      case Immediate::I64:
        return signed_leb(code, static_cast<int64_t>(number()));
      case Immediate::F32:
        return fixed(code, number(), 4);
      case Immediate::F64:
        return fixed(code, number(), 8);
      case Immediate::RefType:
        return code.push_back(value_type());
      case Immediate::SelectTypes:
        take("(result");
        code.push_back(1);
        code.push_back(value_type());
        take(")");
        return;
      default:
        return unsigned_leb(code, number());
    }
  }

  void memarg(Bytes& code, const runtime::OpcodeInfo& opcode) {
    unsigned_leb(code, take("align=") ? number() : opcode.natural_alignment);
    unsigned_leb(code, take("offset=") ? number() : 0);
  }

  void block_type(Bytes& code) {
    if (take("(result")) {
      code.push_back(value_type());
      if (!take(")")) fail("expected )");
    } else if (take("(type")) {
      signed_leb(code, static_cast<int64_t>(number()));
      if (!take(")")) fail("expected )");
    } else {
      code.push_back(0x40);
    }
  }

  Bytes module() {
    Bytes out{0, 'a', 's', 'm', 1, 0, 0, 0};
    Bytes types, indices, exports, bodies;
    for (const Bytes& type : extra_types_) append(types, type);
    for (uint32_t i = 0; i < functions_.size(); ++i) {
      const Function& f = functions_[i];
      append(types, f.type);
      unsigned_leb(indices, extra_types_.size() + i);
      const std::string name = std::to_string(i);
      unsigned_leb(exports, name.size());
      append(exports, Bytes(name.begin(), name.end()));
      exports.push_back(0);
      unsigned_leb(exports, i);
      Bytes body;
      unsigned_leb(body, f.locals.size());
      for (const uint8_t local : f.locals) append(body, {1, local});
      append(body, f.code);
      unsigned_leb(bodies, body.size());
      append(bodies, body);
    }
    vector_section(out, 1, extra_types_.size() + functions_.size(), types);
    vector_section(out, 3, functions_.size(), indices);
    section(out, 4, {2, 0x70, 0, 10, 0x6f, 0, 10});
    section(out, 5, {1, 1, 1, 2});
    vector_section(out, 6, 6, {0x7f, 1,    0x41, 0,    0x0b, 0x7e, 1,    0x42, 0, 0x0b, 0x7d, 1,   0x43, 0,
                               0,    0,    0,    0x0b, 0x7c, 1,    0x44, 0,    0, 0,    0,    0,   0,    0,
                               0,    0x0b, 0x7f, 0,    0x41, 42,   0x0b, 0x6f, 1, 0xd0, 0x6f, 0x0b});
    auto export_by_name = [&](const std::string& name, uint8_t kind, uint8_t index) {
      unsigned_leb(exports, name.size());
      append(exports, Bytes(name.begin(), name.end()));
      append(exports, {kind, index});
    };
    export_by_name("memory", 2, 0);
    for (uint8_t i = 0; i < 4; ++i) export_by_name("global" + std::to_string(i), 3, i);
    vector_section(out, 7, functions_.size() + 5, exports);
    section(out, 9, {1, 1, 0, 1, 0});
    section(out, 12, {1});
    vector_section(out, 10, functions_.size(), bodies);
    section(out, 11, {1, 1, 4, 1, 2, 3, 4});
    return out;
  }

  std::string_view text_;
  std::string error_;
  std::vector<Bytes> extra_types_;
  std::vector<Function> functions_;
};

}  // namespace

base::Result<std::vector<uint8_t>> assemble(std::string_view text) {
  return Assembler(text).run();
}

}  // namespace wago::codegen::testing
