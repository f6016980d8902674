// A decoded and validated module, before compilation: what the binary says, with function bodies left as
// bytes. Immutable once decode_module() returned it; shared by compiled code and by every instance.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/types.h"

namespace wago::runtime {

struct Import {
  std::string module;
  std::string name;
  ExternKind kind = ExternKind::Function;
  uint32_t type_index = 0;  // functions: index into Module::types
  TableType table;
  MemoryType memory;
  GlobalType global;
};

struct Export {
  std::string name;
  ExternKind kind = ExternKind::Function;
  uint32_t index = 0;  // in the index space of its kind
};

// A constant expression of 2.0: one instruction.
struct ConstExpr {
  enum class Kind : uint8_t { Value, GlobalGet, RefFunc, RefNull };
  Kind kind = Kind::Value;
  ValueType type = ValueType::I32;
  uint64_t bits[2] = {0, 0};  // Value: bit pattern, i32/f32 zero-extended, v128 low first
  uint32_t index = 0;         // GlobalGet: global index; RefFunc: function index
};

struct Global {
  GlobalType type;
  ConstExpr init;  // only for globals the module defines
};

struct ElementSegment {
  enum class Mode : uint8_t { Active, Passive, Declarative };
  Mode mode = Mode::Passive;
  ValueType type = ValueType::FuncRef;
  uint32_t table = 0;
  ConstExpr offset;
  std::vector<ConstExpr> items;
};

struct DataSegment {
  bool active = false;
  uint32_t memory = 0;
  ConstExpr offset;
  uint32_t begin = 0;  // bytes of the module
  uint32_t size = 0;
};

// A function the module defines. Its body stays in the module's bytes.
struct FunctionBody {
  uint32_t type_index = 0;
  // Offset in the module of the body's first byte: the count of local declarations. A "wasm pc" is counted
  // from here.
  uint32_t begin = 0;
  uint32_t size = 0;              // bytes, local declarations and the final `end` included
  uint32_t code_begin = 0;        // offset in the module of the first instruction
  std::vector<ValueType> locals;  // declared locals, expanded, without the parameters
  // Filled by validation, for sizing what the compiler allocates:
  uint32_t max_stack = 0;    // operand stack values
  uint32_t max_control = 0;  // nested blocks, the function's own included
  bool calls = false;        // has a call or call_indirect
};

struct CustomSection {
  std::string name;
  uint32_t begin = 0;
  uint32_t size = 0;
};

class Module {
 public:
  std::vector<uint8_t> bytes;  // the whole binary

  std::vector<FuncType> types;
  std::vector<Import> imports;
  std::vector<Export> exports;

  // Index spaces: imports first, then what the module defines.
  std::vector<uint32_t> function_types;  // type index of every function
  std::vector<TableType> tables;
  std::vector<MemoryType> memories;
  std::vector<Global> globals;
  uint32_t imported_functions = 0;
  uint32_t imported_tables = 0;
  uint32_t imported_memories = 0;
  uint32_t imported_globals = 0;

  std::vector<FunctionBody> bodies;  // of function imported_functions + i
  // The code section's contents, from its count of bodies on: offsets in the module. DWARF addresses count
  // from the first.
  uint32_t code_begin = 0;
  uint32_t code_end = 0;
  std::vector<ElementSegment> elements;
  std::vector<DataSegment> data;
  bool has_data_count = false;
  std::optional<uint32_t> start;
  std::vector<CustomSection> customs;

  // Functions whose reference may be taken at run time (ref.func, element segments, exports, start), imports
  // included, are numbered in their order: instances have a FuncRef for each of them and for no other.
  static constexpr uint32_t kNotReferenced = ~0u;
  std::vector<uint32_t> reference_indices;  // one a function
  uint32_t reference_count = 0;

  const FuncType& type_of_function(uint32_t function) const { return types[function_types[function]]; }
  std::span<const uint8_t> body_bytes(const FunctionBody& body) const {
    return std::span(bytes).subspan(body.begin, body.size);
  }
  uint32_t function_count() const { return static_cast<uint32_t>(function_types.size()); }
  const Export* find_export(std::string_view name) const;  // nullptr if there is none; logarithmic

  // The name every reader shows: the name section's, else an export's, else "func[N]". Raw, not demangled.
  std::string function_name(uint32_t function) const;
  bool has_function_names() const;
  std::string name;  // the name section's module name, or empty

  // From the name section. Parallel to the function index space, or empty if there are none; a name that is
  // missing or damaged is empty.
  std::vector<std::string> function_names;

  // Where the name section has those of parameters and locals, unread: see local_names.h. Empty if it has
  // none.
  uint32_t local_names_begin = 0;
  uint32_t local_names_end = 0;

  // Indices into exports, sorted by name; and of functions only, sorted by function. Built by
  // decode_module().
  std::vector<uint32_t> export_order;
  std::vector<uint32_t> function_exports;
};

struct DecodeOptions {
  unsigned workers = 1;  // threads for validating bodies; the result does not depend on it
  uint64_t max_module_bytes = uint64_t{1} << 30;
  uint32_t max_functions = 1000000;
  uint32_t max_locals = 50000;             // per function
  uint32_t max_function_bytes = 16 << 20;  // per body
  // Further limits are constants in decode_limits.h, each refused by name.
};

// Decodes and validates. Errors are ErrorKind::Failed with section and module offset, and carry the reason in
// the wording of the specification's test suite. With several errors the lowest offset wins, whatever
// `workers` is.
base::Result<std::shared_ptr<const Module>> decode_module(std::vector<uint8_t> bytes,
                                                          const DecodeOptions& options = {});

}  // namespace wago::runtime
