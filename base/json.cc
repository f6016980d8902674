#include "base/json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "base/text.h"
#include "base/vocabulary.h"

namespace wago::base {

namespace {

using Library = nlohmann::json;

// Builds our values from the library's events, and stops at the first limit or mistake.
class Builder : public nlohmann::json_sax<Library> {
 public:
  Builder(std::string_view text, const std::string& file, const JsonLimits& limits)
      : text_(text), file_(file), limits_(limits) {}

  bool null() override { return add(Json()); }
  bool boolean(bool value) override { return add(Json(value)); }
  bool number_integer(int64_t value) override { return add(Json(value)); }
  bool number_unsigned(uint64_t value) override { return add(Json(value)); }
  bool number_float(double value, const std::string&) override { return add(Json(value)); }
  bool string(std::string& value) override {
    if (!check_string(value)) return false;
    return add(Json(std::move(value)));
  }
  bool binary(Library::binary_t&) override { return stop("binary values are not JSON"); }
  bool start_object(size_t) override { return open(Json::object()); }
  bool end_object() override { return close(); }
  bool start_array(size_t) override { return open(Json::array()); }
  bool end_array() override { return close(); }
  bool key(std::string& name) override {
    if (!check_string(name)) return false;
    Open& object = stack_.back();
    object.key = name;
    if (!object.names.insert(std::move(name)).second) {
      return stop("the name \"" + object.key + "\" is given twice");
    }
    return true;
  }
  bool parse_error(size_t position, const std::string& read, const Library::exception& error) override {
    // Its one mistake that is none of syntax: a number that no double holds.
    if (dynamic_cast<const Library::out_of_range*>(&error) != nullptr)
      return stop("the number " + read.substr(0, 40) + " is too large");
    error_ = usage_error(
        "not JSON at " + line_and_column(position ? position - 1 : 0) + ": " + reason_of(error.what()),
        {.file = file_});
    return false;
  }

  Result<Json> take() {
    if (error_) return *error_;
    return std::move(root_);
  }

 private:
  // As editors count them, columns in code points.
  std::string line_and_column(size_t offset) const {
    std::string_view before = text_.substr(0, std::min(offset, text_.size()));
    auto line = std::count(before.begin(), before.end(), '\n');
    std::string_view start = before.substr(before.rfind('\n') + 1);
    auto column = std::count_if(start.begin(), start.end(), [](char c) { return (c & 0xc0) != 0x80; });
    return "line " + std::to_string(line + 1) + ", column " + std::to_string(column + 1);
  }
  // "[...] parse error at line 1, column 2: syntax error while parsing value - invalid literal; last read:
  // '{x'": what stands between the dash and the semicolon is what a person needs; what was read stands at the
  // place itself.
  static std::string reason_of(std::string_view what) {
    if (size_t dash = what.find(" - "); dash != std::string_view::npos) what.remove_prefix(dash + 3);
    what = what.substr(0, what.find("; last read"));
    std::string reason(what);
    if (size_t expected = reason.find("; expected "); expected != std::string::npos) {
      reason.replace(expected, 11, " where this was expected: ");
    }
    return reason;
  }

  struct Open {
    Json value;
    std::string key;
    std::unordered_set<std::string> names;
  };

  bool stop(std::string message) {
    if (!error_) error_ = usage_error(std::move(message), {.file = file_, .json_path = path()});
    return false;
  }
  std::string path() const {
    std::string text;
    for (const Open& open : stack_) {
      if (open.value.is_array()) {
        text += "[" + std::to_string(open.value.items().size()) + "]";
      } else if (!open.key.empty()) {
        if (!text.empty()) text += ".";
        text += open.key;
      }
    }
    return text;
  }
  bool check_string(const std::string& text) {
    if (text.size() <= limits_.string_bytes) return true;
    return stop("a string of " + std::to_string(text.size()) + " bytes exceeds the limit string_bytes (" +
                std::to_string(limits_.string_bytes) + ")");
  }
  bool add(Json value) {
    if (++values_ > limits_.values) {
      return stop("the document exceeds the limit values (" + std::to_string(limits_.values) + ")");
    }
    if (stack_.empty()) {
      root_ = std::move(value);
    } else if (stack_.back().value.is_array()) {
      stack_.back().value.push(std::move(value));
    } else {
      stack_.back().value.append(std::move(stack_.back().key), std::move(value));
    }
    return true;
  }
  bool open(Json value) {
    if (stack_.size() >= limits_.depth) {
      return stop("nesting exceeds the limit depth (" + std::to_string(limits_.depth) + ")");
    }
    stack_.push_back({std::move(value), {}, {}});
    return true;
  }
  bool close() {
    Json value = std::move(stack_.back().value);
    stack_.pop_back();
    return add(std::move(value));
  }

