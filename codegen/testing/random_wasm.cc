#include "codegen/testing/random_wasm.h"

#include <algorithm>
#include <array>
#include <vector>

namespace wago::codegen::testing {

namespace {

// Of the type of the indirect call: what stands for it where there can be none.
constexpr const char* kInsteadOfIndirectCall = "drop\ni32.wrap_i64\ni32.add\ni64.extend_i32_s\ni32.const 3";
constexpr const char* kTypes[] = {"i32", "i64", "f32", "f64"};
enum Kind : uint32_t { kI32, kI64, kF32, kF64 };

class Generator {
 public:
  Generator(uint64_t seed, const RandomOptions& options) : state_(seed * 2 + 1), options_(options) {
    for (int i = 0; i < 4; ++i) next();
  }

  std::string run() {
    for (const Kind kind : {kI32, kI64, kF64, kI32}) locals_.push_back(kind);
    const uint32_t more = 1 + below(8);
    for (uint32_t i = 0; i < more; ++i) locals_.push_back(any_kind());
    const bool has_result = below(5) != 0;
    const Kind result = has_result ? any_kind() : kI32;
    text_.clear();
    labels_.push_back({has_result, result, false});
    statements(options_.statements);
    if (has_result) expression(result, 3);
    std::string head = "type (i32) -> (i32)\ntype (i32, i64) -> (i64, i32)\ntype () -> (i32, f64)\n";
    head += "func (i32, i64, f64, i32) -> (" + std::string(has_result ? kTypes[result] : "") + ") (locals";
    for (size_t i = 4; i < locals_.size(); ++i) head += std::string(" ") + kTypes[locals_[i]];
    head += ")\n" + text_ + "end\n";
    return head + kCallees;
  }

 private:
  struct Label {
    bool has_value;
    Kind kind;
    bool is_loop;
  };

  // To be called: functions 1 to 4.
  static constexpr const char* kCallees = R"(
func (i32) -> (i32)
  local.get 0
  i32.const 3
  i32.mul
end
func (i32, i64) -> (i64)
  local.get 0
  if (result i64)
    local.get 1
    local.get 0
    i64.extend_i32_s
    i64.div_s
  else
    local.get 1
  end
end
func (f64) -> ()
  i32.const 16
  local.get 0
  f64.store
end
func (i32) -> (i32) (locals i32)
  loop
    local.get 1
    local.get 0
    i32.add
    local.set 1
    local.get 0
    i32.const 1
    i32.shr_u
    local.tee 0
    br_if 0
  end
  local.get 1
end
)";

  uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_;
  }
  uint32_t below(uint32_t n) { return static_cast<uint32_t>((next() >> 33) % n); }
  bool chance(uint32_t percent) { return below(100) < percent; }
  Kind any_kind() { return static_cast<Kind>(below(options_.floats ? 4 : 2)); }
  void line(const std::string& text) { text_ += text + "\n"; }
  template <size_t N>
  const char* pick(const std::array<const char*, N>& from) {
    return from[below(N)];
  }

  uint32_t local_of(Kind kind) {
    std::vector<uint32_t> found;
    for (uint32_t i = 0; i < locals_.size(); ++i) {
      if (locals_[i] == kind &&
          (counters_.empty() || std::find(counters_.begin(), counters_.end(), i) == counters_.end())) {
        found.push_back(i);
      }
    }
    if (!found.empty()) return found[below(static_cast<uint32_t>(found.size()))];
    locals_.push_back(kind);
    return static_cast<uint32_t>(locals_.size()) - 1;
  }

  void constant(Kind kind) {
    static constexpr std::array<const char*, 14> kInts = {
        "0", "1", "2", "3", "4", "8", "-1", "-2", "31", "0x7fffffff", "0x80000000", "255", "16", "1000003"};
    static constexpr std::array<const char*, 8> kWide = {
        "0", "1", "-1", "0x7fffffffffffffff", "0x8000000000000000", "63", "0xffffffff", "10"};
    static constexpr std::array<const char*, 8> kF32s = {
        "0", "0x80000000", "0x3f800000", "0xbf800000", "0x7f800000", "0x4f000000", "0x1", "0x40490fdb"};
    static constexpr std::array<const char*, 8> kF64s = {"0",
                                                         "0x8000000000000000",
                                                         "0x3ff0000000000000",
                                                         "0xbff0000000000000",
                                                         "0xfff0000000000000",
                                                         "0x41e0000000000000",
                                                         "0x1",
                                                         "0x400921fb54442d18"};
    switch (kind) {
      case kI32:
        return line(std::string("i32.const ") + pick(kInts));
      case kI64:
        return line(std::string("i64.const ") + pick(kWide));
      case kF32:
        return line(std::string("f32.const ") + pick(kF32s));
      case kF64:
        return line(std::string("f64.const ") + pick(kF64s));
    }
  }

