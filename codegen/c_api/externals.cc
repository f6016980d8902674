// Globals, tables, memories, and externals of any kind, of <wasm.h>.
#include "codegen/c_api/objects.h"

using namespace wago;
using namespace wago::c_api;

namespace {

// The type of an object as its module would declare it: sizes as they were in the beginning.
ExternType declared_type(const wasm_ref_t& ref) {
  ExternType type;
  if (const auto* function = std::get_if<Function>(&ref.object->subject)) {
    type.kind = ExternKind::Function;
    type.function = function->type();
  } else if (const auto* global = std::get_if<Global>(&ref.object->subject)) {
    type.kind = ExternKind::Global;
    type.global = global->type();
  } else if (const auto* table = std::get_if<Table>(&ref.object->subject)) {
    type.kind = ExternKind::Table;
    type.table = table->type();
  } else {
    type.kind = ExternKind::Memory;
    type.memory = ref.subject<Memory>().type();
  }
  return type;
}

template <class Handle, class Object>
Handle* handle_or_null(const wasm_store_t& store, Result<Object> made) {
  return made ? static_cast<Handle*>(store.data->handle(Subject(*std::move(made)))) : nullptr;
}

}  // namespace

// --- globals

wasm_global_t* wasm_global_new(wasm_store_t* store, const wasm_globaltype_t* type, const wasm_val_t* value) {
  const GlobalType wanted{value_type(wasm_globaltype_content(type)->kind),
                          wasm_globaltype_mutability(type) == WASM_VAR};
  const auto slot = slot_of(*store->data, wanted.value, *value);
  if (!slot) return nullptr;
  return handle_or_null<wasm_global_t>(*store, Global::create(store->data->engine(), wanted, {&*slot, 1}));
}

wasm_globaltype_t* wasm_global_type(const wasm_global_t* global) {
  return wasm_externtype_as_globaltype(new_externtype(declared_type(*global)));
}

void wasm_global_get(const wasm_global_t* global, wasm_val_t* out) {
  const Global& held = global->subject<Global>();
  const ValueType type = held.type().value;
  Slot slots[2];
  held.get({slots, slots_of(type)});
  *out = value_of(*global->store, type, slots[0]);
}

void wasm_global_set(wasm_global_t* global, const wasm_val_t* value) {
  const Global& held = global->subject<Global>();
  const auto slot = slot_of(*global->store, held.type().value, *value);
  // An immutable one refuses, and this interface has no way to say so.
  if (slot) (void)held.set(std::span<const Slot>(&*slot, 1));
}

// --- tables

wasm_table_t* wasm_table_new(wasm_store_t* store, const wasm_tabletype_t* type, wasm_ref_t* init) {
  const TableType wanted{value_type(wasm_tabletype_element(type)->kind),
                         limits_of(*wasm_tabletype_limits(type))};
  const auto slot = slot_of(*store->data, wanted.element, init);
  if (!slot) return nullptr;
  return handle_or_null<wasm_table_t>(*store, Table::create(store->data->engine(), wanted, *slot));
}

wasm_tabletype_t* wasm_table_type(const wasm_table_t* table) {
  return wasm_externtype_as_tabletype(new_externtype(declared_type(*table)));
}

wasm_ref_t* wasm_table_get(const wasm_table_t* table, wasm_table_size_t index) {
  const Table& held = table->subject<Table>();
  const auto slot = held.get(index);
  return slot ? ref_of(*table->store, held.type().element, *slot) : nullptr;
}

bool wasm_table_set(wasm_table_t* table, wasm_table_size_t index, wasm_ref_t* ref) {
  const Table& held = table->subject<Table>();
  const auto slot = slot_of(*table->store, held.type().element, ref);
  return slot && held.set(index, *slot).ok();
}

wasm_table_size_t wasm_table_size(const wasm_table_t* table) {
  return table->subject<Table>().size();
}

bool wasm_table_grow(wasm_table_t* table, wasm_table_size_t delta, wasm_ref_t* init) {
  const Table& held = table->subject<Table>();
  const auto slot = slot_of(*table->store, held.type().element, init);
  return slot && held.grow(delta, *slot).has_value();
}

// --- memories

wasm_memory_t* wasm_memory_new(wasm_store_t* store, const wasm_memorytype_t* type) {
  return handle_or_null<wasm_memory_t>(
      *store, Memory::create(store->data->engine(), {limits_of(*wasm_memorytype_limits(type))}));
}

wasm_memorytype_t* wasm_memory_type(const wasm_memory_t* memory) {
  return wasm_externtype_as_memorytype(new_externtype(declared_type(*memory)));
}

byte_t* wasm_memory_data(wasm_memory_t* memory) {
  return reinterpret_cast<byte_t*>(memory->subject<Memory>().bytes().data());
}
size_t wasm_memory_data_size(const wasm_memory_t* memory) {
  return memory->subject<Memory>().bytes().size();
}
wasm_memory_pages_t wasm_memory_size(const wasm_memory_t* memory) {
  return memory->subject<Memory>().pages();
}
bool wasm_memory_grow(wasm_memory_t* memory, wasm_memory_pages_t delta) {
  return memory->subject<Memory>().grow(delta).has_value();
}

// --- externals

wasm_externtype_t* wasm_extern_type(const wasm_extern_t* external) {
  return new_externtype(declared_type(*external));
}

wasm_externkind_t wasm_extern_kind(const wasm_extern_t* external) {
  switch (declared_type(*external).kind) {
    case ExternKind::Function:
      return WASM_EXTERN_FUNC;
    case ExternKind::Global:
      return WASM_EXTERN_GLOBAL;
    case ExternKind::Table:
      return WASM_EXTERN_TABLE;
    case ExternKind::Memory:
      return WASM_EXTERN_MEMORY;
  }
  return WASM_EXTERN_FUNC;
}

#define WASM_EXTERNAL(name)                                                             \
  wasm_extern_t* wasm_##name##_as_extern(wasm_##name##_t* object) {                     \
    return object;                                                                      \
  }                                                                                     \
  const wasm_extern_t* wasm_##name##_as_extern_const(const wasm_##name##_t* object) {   \
    return object;                                                                      \
  }                                                                                     \
  wasm_##name##_t* wasm_extern_as_##name(wasm_extern_t* external) {                     \
    return wasm_ref_as_##name(external);                                                \
  }                                                                                     \
  const wasm_##name##_t* wasm_extern_as_##name##_const(const wasm_extern_t* external) { \
    return wasm_ref_as_##name##_const(external);                                        \
  }
WASM_EXTERNAL(func)
WASM_EXTERNAL(global)
WASM_EXTERNAL(table)
WASM_EXTERNAL(memory)
#undef WASM_EXTERNAL
