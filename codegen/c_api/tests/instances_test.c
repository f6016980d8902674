/* Instantiation that fails, objects of other stores, modules on other threads. */
#include <pthread.h>

#include "codegen/c_api/tests/testing.h"

static wasm_trap_t* same(const wasm_val_vec_t* args, wasm_val_vec_t* results) {
  wasm_val_copy(&results->data[0], &args->data[0]);
  return NULL;
}
static wasm_trap_t* swap(const wasm_val_vec_t* args, wasm_val_vec_t* results) {
  wasm_val_copy(&results->data[0], &args->data[1]);
  wasm_val_copy(&results->data[1], &args->data[0]);
  return NULL;
}

/* The two imports of "callbacks". */
static void new_imports(wasm_store_t* store, wasm_extern_vec_t* out) {
  wasm_functype_t* unary = wasm_functype_new_1_1(wasm_valtype_new_i32(), wasm_valtype_new_i32());
  wasm_functype_t* pair = wasm_functype_new_2_2(wasm_valtype_new_i32(), wasm_valtype_new_i64(),
                                                wasm_valtype_new_i64(), wasm_valtype_new_i32());
  wasm_extern_t* externs[] = {wasm_func_as_extern(wasm_func_new(store, unary, same)),
                              wasm_func_as_extern(wasm_func_new(store, pair, swap))};
  wasm_extern_vec_new(out, 2, externs);
  wasm_functype_delete(unary);
  wasm_functype_delete(pair);
}

static void expect_refusal(wasm_store_t* store, const wasm_module_t* module, const wasm_extern_vec_t* imports,
                           const char* message) {
  wasm_trap_t* trap = NULL;
  CHECK(!wasm_instance_new(store, module, imports, &trap));
  CHECK(message_is(trap, message));
  wasm_trap_delete(trap);
  CHECK(!wasm_instance_new(store, module, imports, NULL));
}

typedef struct {
  wasm_engine_t* engine;
  wasm_shared_module_t* module;
  int32_t id;
} Work;

static void* run(void* argument) {
  const Work* work = (const Work*)argument;
  wasm_store_t* store = wasm_store_new(work->engine);
  wasm_module_t* module = wasm_module_obtain(store, work->module);
  for (int32_t round = 0; round < 20; ++round) {
    wasm_extern_vec_t imports, exports;
    new_imports(store, &imports);
    wasm_instance_t* instance = wasm_instance_new(store, module, &imports, NULL);
    CHECK(instance);
    wasm_instance_exports(instance, &exports);
    wasm_val_t arg_array[] = {WASM_I32_VAL(1000 * work->id + round)}, result_array[] = {WASM_INIT_VAL};
    wasm_val_vec_t args = WASM_ARRAY_VEC(arg_array), results = WASM_ARRAY_VEC(result_array);
    CHECK(!wasm_func_call(wasm_extern_as_func(exports.data[0]), &args, &results));
    CHECK(result_array[0].of.i32 == 1000 * work->id + round + 1);
    wasm_extern_vec_delete(&exports);
    wasm_extern_vec_delete(&imports);
    wasm_instance_delete(instance);
  }
  wasm_module_delete(module);
  wasm_store_delete(store);
  return NULL;
}

int main(void) {
  wasm_engine_t* engine = wasm_engine_new();
  wasm_store_t *store = wasm_store_new(engine), *other = wasm_store_new(engine);
  wasm_module_t* module = compile(store, "callbacks");
  wasm_extern_vec_t imports, foreign_imports, none = WASM_EMPTY_VEC;
  new_imports(store, &imports);
  new_imports(other, &foreign_imports);
  expect_refusal(store, module, &none, "the module imports 2 objects, but 0 are given");
  expect_refusal(store, module, &foreign_imports, "import 0 is no object of this store");
  expect_refusal(other, module, &foreign_imports, "the module belongs to another store");
  wasm_extern_t* twice_array[] = {imports.data[0], imports.data[0]};
  wasm_extern_vec_t twice = WASM_ARRAY_VEC(twice_array);
  expect_refusal(
      store, module, &twice,
      "incompatible import type: env.swap is wanted as function (i32, i64) -> (i64, i32) but provided "
      "as function (i32) -> (i32)");

  wasm_module_t* start = compile(store, "start");
  expect_refusal(store, start, &none, "unreachable instruction executed");
  wasm_module_delete(start);

  wasm_byte_vec_t junk;
  wasm_byte_vec_new(&junk, 4, "junk");
  CHECK(!wasm_module_new(store, &junk) && !wasm_module_validate(store, &junk));
  wasm_byte_vec_delete(&junk);
  test_module("start", &junk);
  CHECK(wasm_module_validate(store, &junk));
  wasm_byte_vec_delete(&junk);

  /* A value of another store is no value of this one. */
  wasm_valtype_t* externref = wasm_valtype_new_externref();
  wasm_globaltype_t* type = wasm_globaltype_new(externref, WASM_VAR);
  wasm_foreign_t* foreign = wasm_foreign_new(other);
  wasm_val_t value = WASM_REF_VAL(wasm_foreign_as_ref(foreign));
  CHECK(!wasm_global_new(store, type, &value));
  wasm_global_t* global = wasm_global_new(other, type, &value);
  wasm_foreign_delete(foreign);
  wasm_globaltype_delete(type);
  wasm_store_delete(other);
  wasm_global_get(global, &value);
  CHECK(value.of.ref && wasm_ref_as_foreign(value.of.ref));
  wasm_global_delete(global);
  wasm_val_delete(&value);

  /* Through bytes and back: the same module. Damaged anywhere, it is none. */
  wasm_byte_vec_t artifact;
  wasm_module_serialize(module, &artifact);
  wasm_module_t* restored = wasm_module_deserialize(store, &artifact);
  CHECK(restored);
  wasm_instance_t* instance = wasm_instance_new(store, restored, &imports, NULL);
  wasm_extern_vec_t exports;
  wasm_instance_exports(instance, &exports);
  wasm_val_t arg_array[] = {WASM_I32_VAL(41)}, result_array[] = {WASM_INIT_VAL};
  wasm_val_vec_t args = WASM_ARRAY_VEC(arg_array), results = WASM_ARRAY_VEC(result_array);
  CHECK(!wasm_func_call(wasm_extern_as_func(exports.data[0]), &args, &results) &&
        result_array[0].of.i32 == 42);
  wasm_extern_vec_delete(&exports);
  wasm_instance_delete(instance);
  wasm_module_delete(restored);
  for (size_t at = 0; at < artifact.size; at += 1 + artifact.size / 50) {
    artifact.data[at] ^= 0x10;
    CHECK(!wasm_module_deserialize(store, &artifact));
    artifact.data[at] ^= 0x10;
  }
  artifact.size -= 1;
  CHECK(!wasm_module_deserialize(store, &artifact));
  artifact.size += 1;
  wasm_byte_vec_delete(&artifact);

  wasm_shared_module_t* shared = wasm_module_share(module);
  wasm_module_delete(module);
  pthread_t threads[4];
  Work work[4];
  for (int i = 0; i < 4; ++i) {
    const Work one = {engine, shared, i};
    work[i] = one;
    CHECK(pthread_create(&threads[i], NULL, run, &work[i]) == 0);
  }
  for (int i = 0; i < 4; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
  wasm_shared_module_delete(shared);
  wasm_extern_vec_delete(&imports);
  wasm_extern_vec_delete(&foreign_imports);
  wasm_store_delete(store);
  wasm_engine_delete(engine);
  return 0;
}