  void binary(Kind kind, uint32_t depth) {
    static constexpr std::array<const char*, 15> kInt = {"add", "sub",  "mul",   "and",   "or",
                                                         "xor", "shl",  "shr_s", "shr_u", "rotl",
                                                         "add", "rotr", "div_u", "rem_s", "div_s"};
    static constexpr std::array<const char*, 7> kFloat = {"add", "sub", "mul",     "div",
                                                          "min", "max", "copysign"};
    expression(kind, depth - 1);
    expression(kind, depth - 1);
    line(std::string(kTypes[kind]) + "." + (kind < kF32 ? pick(kInt) : pick(kFloat)));
  }
  void compare(uint32_t depth) {
    static constexpr std::array<const char*, 10> kInt = {"eq",   "ne",   "lt_s", "lt_u", "gt_s",
                                                         "gt_u", "le_s", "le_u", "ge_s", "ge_u"};
    static constexpr std::array<const char*, 6> kFloat = {"eq", "ne", "lt", "gt", "le", "ge"};
    const Kind kind = any_kind();
    if (kind < kF32 && chance(25)) {
      expression(kind, depth - 1);
      return line(std::string(kTypes[kind]) + ".eqz");
    }
    expression(kind, depth - 1);
    expression(kind, depth - 1);
    line(std::string(kTypes[kind]) + "." + (kind < kF32 ? pick(kInt) : pick(kFloat)));
  }
  void unary(Kind kind, uint32_t depth) {
    static constexpr std::array<const char*, 5> kI32s = {"clz", "ctz", "popcnt", "extend8_s", "extend16_s"};
    static constexpr std::array<const char*, 6> kI64s = {"clz",       "ctz",        "popcnt",
                                                         "extend8_s", "extend16_s", "extend32_s"};
    static constexpr std::array<const char*, 7> kFloat = {"abs",   "neg",   "sqrt",   "ceil",
                                                          "floor", "trunc", "nearest"};
    expression(kind, depth - 1);
    line(std::string(kTypes[kind]) + "." +
         (kind == kI32   ? pick(kI32s)
          : kind == kI64 ? pick(kI64s)
                         : pick(kFloat)));
  }
  void convert(Kind to, uint32_t depth) {
    struct Conversion {
      Kind from;
      const char* name;
    };
    static constexpr Conversion kTo[4][5] = {{{kI64, "i32.wrap_i64"},
                                              {kF64, "i32.trunc_sat_f64_s"},
                                              {kF32, "i32.reinterpret_f32"},
                                              {kF32, "i32.trunc_sat_f32_u"},
                                              {kF64, "i32.trunc_f64_s"}},
                                             {{kI32, "i64.extend_i32_s"},
                                              {kI32, "i64.extend_i32_u"},
                                              {kF64, "i64.reinterpret_f64"},
                                              {kF64, "i64.trunc_sat_f64_u"},
                                              {kF32, "i64.trunc_sat_f32_s"}},
                                             {{kI32, "f32.convert_i32_s"},
                                              {kI64, "f32.convert_i64_u"},
                                              {kF64, "f32.demote_f64"},
                                              {kI32, "f32.reinterpret_i32"},
                                              {kI64, "f32.convert_i64_s"}},
                                             {{kI32, "f64.convert_i32_u"},
                                              {kI64, "f64.convert_i64_s"},
                                              {kF32, "f64.promote_f32"},
                                              {kI64, "f64.reinterpret_i64"},
                                              {kI64, "f64.convert_i64_u"}}};
    const Conversion& c = kTo[to][options_.floats ? below(5) : 0];
    expression(c.from, depth - 1);
    line(c.name);
  }
  void load(Kind kind, uint32_t depth) {
    static constexpr std::array<const char*, 5> kI32s = {"load", "load8_s", "load8_u", "load16_s",
                                                         "load16_u"};
    static constexpr std::array<const char*, 7> kI64s = {"load",     "load8_s",  "load8_u", "load16_s",
                                                         "load16_u", "load32_s", "load32_u"};
    address(depth);
    line(std::string(kTypes[kind]) + "." +
         (kind == kI32   ? pick(kI32s)
          : kind == kI64 ? pick(kI64s)
                         : "load") +
         offset());
  }
  std::string offset() { return chance(50) ? " offset=" + std::to_string(below(4) * 4) : ""; }
  // Mostly inside the first bytes of memory, so that accesses meet.
  void address(uint32_t depth) {
    expression(kI32, depth - 1);
    if (chance(95)) {
      line("i32.const " + std::to_string(chance(70) ? 12 : 0xfff8));
      line("i32.and");
    }
  }

