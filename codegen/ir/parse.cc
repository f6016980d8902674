#include "codegen/ir/parse.h"

#include <charconv>
#include <optional>
#include <string>
#include <vector>

#include "base/vocabulary.h"
#include "codegen/ir/print.h"

namespace wago::codegen {

namespace {

constexpr Op kAllOps[] = {
#define WAGO_IR_OP(id, name, args, flags) Op::id,
#include "codegen/ir/ops.def"
};
constexpr Type kTypes[] = {Type::None, Type::I32, Type::I64, Type::F32, Type::F64, Type::V128};

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Finds the enumerator of Enum, counted from 0 to `count`, with this spelling.
template <class Enum>
std::optional<uint8_t> find_spelling(std::string_view text, uint8_t count) {
  for (uint8_t i = 0; i < count; ++i) {
    if (text == to_string(static_cast<Enum>(i))) return i;
  }
  return std::nullopt;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  base::Result<ParsedFunction> run() {
    while (next_line()) {
      parse_line();
      if (!error_.empty()) return base::failed("line " + std::to_string(line_number_) + ": " + error_);
    }
    if (const std::string missing = find_missing(); !missing.empty()) return base::failed(missing);
    out_.ir.type = out_.type.get();
    return std::move(out_);
  }

 private:
  IrFunction& f() { return out_.ir; }
  void fail(std::string message) {
    if (error_.empty()) error_ = std::move(message) + " at \"" + std::string(rest_) + "\"";
  }

  // Lexing, within a line.
  bool next_line() {
    if (text_.empty()) return false;
    const size_t end = std::min(text_.find('\n'), text_.size());
    rest_ = text_.substr(0, end);
    text_.remove_prefix(std::min(end + 1, text_.size()));
    rest_ = rest_.substr(0, rest_.find(';'));
    ++line_number_;
    return true;
  }
  void skip_spaces() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\t' || rest_[0] == '\r'))
      rest_.remove_prefix(1);
  }
  bool take(std::string_view token) {
    skip_spaces();
    if (rest_.substr(0, token.size()) != token) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  void expect(std::string_view token) {
    if (!take(token)) fail("expected \"" + std::string(token) + "\"");
  }
  bool at_end() {
    skip_spaces();
    return rest_.empty();
  }
  std::string_view word() {
    skip_spaces();
    size_t n = 0;
    while (n < rest_.size() && is_word(rest_[n])) ++n;
    const std::string_view result = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return result;
  }
  uint64_t number(int base = 10) {
    skip_spaces();
    if (base == 10 && rest_.substr(0, 2) == "0x") {
      rest_.remove_prefix(2);
      base = 16;
    }
    uint64_t value = 0;
    const auto [end, code] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value, base);
    if (code != std::errc()) fail("expected a number");
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return value;
  }
  uint32_t index(std::string_view prefix) {
    expect(prefix);
    const uint64_t value = number();
    if (value >= 1u << 20) fail("a number too large for a name");
    return error_.empty() ? static_cast<uint32_t>(value) : 0;
  }

  // The parts of a line.
  Value value() {
    const Value v(index("v"));
    if (v.index() >= f().values.size()) f().values.resize(v.index() + 1);
    used_.push_back(v);
    return v;
  }
  Type type() {
    const std::string_view name = word();
    for (const Type t : kTypes) {
      if (t != Type::None && name == to_string(t)) return t;
    }
    fail("expected a type");
    return Type::I32;
  }
  Value define(bool is_param, uint32_t def, uint32_t place) {
    const Value v = value();
    expect(":");
    if (f().values[v.index()].type != Type::None) fail("v" + std::to_string(v.index()) + " is defined twice");
    f().values[v.index()] = {type(), is_param, def, place};
    return v;
  }
  BlockId block() {
    const BlockId id(index("block"));
    while (f().block_count <= id.index()) f().new_block();
    return id;
  }

  void parse_line() {
    if (at_end()) return;
    if (take("function")) return parse_head();
    if (rest_.substr(0, 5) == "block") return parse_block();
    if (!current_.valid()) return fail("an instruction outside of a block");
    parse_inst();
    if (error_.empty() && !at_end()) fail("something left over");
  }

  void parse_head() {
    f().function = static_cast<uint32_t>(number());
    if (at_end()) return;
    out_.type = std::make_unique<FuncType>();
    parse_types(out_.type->params);
    expect("->");
    parse_types(out_.type->results);
  }
  void parse_types(std::vector<ValueType>& out) {
    expect("(");
    while (error_.empty() && !take(")")) {
      switch (type()) {
        case Type::I32:
          out.push_back(ValueType::I32);
          break;
        case Type::F32:
          out.push_back(ValueType::F32);
          break;
        case Type::F64:
          out.push_back(ValueType::F64);
          break;
        case Type::V128:
          out.push_back(ValueType::V128);
          break;
        default:
          out.push_back(ValueType::I64);
          break;
      }
      take(",");
    }
  }

  void parse_block() {
    current_ = block();
    if (take("(")) {
      while (error_.empty() && !take(")")) {
        const uint32_t place = static_cast<uint32_t>(f().block(current_).params.size());
        f().block(current_).params.push_back(define(true, current_.index(), place));
        take(",");
      }
    }
    expect(":");
  }

