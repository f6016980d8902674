/* Memories, tables, globals and references, made by guest and host; identity, host information and
 * finalizers. */
#include "codegen/c_api/tests/testing.h"

enum {
  kMemory,
  kFunctions,
  kReferences,
  kConstant,
  kVariable,
  kReal,
  kLoad,
  kStore,
  kCallIndirect,
  kKeep,
  kKept,
  kExports
};

static wasm_store_t* store;
static wasm_extern_vec_t exports;

static int32_t call2(int index, int32_t a, int32_t b) {
  wasm_func_t* func = wasm_extern_as_func(exports.data[index]);
  wasm_val_t arg_array[] = {WASM_I32_VAL(a), WASM_I32_VAL(b)}, result_array[] = {WASM_I32_VAL(0)};
  wasm_val_vec_t args = {wasm_func_param_arity(func), arg_array}, results = WASM_ARRAY_VEC(result_array);
  wasm_trap_t* trap = wasm_func_call(func, &args, &results);
  if (trap) {
    wasm_trap_delete(trap);
    return 0x7fffffff;
  }
  return result_array[0].of.i32;
}

static void test_memory(void) {
  wasm_memory_t* memory = wasm_extern_as_memory(exports.data[kMemory]);
  CHECK(wasm_memory_size(memory) == 1 && wasm_memory_data_size(memory) == MEMORY_PAGE_SIZE);
  CHECK(memcmp(wasm_memory_data(memory) + 4, "data", 4) == 0);
  call2(kStore, 0xffff, 9);
  CHECK(wasm_memory_data(memory)[0xffff] == 9);
  CHECK(call2(kLoad, 0x10000, 0) == 0x7fffffff);
  byte_t* before = wasm_memory_data(memory);
  CHECK(wasm_memory_grow(memory, 1) && !wasm_memory_grow(memory, 2));
  CHECK(wasm_memory_data(memory) == before && wasm_memory_size(memory) == 2);
  CHECK(call2(kLoad, 0x10000, 0) == 0);
  wasm_memorytype_t* type = wasm_memory_type(memory);
  CHECK(wasm_memorytype_limits(type)->min == 1 && wasm_memorytype_limits(type)->max == 3);
  wasm_memory_t* own_memory = wasm_memory_new(store, type);
  CHECK(own_memory && wasm_memory_size(own_memory) == 1 && !wasm_memory_same(own_memory, memory));
  wasm_memory_delete(own_memory);
  wasm_memorytype_delete(type);
  const wasm_limits_t impossible = {3, 2};
  type = wasm_memorytype_new(&impossible);
  CHECK(!wasm_memory_new(store, type));
  wasm_memorytype_delete(type);
}

static void test_globals(void) {
  wasm_global_t* constant = wasm_extern_as_global(exports.data[kConstant]);
  wasm_global_t* variable = wasm_extern_as_global(exports.data[kVariable]);
  wasm_val_t value, small = WASM_I32_VAL(5), large = WASM_I64_VAL(-3);
  wasm_global_get(constant, &value);
  CHECK(value.kind == WASM_I32 && value.of.i32 == -7);
  wasm_global_set(constant, &small);
  wasm_global_get(constant, &value);
  CHECK(value.of.i32 == -7);
  wasm_global_set(variable, &small); /* of another type: nothing happens */
  wasm_global_get(variable, &value);
  CHECK(value.kind == WASM_I64 && value.of.i64 == (int64_t)1 << 40);
  wasm_global_set(variable, &large);
  wasm_global_get(variable, &value);
  CHECK(value.of.i64 == -3);
  wasm_global_get(wasm_extern_as_global(exports.data[kReal]), &value);
  CHECK(value.kind == WASM_F64 && value.of.f64 == 0.5);
  wasm_globaltype_t* type = wasm_global_type(variable);
  CHECK(wasm_valtype_kind(wasm_globaltype_content(type)) == WASM_I64 &&
        wasm_globaltype_mutability(type) == WASM_VAR);
  CHECK(!wasm_global_new(store, type, &small));
  wasm_global_t* made = wasm_global_new(store, type, &large);
  wasm_global_get(made, &value);
  CHECK(value.of.i64 == -3);
  wasm_global_delete(made);
  wasm_globaltype_delete(type);
}

static wasm_trap_t* triple(const wasm_val_vec_t* args, wasm_val_vec_t* results) {
  wasm_val_t value = WASM_I32_VAL(3 * args->data[0].of.i32);
  results->data[0] = value;
  return NULL;
}

