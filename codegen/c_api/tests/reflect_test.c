/* Types: of modules, built, copied, in vectors. */
#include "codegen/c_api/tests/testing.h"

static int name_is(const wasm_name_t* name, const char* wanted) {
  return name->size == strlen(wanted) && memcmp(name->data, wanted, name->size) == 0;
}

static void check_function(const wasm_externtype_t* type) {
  static const wasm_valkind_t kinds[] = {WASM_I32,  WASM_I64,     WASM_F32,      WASM_F64,
                                         WASM_V128, WASM_FUNCREF, WASM_EXTERNREF};
  const wasm_functype_t* function = wasm_externtype_as_functype_const(type);
  CHECK(function && wasm_externtype_kind(type) == WASM_EXTERN_FUNC);
  CHECK(wasm_functype_params(function)->size == 7 && wasm_functype_results(function)->size == 2);
  for (size_t i = 0; i < 7; ++i)
    CHECK(wasm_valtype_kind(wasm_functype_params(function)->data[i]) == kinds[i]);
  CHECK(wasm_valtype_kind(wasm_functype_results(function)->data[0]) == WASM_F64);
  CHECK(!wasm_externtype_as_globaltype_const(type) && !wasm_externtype_as_memorytype_const(type));
}

static void check_others(const wasm_externtype_t* global, const wasm_externtype_t* table,
                         const wasm_externtype_t* memory) {
  const wasm_globaltype_t* g = wasm_externtype_as_globaltype_const(global);
  CHECK(g && wasm_valtype_kind(wasm_globaltype_content(g)) == WASM_F32 &&
        wasm_globaltype_mutability(g) == WASM_VAR);
  const wasm_tabletype_t* t = wasm_externtype_as_tabletype_const(table);
  CHECK(t && wasm_valtype_kind(wasm_tabletype_element(t)) == WASM_EXTERNREF &&
        wasm_tabletype_limits(t)->min == 3);
  CHECK(wasm_tabletype_limits(t)->max == wasm_limits_max_default);
  const wasm_memorytype_t* m = wasm_externtype_as_memorytype_const(memory);
  CHECK(m && wasm_memorytype_limits(m)->min == 2 && !wasm_externtype_as_tabletype_const(memory));
}

int main(void) {
  wasm_engine_t* engine = wasm_engine_new();
  wasm_store_t* store = wasm_store_new(engine);
  wasm_module_t* module = compile(store, "reflect");
  wasm_importtype_vec_t imports, imports_copy;
  wasm_exporttype_vec_t exports;
  wasm_module_imports(module, &imports);
  wasm_module_exports(module, &exports);
  wasm_module_delete(module);
  CHECK(imports.size == 4 && exports.size == 4);
  wasm_importtype_vec_copy(&imports_copy, &imports);
  wasm_importtype_vec_delete(&imports);
  const wasm_importtype_t* const* in = (const wasm_importtype_t* const*)imports_copy.data;
  CHECK(name_is(wasm_importtype_module(in[0]), "some") && name_is(wasm_importtype_name(in[0]), "function"));
  CHECK(name_is(wasm_importtype_module(in[3]), "other") && name_is(wasm_importtype_name(in[3]), "memory"));
  check_function(wasm_importtype_type(in[0]));
  check_others(wasm_importtype_type(in[1]), wasm_importtype_type(in[2]), wasm_importtype_type(in[3]));
  CHECK(name_is(wasm_exporttype_name(exports.data[1]), "global"));
  check_function(wasm_exporttype_type(exports.data[0]));
  check_others(wasm_exporttype_type(exports.data[1]), wasm_exporttype_type(exports.data[2]),
               wasm_exporttype_type(exports.data[3]));
  wasm_importtype_vec_delete(&imports_copy);
  wasm_exporttype_vec_delete(&exports);

  /* Built by hand; what is given away is not ours to delete. */
  wasm_name_t from, name;
  wasm_name_new_from_string(&from, "m");
  wasm_name_new_from_string(&name, "");
  wasm_functype_t* functype =
      wasm_functype_new_3_2(wasm_valtype_new_i32(), wasm_valtype_new_f32(), wasm_valtype_new_funcref(),
                            wasm_valtype_new_i64(), wasm_valtype_new_externref());
  CHECK(wasm_valtype_is_ref(wasm_functype_params(functype)->data[2]) &&
        wasm_valtype_is_num(wasm_functype_params(functype)->data[1]));
  wasm_importtype_t* import = wasm_importtype_new(&from, &name, wasm_functype_as_externtype(functype));
  wasm_importtype_t* copy = wasm_importtype_copy(import);
  wasm_importtype_delete(import);
  CHECK(name_is(wasm_importtype_module(copy), "m") && wasm_importtype_name(copy)->size == 0);
  const wasm_functype_t* copied = wasm_externtype_as_functype_const(wasm_importtype_type(copy));
  CHECK(wasm_functype_params(copied)->size == 3 &&
        wasm_valtype_kind(wasm_functype_results(copied)->data[1]) == WASM_EXTERNREF);
  wasm_importtype_delete(copy);

  /* A vector that was never filled, and one of each kind of element. */
  wasm_valtype_vec_t types;
  wasm_valtype_vec_new_uninitialized(&types, 3);
  wasm_valtype_vec_delete(&types);
  CHECK(types.size == 0 && !types.data);
  wasm_val_t number = WASM_F64_VAL(2.5), values_array[2] = {WASM_F64_VAL(2.5), WASM_REF_VAL(NULL)};
  values_array[1].of.ref = wasm_foreign_as_ref(wasm_foreign_new(store));
  wasm_val_vec_t values, values_copy;
  wasm_val_vec_new(&values, 2, values_array);
  wasm_val_vec_copy(&values_copy, &values);
  CHECK(values_copy.data[0].of.f64 == number.of.f64 &&
        wasm_ref_same(values_copy.data[1].of.ref, values.data[1].of.ref));
  wasm_val_vec_delete(&values);
  wasm_val_vec_delete(&values_copy);
  wasm_val_t pointer;
  wasm_val_init_ptr(&pointer, &number);
  CHECK(wasm_val_ptr(&pointer) == &number);

  wasm_store_delete(store);
  wasm_engine_delete(engine);
  return 0;
}