  std::string_view text_;
  std::string file_;
  const JsonLimits& limits_;
  std::vector<Open> stack_;
  Json root_;
  uint64_t values_ = 0;
  std::optional<Error> error_;
};

// The library escapes; we only walk, so that members keep their order and large documents are not built
// twice.
void write_string(std::string& out, const std::string& text) {
  bool plain = std::all_of(text.begin(), text.end(),
                           [](unsigned char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; });
  if (plain) {
    out += '"';
    out += text;
    out += '"';
    return;
  }
  out += Library(text).dump(-1, ' ', false, Library::error_handler_t::replace);
}

void write_double(std::string& out, double value) {
  // JSON has no spelling for these.
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  char buffer[40];
  std::string_view text(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr - buffer);
  out += text;
  if (text.find_first_of(".e") == std::string_view::npos) out += ".0";
}

void new_line(std::string& out, int indent, int depth) {
  if (indent < 0) return;
  out += '\n';
  out.append(static_cast<size_t>(indent * depth), ' ');
}

void write(std::string& out, const Json& json, int indent, int depth) {
  if (json.is_null()) {
    out += "null";
  } else if (json.is_bool()) {
    out += json.as_bool() ? "true" : "false";
  } else if (auto positive = json.to_u64()) {
    out += std::to_string(*positive);
  } else if (auto negative = json.to_i64()) {
    out += std::to_string(*negative);
  } else if (json.is_number()) {
    write_double(out, json.as_double());
  } else if (json.is_string()) {
    write_string(out, json.as_string());
  } else if (json.is_array()) {
    // Arrays of plain values stay on one line: they are vectors, rows, lists of labels.
    bool nested = std::any_of(json.items().begin(), json.items().end(),
                              [](const Json& item) { return item.is_array() || item.is_object(); });
    out += '[';
    for (size_t i = 0; i < json.items().size(); ++i) {
      if (i) out += indent >= 0 && !nested ? ", " : ",";
      if (nested) new_line(out, indent, depth + 1);
      write(out, json.items()[i], indent, depth + 1);
    }
    if (nested) new_line(out, indent, depth);
    out += ']';
  } else {
    out += '{';
    bool first = true;
    for (const auto& [key, value] : json.members()) {
      if (!first) out += ',';
      first = false;
      new_line(out, indent, depth + 1);
      write_string(out, key);
      out += indent >= 0 ? ": " : ":";
      write(out, value, indent, depth + 1);
    }
    if (!first) new_line(out, indent, depth);
    out += '}';
  }
}

}  // namespace

Json Json::array(std::vector<Json> items) {
  Json json;
  json.value_ = std::move(items);
  return json;
}

Json Json::object(std::initializer_list<Member> members) {
  Json json;
  json.value_ = std::vector<Member>(members);
  return json;
}

Json& Json::set(std::string key, Json value) {
  if (is_null()) value_ = std::vector<Member>();
  auto* members = std::get_if<std::vector<Member>>(&value_);
  WAGO_CHECK(members);
  for (Member& member : *members) {
    if (member.first == key) {
      member.second = std::move(value);
      return *this;
    }
  }
  return append(std::move(key), std::move(value));
}

Json& Json::append(std::string key, Json value) {
  if (is_null()) value_ = std::vector<Member>();
  auto* members = std::get_if<std::vector<Member>>(&value_);
  WAGO_CHECK(members);
  members->emplace_back(std::move(key), std::move(value));
  return *this;
}

Json& Json::push(Json value) {
  if (is_null()) value_ = std::vector<Json>();
  auto* items = std::get_if<std::vector<Json>>(&value_);
  WAGO_CHECK(items);
  items->push_back(std::move(value));
  return *this;
}

bool Json::as_bool() const {
  WAGO_CHECK(is_bool());
  return std::get<bool>(value_);
}

double Json::as_double() const {
  if (auto positive = std::get_if<uint64_t>(&value_)) return static_cast<double>(*positive);
  if (auto negative = std::get_if<int64_t>(&value_)) return static_cast<double>(*negative);
  WAGO_CHECK(std::holds_alternative<double>(value_));
  return std::get<double>(value_);
}

const std::string& Json::as_string() const {
  WAGO_CHECK(is_string());
  return std::get<std::string>(value_);
}

std::optional<uint64_t> Json::to_u64() const {
  if (auto positive = std::get_if<uint64_t>(&value_)) return *positive;
  return std::nullopt;
}

std::optional<int64_t> Json::to_i64() const {
  if (auto negative = std::get_if<int64_t>(&value_)) return *negative;
  if (auto positive = std::get_if<uint64_t>(&value_); positive && *positive <= INT64_MAX) {
    return static_cast<int64_t>(*positive);
  }
  return std::nullopt;
}

std::span<const Json> Json::items() const {
  WAGO_CHECK(is_array());
  return std::get<std::vector<Json>>(value_);
}

std::span<const Json::Member> Json::members() const {
  WAGO_CHECK(is_object());
  return std::get<std::vector<Member>>(value_);
}

const Json* Json::find(std::string_view key) const {
  auto* members = std::get_if<std::vector<Member>>(&value_);
  if (!members) return nullptr;
  for (const Member& member : *members) {
    if (member.first == key) return &member.second;
  }
  return nullptr;
}

const char* Json::type_name() const {
  if (is_null()) return "null";
  if (is_bool()) return "true or false";
  if (is_integer()) return to_u64() ? "an integer" : "a negative integer";
  if (is_number()) {
    // What no integer holds was read as the nearest of these.
    const double value = as_double();
    if (value >= 18446744073709551616.0) return "a number above 64 bits";
    if (value < -9223372036854775808.0) return "a negative number beyond 64 bits";
    return "a number with a fraction";
  }
  if (is_string()) return "a string";
  return is_array() ? "an array" : "an object";
}

std::string Json::dump(int indent) const {
  std::string out;
  write(out, *this, indent, 0);
  return out;
}

Result<Json> parse_json(std::string_view text, const std::string& file, const JsonLimits& limits) {
  if (text.size() > limits.bytes) {
    return usage_error("the document has " + std::to_string(text.size()) + " bytes, over the limit bytes (" +
                           std::to_string(limits.bytes) + ")",
                       {.file = file});
  }
  Builder builder(text, file, limits);
  try {
    Library::sax_parse(text, &builder);
  } catch (const std::exception&) {
    // Its mistakes are events; what it throws is that there is no memory.
    return failed("cannot be read as JSON: there is not enough memory", {.file = file});
  }
  return builder.take();
}

struct JsonReader::Document {
  std::string file;
  std::optional<Error> error;
};

JsonReader::JsonReader(const Json& root, std::string file)
    : document_(std::make_shared<Document>()), value_(&root) {
  document_->file = std::move(file);
}

JsonReader::JsonReader(std::shared_ptr<Document> document, const Json* value, std::string path)
    : document_(std::move(document)), value_(value), path_(std::move(path)) {}

std::string JsonReader::path(std::string_view key) const {
  if (key.empty()) return path_;
  return path_.empty() ? std::string(key) : path_ + "." + std::string(key);
}

void JsonReader::fail(std::string message, std::string_view key, ErrorKind kind) {
  if (document_->error) return;
  document_->error = Error(kind, std::move(message), {.file = document_->file, .json_path = path(key)});
}

void JsonReader::fail(Error error, std::string_view key) {
  fail(std::move(error.message), key, error.kind);
}

bool JsonReader::failed() const {
  return document_->error.has_value();
}
const std::optional<Error>& JsonReader::error() const {
  return document_->error;
}

bool JsonReader::expect_object() {
  if (value_->is_object()) return true;
  fail(std::string("must be an object, not ") + value_->type_name());
  return false;
}

const Json* JsonReader::find(std::string_view key, bool required, const char* wanted) {
  asked_.emplace(key);
  if (failed() || !expect_object()) return nullptr;
  const Json* member = value_->find(key);
  if (member && member->is_null() && !required) member = nullptr;
  if (!member && required) fail(std::string("is missing; it must be ") + wanted, key);
  return member;
}

namespace {
constexpr const char* kAString = "a string";
constexpr const char* kABoolean = "true or false";
constexpr const char* kAnObject = "an object";
constexpr const char* kAnArray = "an array";

std::string must_be(const char* wanted, const Json& found) {
  return std::string("must be ") + wanted + ", not " + found.type_name();
}
}  // namespace

std::optional<std::string> JsonReader::optional_string(std::string_view key) {
  const Json* member = find(key, false, kAString);
  if (!member) return std::nullopt;
  if (!member->is_string()) {
    fail(must_be(kAString, *member), key);
    return std::nullopt;
  }
  return member->as_string();
}

std::string JsonReader::string(std::string_view key) {
  if (!find(key, true, kAString)) return {};
  auto value = optional_string(key);
  if (!value) fail("must be a string, not null", key);
  return value.value_or("");
}

std::optional<bool> JsonReader::optional_boolean(std::string_view key) {
  const Json* member = find(key, false, kABoolean);
  if (!member) return std::nullopt;
  if (!member->is_bool()) {
    fail(must_be(kABoolean, *member), key);
    return std::nullopt;
  }
  return member->as_bool();
}

bool JsonReader::boolean(std::string_view key) {
  if (!find(key, true, kABoolean)) return false;
  auto value = optional_boolean(key);
  if (!value) fail("must be true or false, not null", key);
  return value.value_or(false);
}

namespace {
std::string integer_up_to(uint64_t max, uint64_t min = 0) {
  return "an integer from " + std::to_string(min) + " to " + std::to_string(max);
}
}  // namespace

std::optional<uint64_t> JsonReader::optional_u64(std::string_view key, uint64_t max, uint64_t min) {
  const Json* member = find(key, false, "an integer");
  if (!member) return std::nullopt;
  auto value = member->to_u64();
  if (value && *value >= min && *value <= max) return value;
  fail("must be " + integer_up_to(max, min) + ", not " +
           (value ? std::to_string(*value) : member->type_name()),
       key);
  return std::nullopt;
}

uint64_t JsonReader::u64(std::string_view key, uint64_t max) {
  if (!find(key, true, "an integer")) return 0;
  auto value = optional_u64(key, max);
  if (!value) fail("must be " + integer_up_to(max) + ", not null", key);
  return value.value_or(0);
}

double JsonReader::number(std::string_view key) {
  const Json* member = find(key, true, "a number");
  if (!member) return 0;
  if (member->is_number()) return member->as_double();
  fail(must_be("a number", *member), key);
  return 0;
}

std::optional<size_t> JsonReader::optional_word(std::string_view key,
                                                std::span<const std::string_view> words) {
  auto text = optional_string(key);
  if (!text) return std::nullopt;
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == *text) return i;
  }
  fail(not_among(*text, words), key);
  return std::nullopt;
}

