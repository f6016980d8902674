// WagoProfile's embedding API.
//
//   wago::Engine engine = wago::Engine::open().value();
//   wago::Module module = engine.compile(bytes).value();
//   wago::Linker linker(engine);
//   wago::Instance instance = linker.instantiate(module).value();
//   wago::Function fib = instance.function("fib").value();
//   uint64_t arg = 20, result;
//   wago::CallResult r = fib.call({&arg, 1}, {&result, 1});
//
// Values cross as unsigned 64-bit ABI slots: i32 zero-extended, f32 and f64 by bit pattern, v128 as two slots
// low first, references as opaque handles (0 is null).
//
// Lifetime: every object is a counted handle. An instance and everything it is linked with live until the
// last handle to any of them is gone; a module lives at least as long as its instances; an engine at least as
// long as its modules.
//
// Threads: engines and modules may be shared between threads. An instance, and everything linked to it, is
// used by one thread at a time.
//
// Errors: what depends on input returns base::Result with one clear sentence; a trap is not an error but an
// outcome (CallResult). Breaking a documented precondition is a checked, aborting mistake of the caller.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/vocabulary.h"
#include "runtime/types.h"

namespace wago {

using base::Bounds;
using base::Error;
using base::Result;
using base::TrapCode;

using Slot = uint64_t;

class CallResult;

namespace runtime {
class Module;
class EngineData;
class ModuleData;
class InstanceData;
class LinkerData;
class Store;
struct CodeImage;
struct FuncRef;
class MemoryData;
class TableData;
class GlobalData;
struct EntryResult {
  uint64_t status, value;
};
// Out of Function::call(): what is left to do after a call that trapped or dropped what it ran in; a broken
// precondition.
CallResult finish_call(uint64_t status);
[[noreturn]] void wrong_slot_count();
}  // namespace runtime

struct EngineSettings {
  Bounds bounds = Bounds::Signals;
  int level = 1;                  // 0: no optimisation passes, 1: all
  bool spill_everything = false;  // the allocator's second configuration, for tests
  bool check_allocation = false;  // prove every function's register allocation
  bool verify_ir = false;         // verify the IR after every pass
  bool source_maps = false;  // keep a source position for every instruction; the code's bytes do not change
  unsigned workers = 1;      // compile threads, 0: one a core; does not change the code
  uint32_t code_offset = 0;  // moves a module's code inside its first cache line: 0, 16, 32 or 48 bytes
  bool operator==(const EngineSettings&) const = default;
};

// One frame of a guest stack, innermost first.
struct Frame {
  uint32_t function = 0;  // index in its module
  uint32_t wasm_pc = 0;   // bytes from the function's local declarations
  std::string name;       // display name
  bool inlined = false;   // placed inside the next frame
  bool host = false;      // a host function between two guest activations
};

// What stopped a guest.
class Trap {
 public:
  TrapCode code = TrapCode::Unreachable;
  std::string message;        // "integer divide by zero", or what a host function said
  std::vector<Frame> frames;  // complete guest stack
  bool frames_truncated = false;

  // "wago: trap: unreachable instruction executed\n  at trap (func[0], wasm pc 0x1)\n"
  std::string to_string() const;
};

// The outcome of a call: the results were written, or the guest trapped.
class [[nodiscard]] CallResult {
 public:
  CallResult() = default;
  CallResult(Trap trap) : trap_(std::make_unique<Trap>(std::move(trap))) {}
  bool ok() const { return !trap_; }
  explicit operator bool() const { return ok(); }
  const Trap& trap() const { return *trap_; }  // precondition: !ok()

 private:
  std::unique_ptr<Trap> trap_;
};

class Module;
class Instance;
class Function;
class Memory;
class Table;
class Global;

class Engine {
 public:
  // Needs an x86-64-v3 processor; without one, an Unmeasurable error. Implemented by codegen, which injects
  // the compiler.
  static Result<Engine> open(const EngineSettings& settings = {});

  const EngineSettings& settings() const;
  Result<Module> compile(std::vector<uint8_t> bytes) const;

