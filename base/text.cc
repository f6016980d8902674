#include "base/text.h"

#include <algorithm>
#include <ctime>

#include "base/demangle.h"
#include "base/vocabulary.h"

namespace wago::base {

namespace {

// Bytes of the UTF-8 sequence at `text`'s start, 0 if there is none (RFC 3629: shortest form, no surrogates).
size_t utf8_length(std::string_view text) {
  auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  auto tail = [&](size_t i) { return (byte(i) & 0xc0) == 0x80; };
  unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return tail(1) ? 2 : 0;
  if ((first & 0xf0) == 0xe0) {
    if (!tail(1) || !tail(2)) return 0;
    bool overlong = first == 0xe0 && byte(1) < 0xa0;
    bool surrogate = first == 0xed && byte(1) >= 0xa0;
    return overlong || surrogate ? 0 : 3;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    if (!tail(1) || !tail(2) || !tail(3)) return 0;
    bool overlong = first == 0xf0 && byte(1) < 0x90;
    bool too_large = first == 0xf4 && byte(1) >= 0x90;
    return overlong || too_large ? 0 : 4;
  }
  return 0;
}

// Controls of ASCII and of Latin-1 (U+0080..U+009F), line separators, the marks that reverse the direction of
// a line, and what takes no room and would make two names look like one: soft hyphens, word joiners, tags;
// but not the joiners that scripts need (U+200C, U+200D).
bool steers_terminal(std::string_view sequence) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(sequence[i]); };
  switch (sequence.size()) {
    case 1:
      return byte(0) < 0x20 || byte(0) == 0x7f;
    case 2:
      return (byte(0) == 0xc2 && (byte(1) < 0xa0 || byte(1) == 0xad)) ||  // and U+00AD
             (byte(0) == 0xd8 && byte(1) == 0x9c);                        // U+061C
    case 3:
      return (byte(0) == 0xe2 && byte(1) == 0x80 && byte(2) >= 0xa8 && byte(2) <= 0xae) ||  // U+2028..U+202E
             (byte(0) == 0xe2 && byte(1) == 0x80 &&
              (byte(2) == 0x8b || byte(2) == 0x8e || byte(2) == 0x8f)) ||
             (byte(0) == 0xe2 && byte(1) == 0x81 && byte(2) >= 0xa0 && byte(2) <= 0xaf) ||  // U+2060..U+206F
             (byte(0) == 0xe1 && byte(1) == 0xa0 && byte(2) == 0x8e) ||                     // U+180E
             (byte(0) == 0xef && byte(1) == 0xbb && byte(2) == 0xbf);                       // U+FEFF
    case 4:
      return byte(0) == 0xf3 && byte(1) == 0xa0 && byte(2) <= 0x81;  // U+E0000..U+E007F
    default:
      return false;
  }
}

void append_escaped(std::string& out, std::string_view bytes) {
  static constexpr char kHex[] = "0123456789abcdef";
  for (unsigned char c : bytes) out += {'\\', 'x', kHex[c >> 4], kHex[c & 15]};
}

// Nothing but what is a space in one script or another (category Zs): U+0020, U+00A0, U+1680, U+2000..U+200A,
// U+202F, U+205F, U+3000.
bool is_blank(std::string_view text) {
  constexpr std::string_view kSpaces[] = {
      " ", "\xc2\xa0", "\xe1\x9a\x80", "\xe2\x80\xaf", "\xe2\x81\x9f", "\xe3\x80\x80"};
  while (!text.empty()) {
    const std::string_view sequence = text.substr(0, std::max<size_t>(utf8_length(text), 1));
    const bool quad = sequence.size() == 3 && sequence.starts_with("\xe2\x80") &&
                      static_cast<unsigned char>(sequence[2]) <= 0x8a;
    if (!quad && std::ranges::find(kSpaces, sequence) == std::end(kSpaces)) return false;
    text.remove_prefix(sequence.size());
  }
  return true;
}

struct Escaped {
  std::string text;
  bool changed = false;
  bool needs_quotes = false;
};

Escaped escape(std::string_view text, bool quoting) {
  Escaped result;
  while (!text.empty()) {
    size_t length = utf8_length(text);
    std::string_view sequence = text.substr(0, std::max<size_t>(length, 1));
    if (length == 0 || steers_terminal(sequence)) {
      append_escaped(result.text, sequence);
      result.changed = true;
    } else {
      if (quoting && (sequence == "\"" || sequence == "\\")) result.text += '\\';
      if (sequence == "\"" || sequence == "\\" || sequence == " ") result.needs_quotes = true;
      result.text += sequence;
    }
    text.remove_prefix(sequence.size());
  }
  return result;
}

size_t width(std::string_view text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string display(std::string_view text) {
  Escaped escaped = escape(text, true);
  if (text.empty() || escaped.changed || escaped.needs_quotes) return "\"" + escaped.text + "\"";
  return escaped.text;
}

std::string printable(std::string_view text) {
  return escape(text, false).text;
}

std::string function_label(std::string_view name) {
  std::string label = printable(demangled(name));
  return is_blank(label) ? "\"" + label + "\"" : label;
}

std::string join_some(std::span<const std::string_view> words) {
  constexpr size_t kShown = 12;
  if (words.size() <= kShown) return join(words);
  return join(words.first(kShown)) + " and " + std::to_string(words.size() - kShown) + " more";
}

std::string not_among(std::string_view text, std::span<const std::string_view> words) {
  const std::string quoted = "'" + std::string(text) + "'";
  if (words.size() == 1) return "must be " + std::string(words[0]) + ", not " + quoted;
  return quoted + " is not one of " + join(words);
}

std::string utc_text(uint64_t unix_ns, const char* format) {
  const auto seconds = static_cast<std::time_t>(unix_ns / 1'000'000'000);
  std::tm utc{};
  char buffer[64];
  gmtime_r(&seconds, &utc);
  return std::string(buffer, std::strftime(buffer, sizeof buffer, format, &utc));
}

std::string painted(std::string_view text, Paint paint, bool colour) {
  if (!colour) return std::string(text);
  const char* code = paint == Paint::Good ? "32" : paint == Paint::Doubtful ? "33" : "31";
  return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
}

std::string columns(const std::vector<std::vector<std::string>>& rows, const std::vector<Align>& alignment) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      std::string padding(widths[i] - width(row[i]), ' ');
      bool right = i < alignment.size() && alignment[i] == Align::Right;
      if (i > 0) line += "  ";
      line += right ? padding + row[i] : row[i] + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

std::string as_markup(std::string_view text) {
  static constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD
  std::string result;
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    const std::string_view sequence = text.substr(0, std::max<size_t>(length, 1));
    text.remove_prefix(sequence.size());
    if (length == 0 || sequence == "\xef\xbf\xbe" || sequence == "\xef\xbf\xbf") {  // U+FFFE, U+FFFF
      result += kReplacement;
    } else if (sequence == "&") {
      result += "&amp;";
    } else if (sequence == "<") {
      result += "&lt;";
    } else if (sequence == ">") {
      result += "&gt;";
    } else if (sequence == "\"") {
      result += "&quot;";
    } else if (sequence == "\n" || sequence == "\t" || sequence == "\r") {
      // Attributes would turn them into spaces, and texts a carriage return into a line end.
      result += "&#" + std::to_string(static_cast<int>(sequence[0])) + ";";
    } else if (length == 1 && (static_cast<uint8_t>(sequence[0]) < 0x20 || sequence[0] == 0x7f)) {
      result += kReplacement;
    } else {
      result += sequence;
    }
  }
  return result;
}

}  // namespace wago::base
