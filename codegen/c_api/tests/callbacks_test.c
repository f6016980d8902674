/* Host functions: with and without an environment, several results, what they may do wrong. */
#include "codegen/c_api/tests/testing.h"

static int finalized = 0;
static void finalize(void* env) {
  CHECK(*(int*)env == 100);
  ++finalized;
}

static wasm_trap_t* add(void* env, const wasm_val_vec_t* args, wasm_val_vec_t* results) {
  CHECK(args->size == 1 && results->size == 1 && args->data[0].kind == WASM_I32);
  wasm_val_t sum = WASM_I32_VAL(args->data[0].of.i32 + *(int*)env);
  results->data[0] = sum;
  return NULL;
}

static wasm_trap_t* swap(const wasm_val_vec_t* args, wasm_val_vec_t* results) {
  wasm_val_copy(&results->data[0], &args->data[1]);
  wasm_val_copy(&results->data[1], &args->data[0]);
  return NULL;
}

/* Leaves its results as they were given: two i32, where an i64 is wanted first. */
static wasm_trap_t* forget(const wasm_val_vec_t* args, wasm_val_vec_t* results) {
  (void)args;
  (void)results;
  return NULL;
}

static wasm_functype_t* swap_type(void) {
  return wasm_functype_new_2_2(wasm_valtype_new_i32(), wasm_valtype_new_i64(), wasm_valtype_new_i64(),
                               wasm_valtype_new_i32());
}

int main(void) {
  wasm_engine_t* engine = wasm_engine_new_with_config(wasm_config_new());
  wasm_store_t* store = wasm_store_new(engine);
  int env = 100;
  wasm_functype_t* type = wasm_functype_new_1_1(wasm_valtype_new_i32(), wasm_valtype_new_i32());
  wasm_func_t* add_func = wasm_func_new_with_env(store, type, add, &env, finalize);
  wasm_functype_delete(type);
  type = swap_type();
  wasm_func_t* swap_func = wasm_func_new(store, type, swap);
  wasm_func_t* forgetful = wasm_func_new(store, type, forget);
  wasm_functype_delete(type);
  CHECK(wasm_func_param_arity(swap_func) == 2 && wasm_func_result_arity(add_func) == 1);

  wasm_extern_t* import_array[] = {wasm_func_as_extern(add_func), wasm_func_as_extern(swap_func)};
  wasm_extern_vec_t imports = WASM_ARRAY_VEC(import_array);
  wasm_instance_t* instance = instantiate(store, "callbacks", &imports);
  wasm_extern_vec_t exports;
  wasm_instance_exports(instance, &exports);
  CHECK(exports.size == 2);

  wasm_val_t arg_array[] = {WASM_I32_VAL(-50)}, result_array[] = {WASM_INIT_VAL, WASM_INIT_VAL};
  wasm_val_vec_t args = WASM_ARRAY_VEC(arg_array), results = WASM_ARRAY_VEC(result_array);
  CHECK(!wasm_func_call(wasm_extern_as_func(exports.data[0]), &args, &results));
  CHECK(results.data[0].kind == WASM_I32 && results.data[0].of.i32 == 51);

  wasm_val_t pair_array[] = {WASM_I32_VAL(-1), WASM_I64_VAL(-1000000000000)};
  wasm_val_vec_t pair = WASM_ARRAY_VEC(pair_array);
  CHECK(!wasm_func_call(wasm_extern_as_func(exports.data[1]), &pair, &results));
  CHECK(results.data[0].kind == WASM_I64 && results.data[0].of.i64 == -1000000000000);
  CHECK(results.data[1].kind == WASM_I32 && results.data[1].of.i32 == -1);

  /* The host calls a host function. */
  CHECK(!wasm_func_call(swap_func, &pair, &results) && results.data[1].of.i32 == -1);
  wasm_trap_t* trap = wasm_func_call(forgetful, &pair, &results);
  CHECK(message_is(trap, "result 0 of a callback is not an i64 of its store"));
  wasm_trap_delete(trap);
  /* Wrong arguments are refused before anything runs. */
  trap = wasm_func_call(add_func, &pair, &results);
  CHECK(message_is(trap, "the function is (i32) -> (i32), but 2 arguments and room for 2 results are given"));
  wasm_trap_delete(trap);
  wasm_val_t wrong_array[] = {WASM_F32_VAL(1.0f)};
  wasm_val_vec_t wrong = WASM_ARRAY_VEC(wrong_array);
  trap = wasm_func_call(add_func, &wrong, &results);
  CHECK(message_is(trap, "argument 0 is not an i32 of this store"));
  wasm_trap_delete(trap);

  /* The instance keeps its imports, whatever goes first. */
  wasm_store_delete(store);
  wasm_func_delete(add_func);
  wasm_func_delete(swap_func);
  wasm_func_delete(forgetful);
  wasm_engine_delete(engine);
  wasm_instance_delete(instance);
  CHECK(!wasm_func_call(wasm_extern_as_func(exports.data[0]), &args, &results));
  CHECK(results.data[0].of.i32 == 51 && finalized == 0);
  wasm_extern_vec_delete(&exports);
  CHECK(finalized == 1);
  return 0;
}
