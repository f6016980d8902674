// Types of <wasm.h>: value, function, global, table, memory, external, import and export types.
#include <memory>

#include "codegen/c_api/objects.h"

namespace {

struct DeleteVector {
  void operator()(wasm_valtype_vec_t* types) const {
    wasm_valtype_vec_delete(types);
    delete types;
  }
  void operator()(wasm_name_t* name) const {
    wasm_name_delete(name);
    delete name;
  }
};

// Vectors with the copying and the end that C++ expects.
class Types {
 public:
  explicit Types(const wasm_valtype_vec_t& taken) : types_(new wasm_valtype_vec_t(taken)) {}
  Types(const Types& other) : types_(new wasm_valtype_vec_t) {
    wasm_valtype_vec_copy(types_.get(), other.get());
  }
  const wasm_valtype_vec_t* get() const { return types_.get(); }

 private:
  std::unique_ptr<wasm_valtype_vec_t, DeleteVector> types_;
};
class Name {
 public:
  explicit Name(const wasm_name_t& taken) : name_(new wasm_name_t(taken)) {}
  Name(const Name& other) : name_(new wasm_name_t) { wasm_name_copy(name_.get(), other.get()); }
  const wasm_name_t* get() const { return name_.get(); }

 private:
  std::unique_ptr<wasm_name_t, DeleteVector> name_;
};

// What was given away, as what C++ holds.
template <class T>
T take(T* vector) {
  return std::exchange(*vector, T{0, nullptr});
}
wasm_valtype_t take(wasm_valtype_t* type) {
  return *std::unique_ptr<wasm_valtype_t>(type);
}

}  // namespace

struct wasm_functype_t : wasm_externtype_t {
  wasm_functype_t(wasm_valtype_vec_t* p, wasm_valtype_vec_t* r)
      : wasm_externtype_t(WASM_EXTERN_FUNC), params(take(p)), results(take(r)) {}
  Types params, results;
};
struct wasm_globaltype_t : wasm_externtype_t {
  wasm_globaltype_t(wasm_valtype_t c, wasm_mutability_t m)
      : wasm_externtype_t(WASM_EXTERN_GLOBAL), content(c), mutability(m) {}
  wasm_valtype_t content;
  wasm_mutability_t mutability;
};
struct wasm_tabletype_t : wasm_externtype_t {
  wasm_tabletype_t(wasm_valtype_t e, wasm_limits_t l)
      : wasm_externtype_t(WASM_EXTERN_TABLE), element(e), limits(l) {}
  wasm_valtype_t element;
  wasm_limits_t limits;
};
struct wasm_memorytype_t : wasm_externtype_t {
  explicit wasm_memorytype_t(wasm_limits_t l) : wasm_externtype_t(WASM_EXTERN_MEMORY), limits(l) {}
  wasm_limits_t limits;
};
struct wasm_importtype_t {
  wasm_importtype_t(wasm_name_t* m, wasm_name_t* n, wasm_externtype_t* t)
      : module(take(m)), name(take(n)), type(t) {}
  wasm_importtype_t(const wasm_importtype_t& other)
      : module(other.module), name(other.name), type(wasm_externtype_copy(other.type.get())) {}
  Name module, name;
  std::unique_ptr<wasm_externtype_t> type;
};
struct wasm_exporttype_t {
  wasm_exporttype_t(wasm_name_t* n, wasm_externtype_t* t) : name(take(n)), type(t) {}
  wasm_exporttype_t(const wasm_exporttype_t& other)
      : name(other.name), type(wasm_externtype_copy(other.type.get())) {}
  Name name;
  std::unique_ptr<wasm_externtype_t> type;
};

// --- between these and the engine's

