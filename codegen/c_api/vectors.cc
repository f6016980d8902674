// The functions of every vector of <wasm.h>.
#include <algorithm>

#include "codegen/c_api/objects.h"

namespace wago::c_api {

namespace {

template <class Vector>
void make(Vector* out, size_t size) {
  out->size = size;
  // Zeroed, so that a vector that was never filled can be deleted.
  out->data = size ? new std::remove_pointer_t<decltype(out->data)>[size]() : nullptr;
}

template <class Vector, class Element>
void make_from(Vector* out, size_t size, const Element* elements) {
  Vector made;
  make(&made, size);
  std::copy_n(elements, size, made.data);
  *out = made;
}

template <class Vector, class Copy>
void copy_each(Vector* out, const Vector* from, Copy copy) {
  Vector made;
  make(&made, from->size);
  for (size_t i = 0; i < from->size; ++i) copy(made.data[i], from->data[i]);
  *out = made;
}

template <class Vector, class Delete>
void delete_each(Vector* vector, Delete delete_one) {
  for (size_t i = 0; i < vector->size; ++i) delete_one(vector->data[i]);
  delete[] vector->data;
  vector->size = 0;
  vector->data = nullptr;
}

void copy_element(wasm_byte_t& to, const wasm_byte_t& from) {
  to = from;
}
void copy_element(wasm_val_t& to, const wasm_val_t& from) {
  wasm_val_copy(&to, &from);
}
void delete_element(wasm_byte_t&) {}
void delete_element(wasm_val_t& value) {
  wasm_val_delete(&value);
}

}  // namespace

}  // namespace wago::c_api

using namespace wago::c_api;

#define WASM_COMMON(name, element)                                                              \
  void wasm_##name##_vec_new_empty(wasm_##name##_vec_t* out) {                                  \
    make(out, 0);                                                                               \
  }                                                                                             \
  void wasm_##name##_vec_new_uninitialized(wasm_##name##_vec_t* out, size_t size) {             \
    make(out, size);                                                                            \
  }                                                                                             \
  void wasm_##name##_vec_new(wasm_##name##_vec_t* out, size_t size, element const elements[]) { \
    make_from(out, size, elements);                                                             \
  }
#define WASM_VALUES(name)                                                                  \
  WASM_COMMON(name, wasm_##name##_t)                                                       \
  void wasm_##name##_vec_copy(wasm_##name##_vec_t* out, const wasm_##name##_vec_t* from) { \
    copy_each(out, from, [](auto& to, const auto& one) { copy_element(to, one); });        \
  }                                                                                        \
  void wasm_##name##_vec_delete(wasm_##name##_vec_t* vector) {                             \
    delete_each(vector, [](auto& one) { delete_element(one); });                           \
  }
#define WASM_POINTERS(name)                                                                                 \
  WASM_COMMON(name, wasm_##name##_t*)                                                                       \
  void wasm_##name##_vec_copy(wasm_##name##_vec_t* out, const wasm_##name##_vec_t* from) {                  \
    copy_each(out, from, [](auto*& to, const auto* one) { to = one ? wasm_##name##_copy(one) : nullptr; }); \
  }                                                                                                         \
  void wasm_##name##_vec_delete(wasm_##name##_vec_t* vector) {                                              \
    delete_each(vector, [](auto* one) {                                                                     \
      if (one) wasm_##name##_delete(one);                                                                   \
    });                                                                                                     \
  }
#include "codegen/c_api/vectors.def"
#undef WASM_COMMON
