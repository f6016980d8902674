#include "capture/rows.h"

#include <algorithm>

#include "base/vocabulary.h"

namespace wago::capture {

using base::Json;
using base::JsonReader;

Row::Row(JsonReader& reader, size_t columns, const Limits& limits) : reader_(reader), limits_(limits) {
  if (reader.failed()) return;
  if (!reader.json().is_array()) {
    reader.fail(std::string("must be an array, not ") + reader.json().type_name());
  } else if (reader.json().items().size() != columns) {
    reader.fail("must have " + std::to_string(columns) + " columns, not " +
                std::to_string(reader.json().items().size()));
  } else {
    items_ = reader.json().items();
  }
}

const Json* Row::next() {
  if (reader_.failed() || at_ >= items_.size()) return nullptr;
  return &items_[at_++];
}

uint64_t Row::u64(std::string_view column, uint64_t max) {
  const Json* value = next();
  if (!value) return 0;
  if (auto integer = value->to_u64(); integer && *integer <= max) return *integer;
  reader_.fail("column " + std::string(column) + " must be an integer from 0 to " + std::to_string(max));
  return 0;
}

uint32_t Row::u32_or(std::string_view column, uint32_t absent) {
  if (at_ < items_.size() && items_[at_].is_null()) {
    ++at_;
    return absent;
  }
  return u32(column);
}

std::string Row::text(std::string_view column) {
  const Json* value = next();
  if (!value) return {};
  if (!value->is_string()) {
    reader_.fail("column " + std::string(column) + " must be a string");
    return {};
  }
  if (value->as_string().size() > limits_.name_bytes) {
    reader_.fail("column " + std::string(column) + " exceeds the limit name_bytes (" +
                 std::to_string(limits_.name_bytes) + ")");
  }
  return value->as_string();
}

base::Digest Row::digest(std::string_view column) {
  const Json* value = next();
  if (!value) return {};
  auto digest = value->is_string() ? base::parse_digest(value->as_string()) : std::nullopt;
  if (!digest) reader_.fail("column " + std::string(column) + " must be 64 hexadecimal digits");
  return digest.value_or(base::Digest{});
}

size_t Row::word(std::string_view column, std::span<const std::string_view> words) {
  const Json* value = next();
  if (!value) return 0;
  for (size_t i = 0; i < words.size(); ++i) {
    if (value->is_string() && value->as_string() == words[i]) return i;
  }
  reader_.fail("column " + std::string(column) + " must be one of " + base::join(words));
  return 0;
}

Columns::Columns(JsonReader& parent, std::string_view key, std::span<const std::string_view> names,
                 uint64_t max_rows, std::string_view limit)
    : parent_(parent), key_(key), names_(names) {
  std::optional<JsonReader> table = parent.optional_object(key);
  if (!table || parent.failed()) return;
  for (std::string_view name : names) {
    if (!add(*table, name, max_rows, limit)) {
      columns_.clear();
      return;
    }
  }
  rows_ = columns_[0].size();
}

bool Columns::add(JsonReader& table, std::string_view name, uint64_t max_rows, std::string_view limit) {
  const Json* column = table.raw(name);
  if (!column || !column->is_array()) {
    table.fail("must be an array", name);
  } else if (!columns_.empty() && column->items().size() != columns_[0].size()) {
    table.fail("must be as long as " + std::string(names_[0]), name);
  } else if (column->items().size() > max_rows) {
    table.fail("exceeds the limit " + std::string(limit) + " (" + std::to_string(max_rows) + ")", name);
  } else {
    columns_.push_back(column->items());
    return true;
  }
  return false;
}

void Columns::fail(size_t row, size_t column, uint64_t max) {
  parent_.fail("row " + std::to_string(row) + " of column " + std::string(names_[column]) +
                   " must be an integer from 0 to " + std::to_string(max),
               key_);
}

uint64_t Columns::u64(size_t row, size_t column, uint64_t max) {
  const auto number = columns_[column][row].to_u64();
  if (number && *number <= max) return *number;
  fail(row, column, max);
  return 0;
}

uint32_t Columns::u32_or_absent(size_t row, size_t column) {
  return columns_[column][row].is_null() ? kAbsent : u32(row, column, kAbsent - 1);
}

Json text_table(std::span<const std::string> texts) {
  std::vector<Json> items(texts.begin(), texts.end());
  return Json::array(std::move(items));
}

std::vector<std::string> read_text_table(JsonReader& parent, std::string_view key, const Limits& limits,
                                         uint64_t max_rows, std::string_view limit) {
  std::vector<std::string> texts;
  const Json* table = parent.raw(key);
  if (!table || table->is_null()) return texts;
  if (!table->is_array()) {
    parent.fail("must be an array", key);
    return texts;
  }
  if (table->items().size() > max_rows) {
    parent.fail("exceeds the limit " + std::string(limit) + " (" + std::to_string(max_rows) + ")", key);
    return texts;
  }
  for (const Json& text : table->items()) {
    if (!text.is_string() || text.as_string().size() > limits.name_bytes) {
      parent.fail("must hold strings within the limit name_bytes (" + std::to_string(limits.name_bytes) + ")",
                  key);
      return {};
    }
    texts.push_back(text.as_string());
  }
  return texts;
}

Json words_table(std::span<const std::string_view> words) {
  std::vector<Json> items(words.begin(), words.end());
  return Json::array(std::move(items));
}

void expect_words(JsonReader& reader, std::string_view key, std::span<const std::string_view> words) {
  std::vector<std::string> found;
  reader.array(
      key, [&](JsonReader& item) { found.push_back(item.as_string()); }, true, 100);
  if (!reader.failed() && !std::equal(found.begin(), found.end(), words.begin(), words.end())) {
    reader.fail("are not the words of this schema version", key);
  }
}

}  // namespace wago::capture
