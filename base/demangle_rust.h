// Rust's own linkage names, "v0": _RNvC4main3foo is main::foo. The grammar is RFC 2603's.
//
// Such a name is a program in a way: a part may refer to any earlier part, and so a few hundred bytes can
// stand for gigabytes. Work and text are bounded; beyond a bound a name is not understood.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace wago::base {

// Nothing if `name` is not of this form, or not understood. Hashes of crates and of types are left out; what
// tools append after a dot (".llvm.123") stands in parentheses.
std::optional<std::string> demangled_rust(std::string_view name);

}  // namespace wago::base
