// Text for people's eyes: names that came from strangers, and columns.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace wago::base {

bool is_utf8(std::string_view text);

// `text` as it may stand in a line of output. Plain words stay as they are; what is empty, or holds spaces,
// quotes, backslashes, control characters or bytes that are not UTF-8, is quoted with those escaped, so that
// a name in a module can neither break a line nor steer a terminal.
std::string display(std::string_view text);

// The same without quotes, for places where the text stands alone (a column, the rest of a line): only what
// could break a line or steer a terminal is escaped.
std::string printable(std::string_view text);

// A function's name as people know it: demangled(), then printable().
std::string function_label(std::string_view name);

// Text as XML 1.0 and HTML may hold it, between tags and in quoted attributes: markup and line ends are
// escaped, and what may not stand in a document at all is replaced.
std::string as_markup(std::string_view text);

// The cure, said once where functions can only be numbered.
inline constexpr const char* kKeepFunctionNames = "compilers keep them with -g, wat2wasm with --debug-names";

// "a, b and 9 more", the first dozen: of what strangers may have many of.
std::string join_some(std::span<const std::string_view> words);
// "'x' is not one of a, b, c", "must be a, not 'x'": why `text` will not do.
std::string not_among(std::string_view text, std::span<const std::string_view> words);

// A moment in universal time, as strftime writes it; up to 63 bytes.
std::string utc_text(uint64_t unix_ns, const char* format);

// Emphasis on a terminal; the text itself where `colour` is false.
enum class Paint { Good, Doubtful, Bad };
std::string painted(std::string_view text, Paint paint, bool colour);

// Whether a column's cells start or end together.
enum class Align { Left, Right };

// Rows of cells, two spaces between columns, a newline after each row; no spaces at the end of a line.
// Columns without an alignment are Left. Widths count code points.
std::string columns(const std::vector<std::vector<std::string>>& rows,
                    const std::vector<Align>& alignment = {});

}  // namespace wago::base
