/* Traps: their messages and frames, from guest and host, through both. */
#include "codegen/c_api/tests/testing.h"

static wasm_store_t* store;
static wasm_func_t* nested; /* called by the callback, if not NULL */

static wasm_trap_t* callback(const wasm_val_vec_t* args, wasm_val_vec_t* results) {
  (void)args;
  (void)results;
  if (nested) {
    wasm_val_vec_t none = WASM_EMPTY_VEC;
    return wasm_func_call(nested, &none, &none);
  }
  wasm_message_t message;
  wasm_name_new_from_string_nt(&message, "the host says no");
  wasm_trap_t* trap = wasm_trap_new(store, &message);
  wasm_name_delete(&message);
  return trap;
}

static wasm_trap_t* call(const wasm_extern_vec_t* exports, size_t index) {
  wasm_val_vec_t none = WASM_EMPTY_VEC;
  wasm_trap_t* trap = wasm_func_call(wasm_extern_as_func(exports->data[index]), &none, &none);
  CHECK(trap);
  return trap;
}

/* Whether frame number `at` of the trace ran function `index` of the instance. */
static int ran(const wasm_frame_vec_t* trace, size_t at, const wasm_instance_t* instance, uint32_t index) {
  CHECK(at < trace->size);
  const wasm_frame_t* frame = trace->data[at];
  return wasm_frame_func_index(frame) == index && wasm_instance_same(wasm_frame_instance(frame), instance);
}

/* Three instances of one module, each of which calls the one before: `third` calls `second` through the host.
 */
static void frames_of_other_instances(wasm_instance_t* first, const wasm_extern_vec_t* first_exports,
                                      wasm_extern_t* host) {
  wasm_extern_t* import_array[] = {first_exports->data[1]};
  wasm_extern_vec_t imports = WASM_ARRAY_VEC(import_array), second_exports, third_exports;
  wasm_instance_t* second = instantiate(store, "traps", &imports);
  wasm_instance_exports(second, &second_exports);
  import_array[0] = host;
  wasm_instance_t* third = instantiate(store, "traps", &imports);
  wasm_instance_exports(third, &third_exports);

  nested = wasm_extern_as_func(second_exports.data[2]);
  wasm_trap_t* trap = call(&third_exports, 2);
  nested = NULL;
  wasm_frame_vec_t trace;
  wasm_trap_trace(trap, &trace);
  CHECK(trace.size == 4);
  CHECK(ran(&trace, 0, first, 1) && ran(&trace, 1, first, 2));
  CHECK(ran(&trace, 2, second, 3) && ran(&trace, 3, third, 3));
  CHECK(!wasm_instance_same(first, second) && !wasm_instance_same(second, third));

  /* A frame and its copies hold their instance; a trap does not. */
  wasm_extern_vec_delete(&third_exports);
  wasm_instance_delete(third);
  wasm_frame_t* copy = wasm_frame_copy(trace.data[3]);
  wasm_frame_vec_delete(&trace);
  wasm_instance_exports(wasm_frame_instance(copy), &third_exports);
  CHECK(third_exports.size == 4);
  wasm_extern_vec_delete(&third_exports);
  wasm_frame_delete(copy);
  wasm_trap_trace(trap, &trace);
  CHECK(ran(&trace, 2, second, 3));
  CHECK(wasm_frame_func_index(trace.data[3]) == 3 && !wasm_frame_instance(trace.data[3]));
  wasm_frame_vec_delete(&trace);

  wasm_trap_delete(trap);
  wasm_extern_vec_delete(&second_exports);
  wasm_instance_delete(second);
}

