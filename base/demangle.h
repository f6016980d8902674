// Linkage names as people wrote them: C++'s (Itanium), Rust's of the same form (`_ZN...17h<hash>E`), and
// Rust's own
// (`_R...`, demangle_rust.h).
#pragma once

#include <string>
#include <string_view>

namespace wago::base {

// Names longer than this stay as they are.
constexpr size_t kMaxMangledBytes = 4096;

// `name` itself if it is not mangled, not understood, or would become too long: a name of 300 bytes can stand
// for gigabytes. Rust's hashes and escapes are taken out, in names that a linker has demangled already too.
std::string demangled(std::string_view name);

}  // namespace wago::base
