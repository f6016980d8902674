#include "base/demangle.h"

#include <cxxabi.h>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#include "base/demangle_rust.h"

namespace wago::base {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// An upper bound of what demangling gives. A name grows by references to its own parts, S_ or T_ with a
// number between. One part made of b references is b times as long as the longest it refers to, and r
// references make the most of themselves in parts of three: 3^(r/3). A pack expansion (Dp) repeats its
// pattern for each of at most as many arguments as there are bytes.
double longest_expansion(std::string_view name) {
  constexpr double kLongestAbbreviation = 100;  // Ss
  const auto bytes = static_cast<double>(name.size());
  double references = 0, expansions = 0;
  for (size_t i = 0; i + 1 < name.size(); ++i) {
    if (name[i] == 'D' && name[i + 1] == 'p') ++expansions;
    if (name[i] != 'S' && name[i] != 'T') continue;
    size_t end = i + 1;
    while (end < name.size() && (is_digit(name[end]) || (name[end] >= 'A' && name[end] <= 'Z'))) ++end;
    if (end < name.size() && name[end] == '_') ++references;
  }
  return bytes * kLongestAbbreviation * std::pow(3.0, references / 3) * std::pow(bytes, expansions);
}

// Where "::h" and sixteen hexadecimal digits end a name.
std::optional<std::string_view> without_rust_hash(std::string_view name) {
  constexpr size_t kHashBytes = 19;
  if (name.size() <= kHashBytes) return std::nullopt;
  const std::string_view hash = name.substr(name.size() - kHashBytes);
  if (!hash.starts_with("::h") || hash.find_first_not_of("0123456789abcdef", 3) != hash.npos)
    return std::nullopt;
  return name.substr(0, name.size() - kHashBytes);
}

// What stands for characters that linkage names must not have.
std::string without_rust_escapes(std::string_view path) {
  constexpr std::pair<std::string_view, std::string_view> kEscapes[] = {
      {"$LT$", "<"},  {"$GT$", ">"},  {"$BP$", "*"},  {"$RF$", "&"},  {"$LP$", "("},
      {"$RP$", ")"},  {"$C$", ","},   {"$SP$", "@"},  {"$u20$", " "}, {"$u22$", "\""},
      {"$u27$", "'"}, {"$u2b$", "+"}, {"$u3b$", ";"}, {"$u5b$", "["}, {"$u5d$", "]"},
      {"$u7b$", "{"}, {"$u7d$", "}"}, {"$u7e$", "~"}, {"..", "::"},
  };
  std::string text;
  while (!path.empty()) {
    // A part may not begin with an escape; an underscore stands in front.
    if (path.starts_with("_$") && (text.empty() || text.ends_with("::"))) path.remove_prefix(1);
    bool found = false;
    for (const auto& [escape, meaning] : kEscapes) {
      if (!path.starts_with(escape)) continue;
      text += meaning;
      path.remove_prefix(escape.size());
      found = true;
      break;
    }
    if (found) continue;
    text += path.front();
    path.remove_prefix(1);
  }
  return text;
}

}  // namespace

std::string demangled(std::string_view name) {
  constexpr double kMaxExpansion = 16e6;
  std::string text(name);
  if (name.size() > kMaxMangledBytes) return text;
  if (auto plain = demangled_rust(name)) return *std::move(plain);
  if (name.starts_with("_Z") && longest_expansion(name) <= kMaxExpansion) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> plain(
        abi::__cxa_demangle(text.c_str(), nullptr, nullptr, &status), &std::free);
    if (status == 0 && plain) text = plain.get();
  }
  if (const auto path = without_rust_hash(text)) return without_rust_escapes(*path);
  return text;
}

}  // namespace wago::base
