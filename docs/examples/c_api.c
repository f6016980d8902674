/* The same guest through the standard C API: a callback, a memory, a trap. Run as: c_api guest.wasm */
#include <stdio.h>
#include <stdlib.h>
#include <wasm.h>

static wasm_memory_t* memory;

static wasm_trap_t* log_text(void* env, const wasm_val_vec_t* args, wasm_val_vec_t* results) {
  (void)results;
  wasm_store_t* store = (wasm_store_t*)env;
  const size_t address = (uint32_t)args->data[0].of.i32, size = (uint32_t)args->data[1].of.i32;
  if (address + size > wasm_memory_data_size(memory)) {
    wasm_message_t message;
    wasm_name_new_from_string_nt(&message, "the text to log is not in the guest's memory");
    wasm_trap_t* trap = wasm_trap_new(store, &message);
    wasm_name_delete(&message);
    return trap;
  }
  printf("guest: %.*s\n", (int)size, wasm_memory_data(memory) + address);
  return NULL;
}

static void read_file(const char* path, wasm_byte_vec_t* out) {
  FILE* file = fopen(path, "rb");
  if (!file) exit(2);
  fseek(file, 0, SEEK_END);
  wasm_byte_vec_new_uninitialized(out, (size_t)ftell(file));
  rewind(file);
  if (fread(out->data, 1, out->size, file) != out->size) exit(2);
  fclose(file);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  wasm_engine_t* engine = wasm_engine_new();
  wasm_store_t* store = wasm_store_new(engine);
  wasm_byte_vec_t binary;
  read_file(argv[1], &binary);
  wasm_module_t* module = wasm_module_new(store, &binary);
  wasm_byte_vec_delete(&binary);
  if (!module) return 1;

  wasm_functype_t* type = wasm_functype_new_2_0(wasm_valtype_new_i32(), wasm_valtype_new_i32());
  wasm_func_t* log_func = wasm_func_new_with_env(store, type, log_text, store, NULL);
  wasm_functype_delete(type);
  wasm_extern_t* import_array[] = {wasm_func_as_extern(log_func)};
  wasm_extern_vec_t imports = WASM_ARRAY_VEC(import_array);
  wasm_instance_t* instance = wasm_instance_new(store, module, &imports, NULL);
  if (!instance) return 1;

  wasm_extern_vec_t exports; /* in the module's order: memory, operations, greet, sum, operate */
  wasm_instance_exports(instance, &exports);
  memory = wasm_extern_as_memory(exports.data[0]);
  wasm_val_vec_t nothing = WASM_EMPTY_VEC;
  wasm_trap_t* trap = wasm_func_call(wasm_extern_as_func(exports.data[2]), &nothing, &nothing);
  if (trap) return 1;

  wasm_val_t arguments[] = {WASM_I32_VAL(65532), WASM_I32_VAL(2)}, sum[] = {WASM_INIT_VAL};
  wasm_val_vec_t args = WASM_ARRAY_VEC(arguments), results = WASM_ARRAY_VEC(sum);
  trap = wasm_func_call(wasm_extern_as_func(exports.data[3]), &args, &results);
  if (!trap) return 1;
  wasm_message_t message;
  wasm_trap_message(trap, &message);
  wasm_frame_t* origin = wasm_trap_origin(trap);
  printf("trap: %s, in function %u\n", message.data, wasm_frame_func_index(origin));

  wasm_frame_delete(origin);
  wasm_name_delete(&message);
  wasm_trap_delete(trap);
  wasm_extern_vec_delete(&exports);
  wasm_instance_delete(instance);
  wasm_func_delete(log_func);
  wasm_module_delete(module);
  wasm_store_delete(store);
  wasm_engine_delete(engine);
  return 0;
}
