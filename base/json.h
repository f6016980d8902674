// JSON for catalogs, captures and machine-readable output. The library behind it is named in json.cc only; no
// exception leaves that file.
//
// `Json` is a plain value: build it, ask it, dump it. Objects keep the order in which members were set, so
// that output is stable and reads as written. Integers keep all 64 bits.
//
// `JsonReader` walks a value that a stranger wrote. Every mistake becomes one sentence with file and JSON
// path, the first one wins, and everything asked after it answers with a default; so a reader is written
// straight down and asks `error()` once at its end.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

namespace wago::base {

class Json {
 public:
  using Member = std::pair<std::string, Json>;

  Json() = default;  // null
  Json(std::nullptr_t) {}
  Json(bool value) : value_(value) {}
  Json(double value) : value_(value) {}
  Json(std::string value) : value_(std::move(value)) {}
  Json(std::string_view value) : value_(std::string(value)) {}
  Json(const char* value) : value_(std::string(value)) {}
  template <class Integer>
  requires(std::is_integral_v<Integer> && !std::is_same_v<Integer, bool>) Json(Integer value) {
    if constexpr (std::is_signed_v<Integer>) {
      if (value < 0) {
        value_ = static_cast<int64_t>(value);
        return;
      }
    }
    value_ = static_cast<uint64_t>(value);
  }
  template <class T>
  Json(const std::optional<T>& value) {
    if (value) *this = Json(*value);
  }

  static Json array(std::vector<Json> items = {});
  static Json object(std::initializer_list<Member> members = {});

  // Replaces the member of that name or appends one. Precondition: an object, or null (which becomes one).
  Json& set(std::string key, Json value);
  // Appends without looking for an earlier member of that name: constant time, for tables.
  Json& append(std::string key, Json value);
  // Precondition: an array, or null (which becomes one).
  Json& push(Json value);

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_bool() const { return std::holds_alternative<bool>(value_); }
  bool is_string() const { return std::holds_alternative<std::string>(value_); }
  bool is_array() const { return std::holds_alternative<std::vector<Json>>(value_); }
  bool is_object() const { return std::holds_alternative<std::vector<Member>>(value_); }
  bool is_number() const { return is_integer() || std::holds_alternative<double>(value_); }
  bool is_integer() const {
    return std::holds_alternative<uint64_t>(value_) || std::holds_alternative<int64_t>(value_);
  }

  // Each is checked: asking for what is not there is our own mistake. A reader of strangers' data uses
  // JsonReader.
  bool as_bool() const;
  double as_double() const;  // any number
  const std::string& as_string() const;
  std::optional<uint64_t> to_u64() const;  // nothing: not an integer, or negative
  std::optional<int64_t> to_i64() const;   // nothing: not an integer, or above its range
  std::span<const Json> items() const;
  std::span<const Member> members() const;
  const Json* find(std::string_view key) const;  // nullptr: no such member, or not an object

  // "a string", "a number", ...: for messages.
  const char* type_name() const;

  // One line, or indented by `indent` spaces. Text that is not UTF-8 is written with replacement characters.
  std::string dump(int indent = -1) const;

  bool operator==(const Json&) const = default;

 private:
  // Negative integers only are int64_t, so that equal numbers are equal values.
  std::variant<std::monostate, bool, uint64_t, int64_t, double, std::string, std::vector<Json>,
               std::vector<Member>>
      value_;
};

// What a document may cost; exceeding one is an error that names it.
struct JsonLimits {
  uint64_t bytes = uint64_t{256} << 20;
  uint32_t depth = 64;
  uint64_t values = 32'000'000;
  uint64_t string_bytes = 1 << 20;  // of one string or name
};

// Strict JSON (RFC 8259) without comments; a member named twice is refused. Errors (ErrorKind::Usage) name
// `file`, and line and column for syntax.
Result<Json> parse_json(std::string_view text, const std::string& file, const JsonLimits& limits = {});

class JsonReader {
 public:
  // The document's root; `file` is what messages call it. `root` must outlive the reader and all made from
  // it.
  JsonReader(const Json& root, std::string file);

  // Members of an object. Required unless named optional_; null counts as absent for optional_.
  std::string string(std::string_view key);
  bool boolean(std::string_view key);
  uint64_t u64(std::string_view key, uint64_t max = UINT64_MAX);
  uint32_t u32(std::string_view key) { return static_cast<uint32_t>(u64(key, UINT32_MAX)); }
  double number(std::string_view key);
  std::optional<std::string> optional_string(std::string_view key);
  std::optional<bool> optional_boolean(std::string_view key);
  std::optional<uint64_t> optional_u64(std::string_view key, uint64_t max = UINT64_MAX, uint64_t min = 0);
  // A word of a vocabulary: `words` are the allowed spellings; answers the index.
  size_t word(std::string_view key, std::span<const std::string_view> words);
  std::optional<size_t> optional_word(std::string_view key, std::span<const std::string_view> words);
  // The member as it is, or nullptr.
  const Json* raw(std::string_view key);
  JsonReader object(std::string_view key);
  std::optional<JsonReader> optional_object(std::string_view key);
  // Calls `each` with a reader of every element; stops at the first error.
  void array(std::string_view key, const std::function<void(JsonReader&)>& each, bool required = true,
             uint64_t max_items = UINT64_MAX);

  // This value itself, for elements of arrays.
  const Json& json() const { return *value_; }
  bool expect_object();
  std::string as_string();
  uint64_t as_u64(uint64_t max = UINT64_MAX);

  // Every member that was not asked for becomes an error that lists the ones that were.
  void refuse_unknown();

  // Records an error at this value, or at its member `key`.
  void fail(std::string message, std::string_view key = {}, ErrorKind kind = ErrorKind::Usage);
  void fail(Error error, std::string_view key = {});  // keeps its kind and message
  bool failed() const;
  const std::optional<Error>& error() const;
  std::string path(std::string_view key = {}) const;

 private:
  struct Document;
  JsonReader(std::shared_ptr<Document> document, const Json* value, std::string path);
  const Json* find(std::string_view key, bool required, const char* wanted);

  std::shared_ptr<Document> document_;
  const Json* value_;  // never null
  std::string path_;
  std::set<std::string, std::less<>> asked_;
};

// The word spelled so in `key`, for the enumerations of vocabulary.h.
template <class Word>
Word read_word(JsonReader& reader, std::string_view key, std::span<const std::string_view> words) {
  return static_cast<Word>(reader.word(key, words));
}

}  // namespace wago::base