  explicit Engine(std::shared_ptr<runtime::EngineData> data) : data_(std::move(data)) {}
  const std::shared_ptr<runtime::EngineData>& data() const { return data_; }

 private:
  std::shared_ptr<runtime::EngineData> data_;
};

struct ExternType {
  ExternKind kind = ExternKind::Function;
  FuncType function;
  TableType table;
  MemoryType memory;
  GlobalType global;
};
// "(i32) -> (i32)", "memory 1..2 pages", "table funcref 10..20", "global mut i32"
std::string to_string(const ExternType& type);

struct ImportInfo {
  std::string module;
  std::string name;
  ExternType type;
};
struct ExportInfo {
  std::string name;
  ExternType type;
};

// What a decoded module imports and exports, in its order.
std::vector<ImportInfo> imports_of(const runtime::Module& module);
std::vector<ExportInfo> exports_of(const runtime::Module& module);

// Decodes and validates without compiling: what `wago validate` does.
Result<void> validate(std::vector<uint8_t> bytes);

class Module {
 public:
  std::vector<ImportInfo> imports() const;
  std::vector<ExportInfo> exports() const;
  // The decoded module and its code, for readers such as a recorder.
  const runtime::Module& decoded() const;
  const runtime::CodeImage& code() const;

  explicit Module(std::shared_ptr<runtime::ModuleData> data) : data_(std::move(data)) {}
  const std::shared_ptr<runtime::ModuleData>& data() const { return data_; }

 private:
  std::shared_ptr<runtime::ModuleData> data_;
};

// Any object that can be imported or exported.
class Function {
 public:
  const FuncType& type() const;
  // `args` and `results` hold exactly slots_of(type().params) and slots_of(type().results) slots (checked).
  // No allocation, lock or look-up unless the guest traps.
  CallResult call(std::span<const Slot> args, std::span<Slot> results) const {
    if (args.size() != param_slots_ || results.size() != result_slots_) runtime::wrong_slot_count();
    // Nothing of this object is read after the call: a host function may have dropped it.
    const auto [status, value] = enter_(ref_, args.data(), results.data());
    if (results.size() == 1) results[0] = value;
    if (__builtin_expect(status != 0, 0)) return runtime::finish_call(status);
    return {};
  }
  // "handle" form of a reference, as found in tables and funcref slots.
  Slot reference() const;

  // A host function that belongs to no instance yet. `body` gets argument slots, writes result slots, and
  // returns nothing or a trap to raise (TrapCode::Host with a message, usually).
  using HostBody = std::function<std::optional<Trap>(std::span<const Slot> args, std::span<Slot> results)>;
  static Result<Function> host(const Engine& engine, FuncType type, HostBody body);

  Function(std::shared_ptr<runtime::Store> store, const runtime::FuncRef* ref);
  const std::shared_ptr<runtime::Store>& store() const { return store_; }
  const runtime::FuncRef* ref() const { return ref_; }

 private:
  std::shared_ptr<runtime::Store> store_;
  const runtime::FuncRef* ref_;
  // The signature's entry adapter; see runtime/abi.h.
  runtime::EntryResult (*enter_)(const runtime::FuncRef* callee, const Slot* args, Slot* results) = nullptr;
  size_t param_slots_ = ~size_t{0};  // matches nothing: without an adapter there is no call
  size_t result_slots_ = 0;
};

class Memory {
 public:
  static Result<Memory> create(const Engine& engine, MemoryType type);
  MemoryType type() const;           // limits.min is the size at creation
  std::span<uint8_t> bytes() const;  // valid until the guest or grow() enlarges it; the base never moves
  uint32_t pages() const;
  std::optional<uint32_t> grow(uint32_t pages) const;  // the old size, or nothing: refused

  Memory(std::shared_ptr<runtime::Store> store, runtime::MemoryData* data)
      : store_(std::move(store)), data_(data) {}
  const std::shared_ptr<runtime::Store>& store() const { return store_; }
  runtime::MemoryData* data() const { return data_; }

