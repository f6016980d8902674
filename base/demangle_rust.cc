#include "base/demangle_rust.h"

#include <cstdint>
#include <utility>

#include "base/punycode.h"

namespace wago::base {

namespace {

constexpr unsigned kMaxDepth = 200;
constexpr unsigned kMaxSteps = 50'000;  // paths, types and constants, through references too
constexpr size_t kMaxBytes = 64 << 10;  // of the result

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}

std::string_view basic_type(char tag) {
  // By letter; empty where there is none.
  constexpr std::string_view kTypes[26] = {
      "i8",   "bool", "char", "f64", "str", "f32", "",    "u8", "isize", "usize", "",    "i32", "u32",
      "i128", "u128", "_",    "",    "",    "i16", "u16", "()", "...",   "",      "i64", "u64", "!"};
  return is_lower(tag) ? kTypes[tag - 'a'] : std::string_view();
}

struct Identifier {
  std::string_view bytes;
  bool punycode = false;
};

enum class In { Value, Type };
enum class Generics { Close, LeaveOpen };

// One member function a rule of the grammar: it reads the rule and, unless muted, prints what it means. After
// a failure everything reads as nothing, and the result is void.
class RustName {
 public:
  explicit RustName(std::string_view input) : input_(input) {}

  std::optional<std::string> demangle() {
    if (is_digit(peek())) return std::nullopt;  // a version to come
    path(In::Value);
    if (!failed_ && at_ < input_.size()) {
      // The crate that an instance was made for is not part of the name.
      muted_ = true;
      path(In::Value);
    }
    if (failed_ || at_ != input_.size()) return std::nullopt;
    return std::move(text_);
  }

 private:
  // Counts into one rule and, at the end of a scope, out of it.
  class Step {
   public:
    explicit Step(RustName& name) : name_(name) {
      if (++name.depth_ > kMaxDepth || ++name.steps_ > kMaxSteps) name.failed_ = true;
    }
    ~Step() { --name_.depth_; }
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;

   private:
    RustName& name_;
  };

  // --- Reading