size_t JsonReader::word(std::string_view key, std::span<const std::string_view> words) {
  if (!find(key, true, kAString)) return 0;
  auto index = optional_word(key, words);
  if (!index) fail("must be one of " + join(words), key);
  return index.value_or(0);
}

const Json* JsonReader::raw(std::string_view key) {
  return find(key, false, "a value");
}

std::optional<JsonReader> JsonReader::optional_object(std::string_view key) {
  const Json* member = find(key, false, kAnObject);
  if (!member) return std::nullopt;
  if (!member->is_object()) {
    fail(must_be(kAnObject, *member), key);
    return std::nullopt;
  }
  return JsonReader(document_, member, path(key));
}

JsonReader JsonReader::object(std::string_view key) {
  static const Json kEmpty = Json::object();
  if (find(key, true, kAnObject)) {
    if (auto reader = optional_object(key)) return *reader;
    fail("must be an object, not null", key);
  }
  return JsonReader(document_, &kEmpty, path(key));
}

void JsonReader::array(std::string_view key, const std::function<void(JsonReader&)>& each, bool required,
                       uint64_t max_items) {
  const Json* member = find(key, required, kAnArray);
  if (!member) return;
  if (!member->is_array()) return fail(must_be(kAnArray, *member), key);
  auto items = member->items();
  if (items.size() > max_items) {
    return fail(
        "has " + std::to_string(items.size()) + " entries, over the limit of " + std::to_string(max_items),
        key);
  }
  for (size_t i = 0; i < items.size() && !failed(); ++i) {
    JsonReader reader(document_, &items[i], path(key) + "[" + std::to_string(i) + "]");
    each(reader);
  }
}

std::string JsonReader::as_string() {
  if (failed()) return {};
  if (value_->is_string()) return value_->as_string();
  fail(must_be(kAString, *value_));
  return {};
}

uint64_t JsonReader::as_u64(uint64_t max) {
  if (failed()) return 0;
  auto value = value_->to_u64();
  if (value && *value <= max) return *value;
  fail("must be " + integer_up_to(max) + ", not " + (value ? std::to_string(*value) : value_->type_name()));
  return 0;
}

void JsonReader::refuse_unknown() {
  if (failed() || !expect_object()) return;
  for (const auto& [key, value] : value_->members()) {
    if (asked_.contains(key)) continue;
    std::vector<std::string_view> known(asked_.begin(), asked_.end());
    return fail("is not known here; known are " + join(known), key);
  }
}

}  // namespace wago::base