  void expression(Kind kind, uint32_t depth) {
    if (depth == 0 || chance(25)) {
      if (chance(60)) return line("local.get " + std::to_string(local_of(kind)));
      return constant(kind);
    }
    switch (below(options_.effects ? 12 : 8)) {
      case 0:
        return unary(kind, depth);
      case 1:
        return convert(kind, depth);
      case 2:
        if (kind == kI32) return compare(depth);
        return binary(kind, depth);
      case 3:
        expression(kind, depth - 1);
        expression(kind, depth - 1);
        expression(kI32, depth - 1);
        return line(chance(50) ? "select" : std::string("select (result ") + kTypes[kind] + ")");
      case 4:
        expression(kind, depth - 1);
        return line("local.tee " + std::to_string(local_of(kind)));
      case 5:
        if (labels_.size() > options_.max_depth) return binary(kind, depth);
        return construct_with_value(kind, depth);
      case 6:
      case 7:
        return binary(kind, depth);
      case 8:
        return line("global.get " + std::to_string(static_cast<uint32_t>(kind)));
      case 9:
      case 10:
        return load(kind, depth);
      default:
        return call_for(kind, depth);
    }
  }

  void call_for(Kind kind, uint32_t depth) {
    if (kind == kI32) {
      expression(kI32, depth - 1);
      return line(chance(50) ? "call 1" : "call 4");
    }
    if (kind == kI64) {
      expression(kI32, depth - 1);
      expression(kI64, depth - 1);
      if (chance(70)) return line("call 2");
      expression(kI32, 0);
      line(options_.indirect_calls ? "call_indirect 0 (type 1)" : kInsteadOfIndirectCall);
      return line("drop");
    }
    return load(kind, depth);
  }

  void construct_with_value(Kind kind, uint32_t depth) {
    const std::string type = std::string(" (result ") + kTypes[kind] + ")";
    if (chance(50))
      expression(kI32, depth - 1), line("if" + type);
    else
      line("block" + type);
    const bool is_if = text_.substr(text_.rfind('\n', text_.size() - 2) + 1, 2) == "if";
    labels_.push_back({true, kind, false});
    if (chance(50)) statements(2);
    expression(kind, depth - 1);
    if (chance(40)) {
      expression(kI32, 1);
      line("br_if 0");
    }
    if (is_if) {
      line("else");
      if (chance(50)) statements(2);
      expression(kind, depth - 1);
    }
    labels_.pop_back();
    line("end");
  }

  void statements(uint32_t count) {
    for (uint32_t i = 0; i < count && budget_ > 0; ++i) {
      --budget_;
      if (statement()) return;  // nothing behind it is reached
    }
  }

  // True if control does not come back.
  bool statement() {
    switch (below(20)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
      case 5:
      case 6: {
        const Kind kind = any_kind();
        expression(kind, 3);
        line("local.set " + std::to_string(local_of(kind)));
        return false;
      }
      case 7:
      case 8:
        if (options_.effects) store();
        return false;
      case 9:
        if (options_.effects) {
          const Kind kind = any_kind();
          expression(kind, 3);
          line("global.set " + std::to_string(static_cast<uint32_t>(kind)));
        }
        return false;
      case 10:
        if (options_.effects) {
          if (options_.floats) {
            expression(kF64, 2);
          } else {
            constant(kF64);
          }
          line("call 3");
        }
        return false;
      case 11:
      case 12:
        if (labels_.size() <= options_.max_depth) if_statement();
        return false;
      case 13:
        if (labels_.size() <= options_.max_depth) block_statement();
        return false;
      case 14:
      case 15:
        if (labels_.size() <= options_.max_depth) loop_statement();
        return false;
      case 16:
      case 17:
        conditional_branch();
        return false;
      case 18:
        return chance(40) && leave();
      default:
        if (options_.effects) switch_statement();
        return false;
    }
  }

