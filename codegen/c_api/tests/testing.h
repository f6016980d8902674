/* What the tests of <wasm.h> share. They are C, as users of that interface are. */
#ifndef WAGO_C_API_TESTING_H
#define WAGO_C_API_TESTING_H

#include <stdio.h>
#include <stdlib.h>
#include <wasm.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A module by name; see modules.cc. */
void test_module(const char* name, wasm_byte_vec_t* out);

#ifdef __cplusplus
}
#endif

#define CHECK(condition) \
  ((condition) ? (void)0 : (fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition), exit(1)))

static inline wasm_module_t* compile(wasm_store_t* store, const char* name) {
  wasm_byte_vec_t binary;
  test_module(name, &binary);
  wasm_module_t* module = wasm_module_new(store, &binary);
  wasm_byte_vec_delete(&binary);
  CHECK(module);
  return module;
}

static inline wasm_instance_t* instantiate(wasm_store_t* store, const char* name,
                                           const wasm_extern_vec_t* imports) {
  wasm_module_t* module = compile(store, name);
  wasm_trap_t* trap = NULL;
  wasm_instance_t* instance = wasm_instance_new(store, module, imports, &trap);
  if (trap) {
    wasm_message_t message;
    wasm_trap_message(trap, &message);
    fprintf(stderr, "%s\n", message.data);
  }
  CHECK(instance && !trap);
  wasm_module_delete(module);
  return instance;
}

static inline int message_is(const wasm_trap_t* trap, const char* wanted) {
  wasm_message_t message;
  CHECK(trap);
  wasm_trap_message(trap, &message);
  CHECK(message.size > 0 && message.data[message.size - 1] == '\0');
  const int same = strcmp(message.data, wanted) == 0;
  if (!same) fprintf(stderr, "seen: %s\n", message.data);
  wasm_name_delete(&message);
  return same;
}

#endif