  void parse_inst() {
    const InstId id(static_cast<uint32_t>(f().insts.size()));
    Inst inst;
    parse_results(inst, id);
    parse_op(inst);
    if (!error_.empty()) return;
    std::vector<Value> args;
    while (error_.empty() && !at_end() && rest_[0] != '@') {
      if (rest_[0] == '#') {
        parse_imm(inst);
      } else if (rest_.substr(0, 5) == "block") {
        parse_edge();
      } else {
        args.push_back(value());
      }
      if (!take(",")) break;
    }
    if (take("@")) inst.wasm_pc = static_cast<uint32_t>(number(16));
    if (take("/")) inst.inline_site = static_cast<uint32_t>(number());
    inst.arg_count = static_cast<uint16_t>(args.size());
    if (args.size() <= 3) {
      std::copy(args.begin(), args.end(), inst.inline_args);
    } else {
      inst.inline_args[0] = Value(static_cast<uint32_t>(f().arg_pool.size()));
      f().arg_pool.insert(f().arg_pool.end(), args.begin(), args.end());
    }
    f().insts.push_back(inst);
    f().append(current_, id);
  }

  void parse_results(Inst& inst, InstId id) {
    skip_spaces();
    const bool has_results = rest_.find('=') != std::string_view::npos;
    while (has_results && error_.empty()) {
      const Value v = define(false, id.index(), inst.result_count);
      if (inst.result_count == 0) {
        inst.result = v;
        inst.type = f().type_of(v);
      } else if (v.index() != inst.result.index() + inst.result_count) {
        fail("results must have consecutive numbers");
      }
      ++inst.result_count;
      if (!take(",")) {
        expect("=");
        return;
      }
    }
  }

  void parse_op(Inst& inst) {
    const std::string_view name = word();
    bool found = false;
    for (const Op op : kAllOps) {
      if (name != to_string(op)) continue;
      inst.op = op;
      found = true;
    }
    if (!found) return fail("no such operation: " + std::string(name));
    if (!take(".")) return;
    std::optional<uint8_t> aux;
    switch (aux_form(inst.op)) {
      case AuxForm::None:
        break;
      case AuxForm::IntCond:
        aux = find_spelling<IntCond>(word(), 10);
        break;
      case AuxForm::FloatCond:
        aux = find_spelling<FloatCond>(word(), 6);
        break;
      case AuxForm::Access:
        aux = find_spelling<Access>(word(), 7);
        break;
      case AuxForm::Trap: {
        skip_spaces();
        const std::string_view spelled = rest_.substr(0, rest_.find_first_of(" ,@"));
        if (const auto code = base::parse<base::TrapCode>(spelled)) aux = static_cast<uint8_t>(*code);
        rest_.remove_prefix(spelled.size());
        break;
      }
      case AuxForm::Shape:
        aux = find_spelling<LaneShape>(word(), kLaneShapes);
        break;
      case AuxForm::ShapeIntCond:
        aux = parse_shape_and<IntCond>(10);
        break;
      case AuxForm::ShapeFloatCond:
        aux = parse_shape_and<FloatCond>(6);
        break;
    }
    if (!aux) return fail("not a variant of " + std::string(name));
    inst.aux = *aux;
  }

  template <class Cond>
  std::optional<uint8_t> parse_shape_and(uint8_t conditions) {
    const std::optional<uint8_t> shape = find_spelling<LaneShape>(word(), kLaneShapes);
    if (!shape || !take(".")) return std::nullopt;
    const std::optional<uint8_t> cond = find_spelling<Cond>(word(), conditions);
    if (!cond) return std::nullopt;
    return vector_aux(static_cast<LaneShape>(*shape), *cond);
  }

  // Up to 32 hexadecimal digits.
  uint64_t parse_vector() {
    expect("0x");
    const std::string_view digits = word();
    if (digits.empty() || digits.size() > 32) fail("expected up to 32 hexadecimal digits");
    Vector vector;
    for (const char c : digits.substr(0, 32)) {
      uint64_t digit = 0;
      if (std::from_chars(&c, &c + 1, digit, 16).ec != std::errc()) fail("expected hexadecimal digits");
      vector.high = vector.high << 4 | vector.low >> 60;
      vector.low = vector.low << 4 | digit;
    }
    return f().vector(vector);
  }

  void parse_imm(Inst& inst) {
    expect("#");
    if (imm_form(inst.op) == ImmForm::Vector) {
      inst.imm = parse_vector();
      return;
    }
    if (imm_form(inst.op) == ImmForm::Helper) {
      const std::string_view name = word();
      while (helper_name(inst.imm) != nullptr && name != helper_name(inst.imm)) ++inst.imm;
      if (helper_name(inst.imm) == nullptr) fail("no such helper: " + std::string(name));
      return;
    }
    const bool negative = take("-");
    inst.imm = number();
    if (negative) inst.imm = 0 - inst.imm;
    if (inst.op == Op::Iconst && inst.type == Type::I32) inst.imm = static_cast<uint32_t>(inst.imm);
    if (imm_form(inst.op) == ImmForm::Pair && take(":")) inst.imm = inst.imm << 32 | number();
  }

  void parse_edge() {
    const BlockId target = block();
    std::vector<Value> args;
    if (take("(")) {
      while (error_.empty() && !take(")")) {
        args.push_back(value());
        take(",");
      }
    }
    f().add_edge(current_, target, args);
  }

  std::string find_missing() {
    for (const Value v : used_) {
      if (f().type_of(v) == Type::None) return "v" + std::to_string(v.index()) + " is used but not defined";
    }
    if (f().block_count == 0) return "no blocks";
    return "";
  }

  std::string_view text_;
  std::string_view rest_;
  uint32_t line_number_ = 0;
  std::string error_;
  BlockId current_;
  std::vector<Value> used_;
  ParsedFunction out_;
};

}  // namespace

base::Result<ParsedFunction> parse(std::string_view text) {
  return Parser(text).run();
}

}  // namespace wago::codegen