  void store() {
    static constexpr std::array<const char*, 3> kI32s = {"store", "store8", "store16"};
    static constexpr std::array<const char*, 4> kI64s = {"store", "store8", "store16", "store32"};
    const Kind kind = any_kind();
    address(2);
    expression(kind, 3);
    line(std::string(kTypes[kind]) + "." +
         (kind == kI32   ? pick(kI32s)
          : kind == kI64 ? pick(kI64s)
                         : "store") +
         offset());
  }

  void if_statement() {
    expression(kI32, 3);
    line("if");
    labels_.push_back({false, kI32, false});
    statements(1 + below(4));
    if (chance(60)) {
      line("else");
      statements(below(4));
    }
    labels_.pop_back();
    line("end");
  }

  void block_statement() {
    line("block");
    labels_.push_back({false, kI32, false});
    statements(1 + below(6));
    labels_.pop_back();
    line("end");
  }

  void loop_statement() {
    locals_.push_back(kI32);
    const uint32_t counter = static_cast<uint32_t>(locals_.size()) - 1;
    const std::string name = std::to_string(counter);
    counters_.push_back(counter);
    line("i32.const 0\nlocal.set " + name);
    const bool is_while = chance(40);
    if (is_while) {
      line("block");
      labels_.push_back({false, kI32, false});
    }
    line("loop");
    labels_.push_back({false, kI32, true});
    line("local.get " + name + "\ni32.const 1\ni32.add\nlocal.set " + name);
    const std::string limit = "local.get " + name + "\ni32.const " + std::to_string(1 + below(6));
    if (is_while) line(limit + "\ni32.gt_u\nbr_if 1");
    statements(1 + below(5));
    if (is_while) {
      line("br 0");
    } else {
      line(limit + "\ni32.lt_u\nbr_if 0");
    }
    labels_.pop_back();
    line("end");
    if (is_while) {
      labels_.pop_back();
      line("end");
    }
  }

  // A label that a branch may go to from here: a loop's only past its counter, which every loop counts at its
  // top.
  uint32_t any_label() { return below(static_cast<uint32_t>(labels_.size())); }
  const Label& label(uint32_t depth) { return labels_[labels_.size() - 1 - depth]; }

  void conditional_branch() {
    const uint32_t depth = any_label();
    if (label(depth).is_loop && !chance(20)) return;
    if (label(depth).has_value) expression(label(depth).kind, 2);
    expression(kI32, 2);
    line("br_if " + std::to_string(depth));
    if (label(depth).has_value) line("drop");
  }

  bool leave() {
    if (labels_.size() == 1) return false;
    const uint32_t depth = any_label();
    if (label(depth).is_loop) return false;
    if (label(depth).has_value) expression(label(depth).kind, 2);
    line("br " + std::to_string(depth));
    return statement_behind();
  }
  // Code nobody reaches must be skipped without a trace.
  bool statement_behind() {
    if (chance(50)) line("i32.const 1\nlocal.set " + std::to_string(local_of(kI32)));
    // What follows may want values from the stack that is no longer there; end the statement list.
    return true;
  }

  void switch_statement() {
    const uint32_t cases = 1 + below(4);
    for (uint32_t i = 0; i <= cases; ++i) {
      line("block");
      labels_.push_back({false, kI32, false});
    }
    expression(kI32, 2);
    std::string table = "br_table";
    for (uint32_t i = 0; i < cases + 2; ++i) table += " " + std::to_string(below(cases + 1));
    line(table);
    for (uint32_t i = 0; i <= cases; ++i) {
      labels_.pop_back();
      line("end");
      statements(1 + below(2));
      if (i < cases && chance(50)) {
        line("br " + std::to_string(cases - i - 1));
      }
    }
  }

  uint64_t state_;
  RandomOptions options_;
  std::string text_;
  std::vector<Kind> locals_;
  std::vector<uint32_t> counters_;
  std::vector<Label> labels_;
  uint32_t budget_ = 120;
};

}  // namespace

std::string random_wasm(uint64_t seed, const RandomOptions& options) {
  return Generator(seed, options).run();
}

}  // namespace wago::codegen::testing