  char peek() const { return !failed_ && at_ < input_.size() ? input_[at_] : '\0'; }
  char next() {
    const char c = peek();
    if (c == '\0') {
      failed_ = true;
    } else {
      ++at_;
    }
    return c;
  }
  bool next_is(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  uint64_t fail() {
    failed_ = true;
    return 0;
  }

  // value = value * base + digit
  void append_digit(uint64_t& value, uint64_t base, uint64_t digit) {
    if (__builtin_mul_overflow(value, base, &value) || __builtin_add_overflow(value, digit, &value)) fail();
  }

  // "_" is 0, "0_" is 1, and so on.
  uint64_t base_62() {
    if (next_is('_')) return 0;
    uint64_t value = 0;
    while (!failed_ && !next_is('_')) {
      const char c = next();
      if (is_digit(c)) {
        append_digit(value, 62, static_cast<uint64_t>(c - '0'));
      } else if (is_lower(c)) {
        append_digit(value, 62, static_cast<uint64_t>(c - 'a' + 10));
      } else if (is_upper(c)) {
        append_digit(value, 62, static_cast<uint64_t>(c - 'A' + 36));
      } else {
        return fail();
      }
    }
    append_digit(value, 1, 1);
    return value;
  }

  uint64_t optional_base_62(char tag) {
    if (!next_is(tag)) return 0;
    uint64_t value = base_62();
    append_digit(value, 1, 1);
    return value;
  }

  uint64_t decimal() {
    if (!is_digit(peek())) return fail();
    if (next_is('0')) return 0;
    uint64_t value = 0;
    while (is_digit(peek())) append_digit(value, 10, static_cast<uint64_t>(next() - '0'));
    return value;
  }

  Identifier identifier() {
    Identifier found;
    found.punycode = next_is('u');
    const uint64_t size = decimal();
    // Stands before names that begin with a digit or an underscore.
    next_is('_');
    if (failed_ || size > input_.size() - at_) {
      fail();
      return {};
    }
    found.bytes = input_.substr(at_, size);
    at_ += size;
    return found;
  }

  // Reads `rule` where a reference leads. A reference leads back, so that there is an end.
  template <class Rule>
  void follow(Rule rule) {
    const size_t here = at_ - 1;
    const uint64_t there = base_62();
    if (failed_ || there >= here) {
      fail();
      return;
    }
    if (muted_) return;
    const size_t after = std::exchange(at_, there);
    rule();
    at_ = after;
  }

  // Reads `item` until an E, and answers how many there were.
  template <class Item>
  size_t list(std::string_view separator, Item item) {
    size_t count = 0;
    for (; !failed_ && !next_is('E'); ++count) {
      if (count > 0) print(separator);
      item();
    }
    return count;
  }

  // --- Printing

  void print(std::string_view words) {
    if (failed_ || muted_) return;
    if (words.size() > kMaxBytes - text_.size()) {
      fail();
      return;
    }
    text_ += words;
  }

  void print(const Identifier& name) {
    if (failed_ || muted_ || !name.punycode) return print(name.bytes);
    const auto decoded = decoded_punycode(name.bytes, '_');
    if (!decoded) return void(fail());
    print(*decoded);
  }

  // Lifetimes are numbered from the innermost binder's last outwards; 0 is one that is not named.
  void print_lifetime(uint64_t index) {
    if (index == 0) return print("'_");
    if (index > bound_lifetimes_) return void(fail());
    const uint64_t number = bound_lifetimes_ - index;
    if (number < 26) return print(std::string("'") + static_cast<char>('a' + number));
    print("'z" + std::to_string(number - 25));
  }

  // --- Rules

  void impl_path() {
    const bool muted = std::exchange(muted_, true);
    optional_base_62('s');
    path(In::Value);
    muted_ = muted;
  }

  void qualified(bool is_trait) {
    print("<");
    type();
    if (is_trait) {
      print(" as ");
      path(In::Type);
    }
    print(">");
  }

  // Whether "<" was printed and ">" was not.
  bool path(In in, Generics generics = Generics::Close) {
    const Step step(*this);
    bool open = false;
    switch (next()) {
      case 'C':
        optional_base_62('s');
        print(identifier());
        break;
      case 'M':
        impl_path();
        qualified(false);
        break;
      case 'X':
        impl_path();
        qualified(true);
        break;
      case 'Y':
        qualified(true);
        break;
      case 'N':
        nested_path(in);
        break;
      case 'I':
        path(in);
        print(in == In::Value ? "::<" : "<");
        list(", ", [&] { generic_argument(); });
        open = generics == Generics::LeaveOpen;
        if (!open) print(">");
        break;
      case 'B':
        follow([&] { open = path(in, generics); });
        break;
      default:
        fail();
    }
    return open;
  }

  // Upper case names what the compiler made.
  void nested_path(In in) {
    const char space = next();
    if (!is_lower(space) && !is_upper(space)) return void(fail());
    path(in);
    const uint64_t disambiguator = optional_base_62('s');
    const Identifier name = identifier();
    if (is_upper(space)) {
      print("::{");
      if (space == 'C') {
        print("closure");
      } else if (space == 'S') {
        print("shim");
      } else {
        print(std::string(1, space));
      }
      if (!name.bytes.empty()) print(":");
      print(name);
      print("#" + std::to_string(disambiguator) + "}");
    } else if (!name.bytes.empty()) {
      print("::");
      print(name);
    }
  }

  void generic_argument() {
    if (next_is('L')) {
      print_lifetime(base_62());
    } else if (next_is('K')) {
      constant();
    } else {
      type();
    }
  }

  void type() {
    const Step step(*this);
    const char tag = next();
    if (const std::string_view name = basic_type(tag); !name.empty()) return print(name);
    switch (tag) {
      case 'A':
        print("[");
        type();
        print("; ");
        constant();
        return print("]");
      case 'S':
        print("[");
        type();
        return print("]");
      case 'T': {
        print("(");
        const size_t count = list(", ", [&] { type(); });
        return print(count == 1 ? ",)" : ")");
      }
      case 'R':
      case 'Q':
        print("&");
        if (next_is('L')) {
          if (const uint64_t lifetime = base_62()) {
            print_lifetime(lifetime);
            print(" ");
          }
        }
        if (tag == 'Q') print("mut ");
        return type();
      case 'P':
        print("*const ");
        return type();
      case 'O':
        print("*mut ");
        return type();
      case 'F':
        return bound([&] { function_signature(); });
      case 'D':
        print("dyn ");
        bound([&] { list(" + ", [&] { dyn_trait(); }); });
        if (!next_is('L')) return void(fail());
        if (const uint64_t lifetime = base_62()) {
          print(" + ");
          print_lifetime(lifetime);
        }
        return;
      case 'B':
        return follow([&] { type(); });
      default:
        --at_;
        path(In::Type);
    }
  }

  // What stands behind for<'a, 'b>, if anything does.
  template <class Rule>
  void bound(Rule rule) {
    const uint64_t outside = bound_lifetimes_;
    const uint64_t count = optional_base_62('G');
    // Each is of use in a byte at least.
    if (count >= input_.size() - outside) return void(fail());
    if (count > 0) {
      print("for<");
      for (uint64_t i = 0; i < count && !failed_; ++i) {
        if (i > 0) print(", ");
        ++bound_lifetimes_;
        print_lifetime(1);
      }
      print("> ");
    }
    rule();
    bound_lifetimes_ = outside;
  }

  void function_signature() {
    if (next_is('U')) print("unsafe ");
    if (next_is('K')) {
      print("extern \"");
      if (next_is('C')) {
        print("C");
      } else {
        const Identifier abi = identifier();
        if (abi.punycode) fail();
        std::string name(abi.bytes);
        for (char& c : name) {
          if (c == '_') c = '-';
        }
        print(name);
      }
      print("\" ");
    }
    print("fn(");
    list(", ", [&] { type(); });
    print(")");
    if (next_is('u')) return;
    print(" -> ");
    type();
  }

  void dyn_trait() {
    bool open = path(In::Type, Generics::LeaveOpen);
    while (next_is('p')) {
      print(open ? ", " : "<");
      open = true;
      print(identifier());
      print(" = ");
      type();
    }
    if (open) print(">");
  }

  void constant() {
    const Step step(*this);
    const char tag = next();
    switch (tag) {
      case 'a':
      case 's':
      case 'l':
      case 'x':
      case 'n':
      case 'i':
        if (next_is('n')) print("-");
        return number();
      case 'h':
      case 't':
      case 'm':
      case 'y':
      case 'o':
      case 'j':
        return number();
      case 'b': {
        const std::string_view digits = hex_digits();
        if (digits != "0" && digits != "1") fail();
        return print(digits == "0" ? "false" : "true");
      }
      case 'c':
        return character();
      case 'p':
        return print("_");
      case 'B':
        return follow([&] { constant(); });
      default:
        fail();
    }
  }

  // Without leading zeros, up to "_".
  std::string_view hex_digits() {
    const size_t begin = at_;
    while (is_digit(peek()) || (peek() >= 'a' && peek() <= 'f')) ++at_;
    const std::string_view digits = input_.substr(begin, at_ - begin);
    if (!next_is('_') || digits.empty() || (digits.size() > 1 && digits[0] == '0')) fail();
    return failed_ ? std::string_view() : digits;
  }

  void number() {
    const std::string_view digits = hex_digits();
    if (digits.size() > 16) return print("0x" + std::string(digits));
    print(std::to_string(value_of(digits)));
  }

  static uint64_t value_of(std::string_view digits) {
    uint64_t value = 0;
    for (char c : digits) value = value * 16 + static_cast<uint64_t>(is_digit(c) ? c - '0' : c - 'a' + 10);
    return value;
  }

  void character() {
    const std::string_view digits = hex_digits();
    if (failed_ || digits.size() > 6) return void(fail());
    const uint64_t code = value_of(digits);
    print("'");
    switch (code) {
      case '\t':
        print("\\t");
        break;
      case '\r':
        print("\\r");
        break;
      case '\n':
        print("\\n");
        break;
      case '\\':
        print("\\\\");
        break;
      case '\'':
        print("\\'");
        break;
      default:
        if (code >= ' ' && code <= '~') {
          print(std::string(1, static_cast<char>(code)));
        } else {
          print("\\u{" + std::string(digits) + "}");
        }
    }
    print("'");
  }

  const std::string_view input_;  // what follows "_R"
  size_t at_ = 0;
  std::string text_;
  bool failed_ = false;
  bool muted_ = false;
  unsigned depth_ = 0;
  unsigned steps_ = 0;
  uint64_t bound_lifetimes_ = 0;
};

}  // namespace

std::optional<std::string> demangled_rust(std::string_view name) {
  if (!name.starts_with("_R")) return std::nullopt;
  const size_t dot = name.find('.');
  auto text = RustName(name.substr(2, dot == name.npos ? dot : dot - 2)).demangle();
  if (text && dot != name.npos) *text += " (" + std::string(name.substr(dot)) + ")";
  return text;
}

}  // namespace wago::base