static void test_tables(void) {
  wasm_table_t* table = wasm_extern_as_table(exports.data[kFunctions]);
  CHECK(wasm_table_size(table) == 2 && !wasm_table_get(table, 0) && !wasm_table_get(table, 7));
  /* A function that is exported nowhere. */
  wasm_ref_t* negate = wasm_table_get(table, 1);
  CHECK(negate && wasm_ref_as_func(negate));
  wasm_val_t arg_array[] = {WASM_I32_VAL(8)}, result_array[] = {WASM_INIT_VAL};
  wasm_val_vec_t args = WASM_ARRAY_VEC(arg_array), results = WASM_ARRAY_VEC(result_array);
  CHECK(!wasm_func_call(wasm_ref_as_func(negate), &args, &results) && result_array[0].of.i32 == -8);
  CHECK(call2(kCallIndirect, 0, 1) == 0x7fffffff);

  wasm_functype_t* type = wasm_func_type(wasm_ref_as_func(negate));
  wasm_func_t* func = wasm_func_new(store, type, triple);
  wasm_functype_delete(type);
  CHECK(wasm_table_set(table, 0, wasm_func_as_ref(func)));
  CHECK(!wasm_table_set(table, 2, wasm_func_as_ref(func)));
  wasm_ref_t* again = wasm_table_get(table, 0);
  CHECK(wasm_ref_same(again, wasm_func_as_ref(func)) && !wasm_ref_same(again, negate));
  wasm_ref_delete(again);
  wasm_func_delete(func); /* the table keeps it */
  CHECK(call2(kCallIndirect, 0, 14) == 42);
  CHECK(wasm_table_grow(table, 3, negate) && !wasm_table_grow(table, 1, NULL));
  CHECK(call2(kCallIndirect, 4, 42) == -42);
  CHECK(wasm_table_set(table, 4, NULL) && call2(kCallIndirect, 4, 42) == 0x7fffffff);
  CHECK(!wasm_table_set(table, 4, wasm_memory_as_ref(wasm_extern_as_memory(exports.data[kMemory]))));
  wasm_ref_delete(negate);

  wasm_tabletype_t* tabletype = wasm_table_type(table);
  CHECK(wasm_valtype_kind(wasm_tabletype_element(tabletype)) == WASM_FUNCREF);
  CHECK(wasm_tabletype_limits(tabletype)->min == 2 && wasm_tabletype_limits(tabletype)->max == 5);
  wasm_table_t* made = wasm_table_new(store, tabletype, NULL);
  CHECK(wasm_table_size(made) == 2 && !wasm_table_get(made, 1));
  wasm_table_delete(made);
  wasm_tabletype_delete(tabletype);
}

static int finalized[3];
static void finalize(void* counter) {
  ++*(int*)counter;
}

static wasm_ref_t* keep(int index, wasm_ref_t* ref) {
  wasm_val_t arg_array[] = {WASM_REF_VAL(ref)}, result_array[] = {WASM_INIT_VAL};
  wasm_func_t* func = wasm_extern_as_func(exports.data[index]);
  wasm_val_vec_t args = {wasm_func_param_arity(func), arg_array}, results = WASM_ARRAY_VEC(result_array);
  CHECK(!wasm_func_call(func, &args, &results) && result_array[0].kind == WASM_EXTERNREF);
  return result_array[0].of.ref;
}

static void test_references(void) {
  wasm_foreign_t* foreign = wasm_foreign_new(store);
  wasm_foreign_set_host_info_with_finalizer(foreign, &finalized[0], finalize);
  wasm_ref_t* back = keep(kKeep, wasm_foreign_as_ref(foreign));
  CHECK(wasm_ref_as_foreign(back) && wasm_ref_same(back, wasm_foreign_as_ref(foreign)));
  wasm_ref_delete(back);
  wasm_foreign_delete(foreign);
  back = keep(kKept, NULL); /* nobody but the guest had it */
  CHECK(wasm_ref_get_host_info(back) == &finalized[0] && finalized[0] == 0);
  wasm_val_t value = WASM_REF_VAL(back), copy;
  wasm_val_copy(&copy, &value);
  CHECK(copy.of.ref != back && wasm_ref_same(copy.of.ref, back));
  wasm_val_delete(&copy);
  wasm_val_delete(&value);
  CHECK(!keep(kKeep, NULL) && !keep(kKept, NULL));

  /* Anything can be an externref. */
  wasm_memory_t* memory = wasm_extern_as_memory(exports.data[kMemory]);
  back = keep(kKeep, wasm_memory_as_ref(memory));
  CHECK(wasm_memory_same(wasm_ref_as_memory(back), memory));
  wasm_ref_delete(back);

  /* What no guest ever had ends with its last handle. */
  foreign = wasm_foreign_new(store);
  wasm_foreign_set_host_info_with_finalizer(foreign, &finalized[1], finalize);
  wasm_foreign_t* other = wasm_foreign_copy(foreign);
  wasm_foreign_delete(foreign);
  CHECK(finalized[1] == 0 && wasm_foreign_get_host_info(other) == &finalized[1]);
  wasm_foreign_set_host_info(other, NULL);
  CHECK(finalized[1] == 1); /* replaced */
  wasm_foreign_set_host_info_with_finalizer(other, &finalized[1], finalize);
  wasm_foreign_delete(other);
  CHECK(finalized[1] == 2);

  /* Information belongs to the function, by whatever handle. */
  wasm_func_t* func = wasm_func_copy(wasm_extern_as_func(exports.data[kLoad]));
  CHECK(!wasm_func_get_host_info(func));
  wasm_func_set_host_info_with_finalizer(func, &finalized[2], finalize);
  wasm_func_delete(func);
  CHECK(wasm_extern_get_host_info(exports.data[kLoad]) == &finalized[2]);
  CHECK(!wasm_extern_get_host_info(exports.data[kStore]) && finalized[2] == 0);
}

int main(void) {
  wasm_engine_t* engine = wasm_engine_new();
  store = wasm_store_new(engine);
  wasm_extern_vec_t no_imports = WASM_EMPTY_VEC;
  wasm_instance_t* instance = instantiate(store, "objects", &no_imports);
  wasm_instance_exports(instance, &exports);
  CHECK(exports.size == kExports);
  wasm_extern_vec_t again;
  wasm_instance_exports(instance, &again);
  for (size_t i = 0; i < kExports; ++i) CHECK(wasm_extern_same(exports.data[i], again.data[i]));
  wasm_extern_vec_delete(&again);
  test_memory();
  test_globals();
  test_tables();
  test_references();
  wasm_extern_vec_delete(&exports);
  wasm_instance_delete(instance);
  CHECK(finalized[0] == 0 && finalized[2] == 0);
  wasm_store_delete(store);
  CHECK(finalized[0] == 1 && finalized[2] == 1);
  wasm_engine_delete(engine);
  return 0;
}