int main(void) {
  wasm_engine_t* engine = wasm_engine_new();
  store = wasm_store_new(engine);
  wasm_functype_t* type = wasm_functype_new_0_0();
  wasm_func_t* func = wasm_func_new(store, type, callback);
  wasm_functype_delete(type);
  wasm_extern_t* import_array[] = {wasm_func_as_extern(func)};
  wasm_extern_vec_t imports = WASM_ARRAY_VEC(import_array), exports;
  wasm_instance_t* instance = instantiate(store, "traps", &imports);
  wasm_instance_exports(instance, &exports);

  /* "unreachable" is function 1; the instruction is the third byte of its body, after the locals and nop. */
  wasm_trap_t* trap = call(&exports, 0);
  CHECK(message_is(trap, "unreachable instruction executed"));
  wasm_frame_t* origin = wasm_trap_origin(trap);
  CHECK(origin && wasm_frame_func_index(origin) == 1 && wasm_frame_func_offset(origin) == 2);
  CHECK(wasm_instance_same(wasm_frame_instance(origin), instance));
  wasm_byte_vec_t binary;
  test_module("traps", &binary);
  CHECK(wasm_frame_module_offset(origin) < binary.size);
  CHECK(binary.data[wasm_frame_module_offset(origin)] == 0x00);
  CHECK(binary.data[wasm_frame_module_offset(origin) - 1] == 0x01); /* nop */
  wasm_byte_vec_delete(&binary);
  wasm_frame_t* copy = wasm_frame_copy(origin);
  CHECK(wasm_frame_func_index(copy) == 1 && wasm_frame_instance(copy) != wasm_frame_instance(origin));
  CHECK(wasm_instance_same(wasm_frame_instance(copy), wasm_frame_instance(origin)));
  wasm_frame_delete(origin);
  CHECK(wasm_instance_same(wasm_frame_instance(copy), instance));
  wasm_frame_delete(copy);
  wasm_trap_delete(trap);

  frames_of_other_instances(instance, &exports, wasm_func_as_extern(func));

  /* Through a caller: both frames, innermost first, whether or not one was inlined. */
  trap = call(&exports, 1);
  wasm_frame_vec_t trace;
  wasm_trap_trace(trap, &trace);
  CHECK(trace.size == 2);
  CHECK(wasm_frame_func_index(trace.data[0]) == 1 && wasm_frame_func_index(trace.data[1]) == 2);
  CHECK(wasm_frame_func_offset(trace.data[1]) == 1);
  wasm_frame_vec_delete(&trace);
  wasm_trap_delete(trap);

  /* The host's own. */
  trap = call(&exports, 2);
  CHECK(message_is(trap, "the host says no"));
  wasm_trap_trace(trap, &trace);
  CHECK(trace.size == 1 && wasm_frame_func_index(trace.data[0]) == 3);
  wasm_frame_vec_delete(&trace);
  wasm_trap_delete(trap);

  /* A guest's trap that the host passes on has the whole stack. */
  nested = wasm_func_copy(wasm_extern_as_func(exports.data[0]));
  trap = call(&exports, 2);
  CHECK(message_is(trap, "unreachable instruction executed"));
  wasm_trap_trace(trap, &trace);
  CHECK(trace.size == 2 && wasm_frame_func_index(trace.data[0]) == 1 &&
        wasm_frame_func_index(trace.data[1]) == 3);
  wasm_frame_vec_delete(&trace);
  wasm_trap_t* same = wasm_trap_copy(trap);
  CHECK(wasm_trap_same(trap, same));
  CHECK(wasm_ref_as_trap(wasm_trap_as_ref(trap)) == trap && !wasm_ref_as_func(wasm_trap_as_ref(trap)));
  wasm_trap_delete(trap);
  CHECK(message_is(same, "unreachable instruction executed"));
  wasm_trap_delete(same);
  wasm_func_delete(nested);

  wasm_val_t zero_array[] = {WASM_I32_VAL(0)}, result_array[] = {WASM_INIT_VAL};
  wasm_val_vec_t zero = WASM_ARRAY_VEC(zero_array), result = WASM_ARRAY_VEC(result_array);
  trap = wasm_func_call(wasm_extern_as_func(exports.data[3]), &zero, &result);
  CHECK(message_is(trap, "integer divide by zero"));
  CHECK(result.data[0].kind == WASM_EXTERNREF); /* not written */
  wasm_trap_delete(trap);

  wasm_message_t message;
  wasm_name_new_from_string(&message, "not terminated");
  trap = wasm_trap_new(store, &message);
  wasm_name_delete(&message);
  CHECK(message_is(trap, "not terminated") && !wasm_trap_origin(trap));
  wasm_trap_delete(trap);

  wasm_extern_vec_delete(&exports);
  wasm_instance_delete(instance);
  wasm_func_delete(func);
  wasm_store_delete(store);
  wasm_engine_delete(engine);
  return 0;
}
