#include "base/shell.h"

#include <algorithm>

#include "base/text.h"

namespace wago::base {

namespace {

// What no shell gives a meaning, wherever it stands in a word; "=" has one at the beginning (zsh).
bool is_plain(std::string_view text) {
  constexpr std::string_view kMarks = "_-./:@%+,=";
  return !text.empty() && text.front() != '=' && std::ranges::all_of(text, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kMarks.find(c) != std::string_view::npos;
  });
}

std::string escaped(std::string_view text) {
  std::string word = "$'";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\'' || c == '\\') {
      word += {'\\', c};
    } else if (byte >= 0x20 && byte < 0x7f) {
      word += c;
    } else {
      // Three digits always: what follows cannot become one of them.
      word += {'\\', static_cast<char>('0' + (byte >> 6)), static_cast<char>('0' + (byte >> 3 & 7)),
               static_cast<char>('0' + (byte & 7))};
    }
  }
  return word + "'";
}

}  // namespace

std::string shell_word(std::string_view text) {
  if (is_plain(text)) return std::string(text);
  if (printable(text) != text) return escaped(text);
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'') {
      word += "'\\''";
    } else {
      word += c;
    }
  }
  return word + "'";
}

std::string shell_path(std::string_view path) {
  return shell_word(path.starts_with('-') ? "./" + std::string(path) : std::string(path));
}

std::string shell_flag(std::string_view flag, std::string_view value) {
  return std::string(flag) + (value.starts_with('-') ? "=" : " ") + shell_word(value);
}

}  // namespace wago::base