 private:
  std::shared_ptr<runtime::Store> store_;
  runtime::MemoryData* data_;
};

class Table {
 public:
  static Result<Table> create(const Engine& engine, TableType type, Slot initial = 0);
  TableType type() const;
  uint32_t size() const;
  std::optional<Slot> get(uint32_t index) const;   // nothing: out of bounds
  bool set(uint32_t index, Slot reference) const;  // false: out of bounds
  std::optional<uint32_t> grow(uint32_t count, Slot initial) const;

  Table(std::shared_ptr<runtime::Store> store, runtime::TableData* data)
      : store_(std::move(store)), data_(data) {}
  const std::shared_ptr<runtime::Store>& store() const { return store_; }
  runtime::TableData* data() const { return data_; }

 private:
  std::shared_ptr<runtime::Store> store_;
  runtime::TableData* data_;
};

class Global {
 public:
  static Result<Global> create(const Engine& engine, GlobalType type, std::span<const Slot> value);
  GlobalType type() const;
  void get(std::span<Slot> value) const;        // slots_of(type().value) slots
  void set(std::span<const Slot> value) const;  // precondition: mutable

  Global(std::shared_ptr<runtime::Store> store, runtime::GlobalData* data)
      : store_(std::move(store)), data_(data) {}
  const std::shared_ptr<runtime::Store>& store() const { return store_; }
  runtime::GlobalData* data() const { return data_; }

 private:
  std::shared_ptr<runtime::Store> store_;
  runtime::GlobalData* data_;
};

class Instance {
 public:
  // Errors (Usage) list the candidates when there is no such export, or say what kind it is.
  Result<Function> function(std::string_view name) const;
  Result<Memory> memory(std::string_view name) const;
  Result<Table> table(std::string_view name) const;
  Result<Global> global(std::string_view name) const;

  // The `public` invocation mode: looks `name` up, then calls. Slot counts as for Function::call.
  Result<CallResult> call(std::string_view name, std::span<const Slot> args, std::span<Slot> results) const;

  Instance(std::shared_ptr<runtime::Store> store, runtime::InstanceData* data)
      : store_(std::move(store)), data_(data) {}
  const std::shared_ptr<runtime::Store>& store() const { return store_; }
  runtime::InstanceData* data() const { return data_; }

 private:
  std::shared_ptr<runtime::Store> store_;
  runtime::InstanceData* data_;
};

// Why an instantiation did not give an instance.
struct InstantiateFailure {
  enum class Kind : uint8_t { Link, Trap } kind = Kind::Link;
  Error error;  // Link: which import, what was wanted, what was found. Trap: the trap's sentence.
  std::optional<Trap> trap;  // Trap: an active segment out of bounds, or the start function's trap
};
class [[nodiscard]] InstantiateResult {
 public:
  InstantiateResult(Instance instance) : instance_(std::move(instance)) {}
  InstantiateResult(InstantiateFailure failure) : failure_(std::move(failure)) {}
  bool ok() const { return instance_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Instance& value() const { return instance_.value(); }
  const InstantiateFailure& failure() const { return failure_.value(); }

 private:
  std::optional<Instance> instance_;
  std::optional<InstantiateFailure> failure_;
};

// Names under which imports are found. Copyable; a later definition of a name replaces the earlier.
class Linker {
 public:
  explicit Linker(const Engine& engine);
  void define(std::string module, std::string name, Function function);
  void define(std::string module, std::string name, Memory memory);
  void define(std::string module, std::string name, Table table);
  void define(std::string module, std::string name, Global global);
  // A host function; see Function::host.
  Result<void> define_host(std::string module, std::string name, FuncType type, Function::HostBody body);
  // Every export of the instance.
  void define_instance(std::string module, const Instance& instance);

  // Whether this import would be found and accepted, for `wago module imports`.
  bool provides(const ImportInfo& import) const;

  InstantiateResult instantiate(const Module& module) const;

 private:
  std::shared_ptr<runtime::LinkerData> data_;
};

}  // namespace wago