namespace wago::c_api {

ValueType value_type(wasm_valkind_t kind) {
  switch (kind) {
    case WASM_I32:
      return ValueType::I32;
    case WASM_I64:
      return ValueType::I64;
    case WASM_F32:
      return ValueType::F32;
    case WASM_F64:
      return ValueType::F64;
    case WASM_V128:
      return ValueType::V128;
    case WASM_FUNCREF:
      return ValueType::FuncRef;
    default:
      return ValueType::ExternRef;
  }
}

wasm_valkind_t kind_of(ValueType type) {
  switch (type) {
    case ValueType::I32:
      return WASM_I32;
    case ValueType::I64:
      return WASM_I64;
    case ValueType::F32:
      return WASM_F32;
    case ValueType::F64:
      return WASM_F64;
    case ValueType::V128:
      return WASM_V128;
    case ValueType::FuncRef:
      return WASM_FUNCREF;
    case ValueType::ExternRef:
      return WASM_EXTERNREF;
  }
  return WASM_EXTERNREF;
}

namespace {

std::vector<ValueType> value_types(const wasm_valtype_vec_t& from) {
  std::vector<ValueType> types;
  for (size_t i = 0; i < from.size; ++i) types.push_back(value_type(from.data[i]->kind));
  return types;
}

wasm_valtype_vec_t new_valtypes(const std::vector<ValueType>& types) {
  wasm_valtype_vec_t made;
  wasm_valtype_vec_new_uninitialized(&made, types.size());
  for (size_t i = 0; i < types.size(); ++i) made.data[i] = wasm_valtype_new(kind_of(types[i]));
  return made;
}

}  // namespace

FuncType func_type(const wasm_functype_t& type) {
  return {value_types(*type.params.get()), value_types(*type.results.get())};
}

wasm_functype_t* new_functype(const FuncType& type) {
  wasm_valtype_vec_t params = new_valtypes(type.params), results = new_valtypes(type.results);
  return wasm_functype_new(&params, &results);
}

Limits limits_of(const wasm_limits_t& limits) {
  return {limits.min, limits.max == wasm_limits_max_default ? std::nullopt : std::optional(limits.max)};
}

wasm_limits_t limits_of(const Limits& limits) {
  return {limits.min, limits.max.value_or(wasm_limits_max_default)};
}

wasm_externtype_t* new_externtype(const ExternType& type) {
  switch (type.kind) {
    case ExternKind::Function:
      return new_functype(type.function);
    case ExternKind::Global:
      return new wasm_globaltype_t({kind_of(type.global.value)},
                                   type.global.mutable_ ? WASM_VAR : WASM_CONST);
    case ExternKind::Table:
      return new wasm_tabletype_t({kind_of(type.table.element)}, limits_of(type.table.limits));
    case ExternKind::Memory:
      return new wasm_memorytype_t(limits_of(type.memory.limits));
  }
  return nullptr;
}

wasm_name_t new_name(std::string_view text) {
  wasm_name_t name;
  wasm_name_new(&name, text.size(), text.data());
  return name;
}

}  // namespace wago::c_api

// --- the interface

wasm_valtype_t* wasm_valtype_new(wasm_valkind_t kind) {
  return new wasm_valtype_t{kind};
}
wasm_valkind_t wasm_valtype_kind(const wasm_valtype_t* type) {
  return type->kind;
}
wasm_valtype_t* wasm_valtype_copy(const wasm_valtype_t* type) {
  return new wasm_valtype_t(*type);
}
void wasm_valtype_delete(wasm_valtype_t* type) {
  delete type;
}

wasm_functype_t* wasm_functype_new(wasm_valtype_vec_t* params, wasm_valtype_vec_t* results) {
  return new wasm_functype_t(params, results);
}
const wasm_valtype_vec_t* wasm_functype_params(const wasm_functype_t* type) {
  return type->params.get();
}
const wasm_valtype_vec_t* wasm_functype_results(const wasm_functype_t* type) {
  return type->results.get();
}

wasm_globaltype_t* wasm_globaltype_new(wasm_valtype_t* content, wasm_mutability_t mutability) {
  return new wasm_globaltype_t(take(content), mutability);
}
const wasm_valtype_t* wasm_globaltype_content(const wasm_globaltype_t* type) {
  return &type->content;
}
wasm_mutability_t wasm_globaltype_mutability(const wasm_globaltype_t* type) {
  return type->mutability;
}

wasm_tabletype_t* wasm_tabletype_new(wasm_valtype_t* element, const wasm_limits_t* limits) {
  return new wasm_tabletype_t(take(element), *limits);
}
const wasm_valtype_t* wasm_tabletype_element(const wasm_tabletype_t* type) {
  return &type->element;
}
const wasm_limits_t* wasm_tabletype_limits(const wasm_tabletype_t* type) {
  return &type->limits;
}

