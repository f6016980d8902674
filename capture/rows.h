// Tables in JSON, for the readers of this folder: rows, arrays of mixed values in a fixed order; and columns,
// objects of arrays of equal length, which cost a number a value and are for tables that may be long.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/sha256.h"
#include "capture/schema.h"

namespace wago::capture {

// Takes the values of one row in order; mistakes are reported at the row.
class Row {
 public:
  Row(base::JsonReader& reader, size_t columns, const Limits& limits);
  uint64_t u64(std::string_view column, uint64_t max = UINT64_MAX);
  uint32_t u32(std::string_view column) { return static_cast<uint32_t>(u64(column, UINT32_MAX)); }
  uint32_t u32_or(std::string_view column, uint32_t absent);  // null: absent
  std::string text(std::string_view column);
  base::Digest digest(std::string_view column);
  size_t word(std::string_view column, std::span<const std::string_view> words);

 private:
  const base::Json* next();

  base::JsonReader& reader_;
  const Limits& limits_;
  std::span<const base::Json> items_;
  size_t at_ = 0;
};

// A column that says nothing in a row.
inline constexpr uint32_t kAbsent = ~0u;

// Writes a table column by column.
template <class T>
class ColumnsOf {
 public:
  explicit ColumnsOf(std::span<const T> rows) : rows_(rows) {}
  // `value` takes a row and answers an integer; kAbsent of 32 bits is written as null.
  template <class Value>
  ColumnsOf& add(std::string_view name, Value value) {
    std::vector<base::Json> items;
    items.reserve(rows_.size());
    for (const T& row : rows_) {
      const auto number = value(row);
      if constexpr (sizeof number == 4) {
        if (number == kAbsent) {
          items.emplace_back();
        } else {
          items.emplace_back(number);
        }
      } else {
        items.emplace_back(number);
      }
    }
    json_.append(std::string(name), base::Json::array(std::move(items)));
    return *this;
  }
  base::Json json() { return std::move(json_); }

 private:
  std::span<const T> rows_;
  base::Json json_;
};

// Reads such a table. Mistakes are reported at the table; after one the table is empty.
class Columns {
 public:
  // The member `key` of `parent`, which may be absent: a table without rows. A table of more than `max_rows`
  // is refused with `limit`, the name of that limit.
  Columns(base::JsonReader& parent, std::string_view key, std::span<const std::string_view> names,
          uint64_t max_rows, std::string_view limit);

  size_t rows() const { return rows_; }
  uint64_t u64(size_t row, size_t column, uint64_t max = UINT64_MAX);
  uint32_t u32(size_t row, size_t column, uint32_t max = UINT32_MAX) {
    return static_cast<uint32_t>(u64(row, column, max));
  }
  uint32_t u32_or_absent(size_t row, size_t column);

 private:
  bool add(base::JsonReader& table, std::string_view name, uint64_t max_rows, std::string_view limit);
  void fail(size_t row, size_t column, uint64_t max);

  base::JsonReader& parent_;
  std::string key_;
  std::span<const std::string_view> names_;
  std::vector<std::span<const base::Json>> columns_;
  size_t rows_ = 0;
};

// Strings that rows name by number.
base::Json text_table(std::span<const std::string> texts);
std::vector<std::string> read_text_table(base::JsonReader& parent, std::string_view key, const Limits& limits,
                                         uint64_t max_rows, std::string_view limit);

// Words that columns name by number, listed in the file, so that whoever reads it without this program knows
// them. Another list is another schema.
base::Json words_table(std::span<const std::string_view> words);
void expect_words(base::JsonReader& reader, std::string_view key, std::span<const std::string_view> words);

}  // namespace wago::capture
