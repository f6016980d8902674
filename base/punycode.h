// Text of any script in ASCII letters, digits and a delimiter (RFC 3492), as linkage names have it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace wago::base {

// In UTF-8. The last `delimiter` ends what stands for itself. Nothing if `text` is not of that form.
// Quadratic in the size of `text`.
std::optional<std::string> decoded_punycode(std::string_view text, char delimiter);

}  // namespace wago::base