wasm_memorytype_t* wasm_memorytype_new(const wasm_limits_t* limits) {
  return new wasm_memorytype_t(*limits);
}
const wasm_limits_t* wasm_memorytype_limits(const wasm_memorytype_t* type) {
  return &type->limits;
}

wasm_externkind_t wasm_externtype_kind(const wasm_externtype_t* type) {
  return type->kind;
}
void wasm_externtype_delete(wasm_externtype_t* type) {
  delete type;
}
wasm_externtype_t* wasm_externtype_copy(const wasm_externtype_t* type) {
  switch (type->kind) {
    case WASM_EXTERN_FUNC:
      return wasm_functype_copy(static_cast<const wasm_functype_t*>(type));
    case WASM_EXTERN_GLOBAL:
      return wasm_globaltype_copy(static_cast<const wasm_globaltype_t*>(type));
    case WASM_EXTERN_TABLE:
      return wasm_tabletype_copy(static_cast<const wasm_tabletype_t*>(type));
    default:
      return wasm_memorytype_copy(static_cast<const wasm_memorytype_t*>(type));
  }
}

#define WASM_EXTERN_TYPE(name, kind_)                                                       \
  void wasm_##name##_delete(wasm_##name##_t* type) {                                        \
    delete type;                                                                            \
  }                                                                                         \
  wasm_##name##_t* wasm_##name##_copy(const wasm_##name##_t* type) {                        \
    return new wasm_##name##_t(*type);                                                      \
  }                                                                                         \
  wasm_externtype_t* wasm_##name##_as_externtype(wasm_##name##_t* type) {                   \
    return type;                                                                            \
  }                                                                                         \
  const wasm_externtype_t* wasm_##name##_as_externtype_const(const wasm_##name##_t* type) { \
    return type;                                                                            \
  }                                                                                         \
  wasm_##name##_t* wasm_externtype_as_##name(wasm_externtype_t* type) {                     \
    return type->kind == kind_ ? static_cast<wasm_##name##_t*>(type) : nullptr;             \
  }                                                                                         \
  const wasm_##name##_t* wasm_externtype_as_##name##_const(const wasm_externtype_t* type) { \
    return type->kind == kind_ ? static_cast<const wasm_##name##_t*>(type) : nullptr;       \
  }
WASM_EXTERN_TYPE(functype, WASM_EXTERN_FUNC)
WASM_EXTERN_TYPE(globaltype, WASM_EXTERN_GLOBAL)
WASM_EXTERN_TYPE(tabletype, WASM_EXTERN_TABLE)
WASM_EXTERN_TYPE(memorytype, WASM_EXTERN_MEMORY)
#undef WASM_EXTERN_TYPE

wasm_importtype_t* wasm_importtype_new(wasm_name_t* module, wasm_name_t* name, wasm_externtype_t* type) {
  return new wasm_importtype_t(module, name, type);
}
wasm_importtype_t* wasm_importtype_copy(const wasm_importtype_t* type) {
  return new wasm_importtype_t(*type);
}
void wasm_importtype_delete(wasm_importtype_t* type) {
  delete type;
}
const wasm_name_t* wasm_importtype_module(const wasm_importtype_t* type) {
  return type->module.get();
}
const wasm_name_t* wasm_importtype_name(const wasm_importtype_t* type) {
  return type->name.get();
}
const wasm_externtype_t* wasm_importtype_type(const wasm_importtype_t* type) {
  return type->type.get();
}

wasm_exporttype_t* wasm_exporttype_new(wasm_name_t* name, wasm_externtype_t* type) {
  return new wasm_exporttype_t(name, type);
}
wasm_exporttype_t* wasm_exporttype_copy(const wasm_exporttype_t* type) {
  return new wasm_exporttype_t(*type);
}
void wasm_exporttype_delete(wasm_exporttype_t* type) {
  delete type;
}
const wasm_name_t* wasm_exporttype_name(const wasm_exporttype_t* type) {
  return type->name.get();
}
const wasm_externtype_t* wasm_exporttype_type(const wasm_exporttype_t* type) {
  return type->type.get();
}
