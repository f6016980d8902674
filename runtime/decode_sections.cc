// Types, imports, functions, tables, memories, globals, exports and the start function (section 5.5).

#include <algorithm>
#include <numeric>

#include "runtime/decode_limits.h"
#include "runtime/decoder.h"

namespace wago::runtime {

// --- types

bool Decoder::type_section(CheckedCursor& in) {
  uint32_t n;
  if (!count(in, "types", 0, kMaxTypes, 3, module_.types, n)) return false;
  for (uint32_t i = 0; i < n; ++i) {
    if (!function_type(in, module_.types.emplace_back())) return false;
  }
  return true;
}

bool Decoder::function_type(CheckedCursor& in, FuncType& type) {
  const uint32_t at = in.offset();
  const uint8_t form = in.byte();
  if (in.failed()) return false;
  if (form != 0x60) return errors_.malformed_function_type(at, form);
  return value_types(in, type.params, "parameters", kMaxParams) &&
         value_types(in, type.results, "results", kMaxResults);
}

bool Decoder::value_types(CheckedCursor& in, std::vector<ValueType>& types, std::string_view what,
                          uint32_t limit) {
  uint32_t n;
  if (!count(in, what, 0, limit, 1, types, n)) return false;
  for (uint32_t i = 0; i < n && !in.failed(); ++i) types.push_back(in.value_type());
  return !in.failed();
}

bool Decoder::type_index(CheckedCursor& in, uint32_t& index) {
  const uint32_t at = in.offset();
  index = in.u32();
  if (in.failed()) return false;
  return index < module_.types.size() || errors_.unknown(at, "type", index, module_.types.size());
}

bool Decoder::limits(CheckedCursor& in, Limits& limits) {
  const uint32_t at = in.offset();
  const uint8_t flags = in.byte();
  if (in.failed()) return false;
  if (flags > 1) return errors_.malformed_limits(at, flags);
  limits.min = in.u32();
  if (flags == 1) limits.max = in.u32();
  if (in.failed()) return false;
  if (limits.max && limits.min > *limits.max)
    return errors_.minimum_above_maximum(at, limits.min, *limits.max);
  return true;
}

bool Decoder::table_type(CheckedCursor& in, TableType& type) {
  type.element = in.reference_type();
  const uint32_t at = in.offset();
  if (in.failed() || !limits(in, type.limits)) return false;
  if (type.limits.min > kMaxTableEntries) {
    return errors_.over_limit(at, "table entries", type.limits.min, kMaxTableEntries);
  }
  return true;
}

bool Decoder::memory_type(CheckedCursor& in, MemoryType& type) {
  const uint32_t at = in.offset();
  if (!limits(in, type.limits)) return false;
  for (uint32_t pages : {type.limits.min, type.limits.max.value_or(0)}) {
    if (pages > kMaxPages) return errors_.memory_too_large(at, pages);
  }
  return true;
}

bool Decoder::global_type(CheckedCursor& in, GlobalType& type) {
  type.value = in.value_type();
  const uint32_t at = in.offset();
  const uint8_t mutability = in.byte();
  if (in.failed()) return false;
  if (mutability > 1) return errors_.malformed_mutability(at, mutability);
  type.mutable_ = mutability == 1;
  return true;
}

// --- imports

bool Decoder::import_section(CheckedCursor& in) {
  uint32_t n;
  if (!count(in, "imports", 0, kMaxImports, 4, module_.imports, n)) return false;
  for (uint32_t i = 0; i < n; ++i) {
    if (!import(in, module_.imports.emplace_back())) return false;
  }
  module_.imported_functions = module_.function_count();
  module_.imported_tables = static_cast<uint32_t>(module_.tables.size());
  module_.imported_memories = static_cast<uint32_t>(module_.memories.size());
  module_.imported_globals = static_cast<uint32_t>(module_.globals.size());
  return true;
}

bool Decoder::import(CheckedCursor& in, Import& import) {
  import.module = in.name("an import's module name");
  import.name = in.name("an import's name");
  const uint32_t at = in.offset();
  const uint8_t kind = in.byte();
  if (in.failed()) return false;
  const uint32_t type_at = in.offset();
  import.kind = static_cast<ExternKind>(kind);
  switch (kind) {
    case static_cast<uint8_t>(ExternKind::Function):
      if (!type_index(in, import.type_index)) return false;
      module_.function_types.push_back(import.type_index);
      return function_limit(type_at, module_.function_count());
    case static_cast<uint8_t>(ExternKind::Table):
      if (!table_type(in, import.table)) return false;
      module_.tables.push_back(import.table);
      return module_.tables.size() <= kMaxTables ||
             errors_.over_limit(type_at, "tables", module_.tables.size(), kMaxTables);
    case static_cast<uint8_t>(ExternKind::Memory):
      if (!memory_type(in, import.memory)) return false;
      module_.memories.push_back(import.memory);
      return memory_limit(type_at, module_.memories.size());
    case static_cast<uint8_t>(ExternKind::Global):
      if (!global_type(in, import.global)) return false;
      module_.globals.push_back({import.global, {}});
      return true;
  }
  return errors_.malformed_import_kind(at, kind);
}

// --- what the module defines

bool Decoder::function_limit(uint32_t at, uint64_t count) {
  return count <= options_.max_functions || errors_.over_limit(at, "functions", count, options_.max_functions,
                                                               "; raise EngineLimits::functions");
}

bool Decoder::memory_limit(uint32_t at, uint64_t count) {
  return count <= 1 || errors_.multiple_memories(at, count);
}

bool Decoder::function_section(CheckedCursor& in) {
  const uint32_t at = in.offset();
  uint32_t n;
  if (!count(in, "functions", module_.imported_functions, ~uint64_t{0}, 1, module_.function_types, n) ||
      !function_limit(at, uint64_t{module_.imported_functions} + n)) {
    return false;
  }
  for (uint32_t i = 0; i < n; ++i) {
    uint32_t type;
    if (!type_index(in, type)) return false;
    module_.function_types.push_back(type);
  }
  return true;
}

bool Decoder::table_section(CheckedCursor& in) {
  uint32_t n;
  if (!count(in, "tables", module_.tables.size(), kMaxTables, 3, module_.tables, n)) return false;
  for (uint32_t i = 0; i < n; ++i) {
    if (!table_type(in, module_.tables.emplace_back())) return false;
  }
  return true;
}

bool Decoder::memory_section(CheckedCursor& in) {
  const uint32_t at = in.offset();
  const uint32_t n = in.u32();
  for (uint32_t i = 0; i < n && !in.failed(); ++i) {
    // The types first: a malformed one is not to be hidden behind the number of them.
    if (!memory_type(in, module_.memories.emplace_back())) return false;
    if (module_.memories.size() > 1) break;
  }
  if (in.failed()) return false;
  return memory_limit(at, uint64_t{module_.imported_memories} + n);
}

bool Decoder::global_section(CheckedCursor& in) {
  uint32_t n;
  if (!count(in, "globals", module_.globals.size(), kMaxGlobals, 4, module_.globals, n)) return false;
  for (uint32_t i = 0; i < n; ++i) {
    Global& global = module_.globals.emplace_back();
    if (!global_type(in, global.type) || !constant(in, global.type.value, global.init)) return false;
  }
  return true;
}

// --- exports and start

bool Decoder::export_section(CheckedCursor& in) {
  uint32_t n;
  if (!count(in, "exports", 0, kMaxExports, 3, module_.exports, n)) return false;
  std::vector<uint32_t> name_offsets;
  for (uint32_t i = 0; i < n; ++i) {
    name_offsets.push_back(in.offset());
    Export& entry = module_.exports.emplace_back();
    entry.name = in.name("an export's name");
    const uint32_t kind_at = in.offset();
    const uint8_t kind = in.byte();
    if (in.failed()) return false;
    if (kind > static_cast<uint8_t>(ExternKind::Global)) return errors_.malformed_export_kind(kind_at, kind);
    entry.kind = static_cast<ExternKind>(kind);
    const uint32_t index_at = in.offset();
    entry.index = in.u32();
    if (in.failed() || !export_exists(index_at, entry)) return false;
  }
  return sort_exports(name_offsets);
}

bool Decoder::export_exists(uint32_t at, const Export& entry) {
  size_t count = 0;
  switch (entry.kind) {
    case ExternKind::Function:
      if (!function_index(at, entry.index)) return false;
      declare(entry.index);
      return true;
    case ExternKind::Table:
      count = module_.tables.size();
      break;
    case ExternKind::Memory:
      count = module_.memories.size();
      break;
    case ExternKind::Global:
      count = module_.globals.size();
      break;
  }
  return entry.index < count || errors_.unknown(at, to_string(entry.kind), entry.index, count);
}

// Builds the orders that find_export() and function_name() search, and finds the first name that repeats an
// earlier one.
bool Decoder::sort_exports(const std::vector<uint32_t>& name_offsets) {
  const auto n = static_cast<uint32_t>(module_.exports.size());
  std::vector<uint32_t>& order = module_.export_order;
  order.resize(n);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [&](uint32_t a, uint32_t b) {
    const int names = module_.exports[a].name.compare(module_.exports[b].name);
    return names != 0 ? names < 0 : a < b;
  });
  uint32_t repeated = n;
  for (uint32_t i = 1; i < n; ++i) {
    if (module_.exports[order[i - 1]].name == module_.exports[order[i]].name)
      repeated = std::min(repeated, order[i]);
  }
  if (repeated != n) return errors_.duplicate_export(name_offsets[repeated], module_.exports[repeated].name);

  for (uint32_t i = 0; i < n; ++i) {
    if (module_.exports[i].kind == ExternKind::Function) module_.function_exports.push_back(i);
  }
  std::ranges::stable_sort(module_.function_exports, {},
                           [&](uint32_t i) { return module_.exports[i].index; });
  return true;
}

bool Decoder::start_section(CheckedCursor& in) {
  const uint32_t at = in.offset();
  const uint32_t function = in.u32();
  if (in.failed() || !function_index(at, function)) return false;
  const FuncType& type = module_.type_of_function(function);
  if (!type.params.empty() || !type.results.empty()) return errors_.start_function_type(at, function, type);
  module_.start = function;
  return true;
}

}  // namespace wago::runtime
