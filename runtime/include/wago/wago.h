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
// Host functions are C++ callables, by their types (<wago/typed.h>) or on slots:
//
//   auto defined = linker.define_host("env", "add", [](int32_t a, int32_t b) { return a + b; });
//   auto typed = fib.typed<int64_t(int64_t)>().value();
//
// Lifetime: every object is a counted handle. An instance and everything it is linked with live until the
// last handle to any of them is gone; a module lives at least as long as its instances; an engine at least as
// long as its modules. Objects may go in any order, inside host functions too. A raw function reference is
// the one thing that does not count: it is good while what it came from is alive, and refused afterwards. A
// handle that was moved from is empty; using it is a checked mistake.
//
// Objects of different engines may be linked with each other.
//
// Threads: engines and modules may be shared between threads. An instance, and everything linked to it, is
// used by one thread at a time.
//
// Errors: what depends on input returns base::Result with one clear sentence; a trap is not an error but an
// outcome (CallResult). Breaking a documented precondition is a checked, aborting mistake of the caller.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
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
class Caller;
class Function;
class Instance;
class Trap;

namespace runtime {
class Module;
class EngineData;
class ModuleData;
class InstanceData;
class LinkerData;
class InterruptControl;
class Store;
struct CodeImage;
struct FuncRef;
class SourceLines;
class MemoryData;
class TableData;
class GlobalData;
struct EntryResult {
  uint64_t status, value;
};
// Out of Function::call(): what is left to do after a call that trapped or dropped what it ran in; calls that
// pass function references, and broken preconditions.
CallResult finish_call(uint64_t status);
CallResult call_slowly(const Function& function, std::span<const Slot> args, std::span<Slot> results);
[[noreturn]] void moved_from();

// The body of a host function, erased. `slots` holds the arguments and receives the results over them.
// `invoke` returns nothing or, owned by its caller, the trap to raise: a pointer for the sake of the
// register.
struct HostBody {
  Trap* (*invoke)(void* state, const Caller& caller, Slot* slots) = nullptr;
  std::unique_ptr<void, void (*)(void*)> state{nullptr, nullptr};
};
// A host function; `name` is what traps show.
Result<Function> make_host_function(const std::shared_ptr<EngineData>& engine, const FuncType& type,
                                    HostBody body, std::string name);

// What handles of a store's members are made of: the member, and the store that keeps it alive.
template <class Member>
class Handle {
 public:
  Handle(std::shared_ptr<Store> store, Member* member) : store_(std::move(store)), member_(member) {}
  Handle(const Handle&) = default;
  Handle(Handle&& other) noexcept
      : store_(std::move(other.store_)), member_(std::exchange(other.member_, nullptr)) {}
  Handle& operator=(Handle other) noexcept {
    std::swap(store_, other.store_);
    std::swap(member_, other.member_);
    return *this;
  }
  ~Handle() = default;

  const std::shared_ptr<Store>& store() const { return data(), store_; }
  Member* data() const {
    if (!member_) moved_from();
    return member_;
  }

 private:
  std::shared_ptr<Store> store_;
  Member* member_;
};
}  // namespace runtime

// What modules may take of an engine, each no more than the engine can do anyway. A module or object that
// exceeds one is refused by the limit's name; memory.grow and table.grow answer -1, and a stack that is too
// deep is a trap.
struct EngineLimits {
  uint32_t memory_pages = kMaxPages;               // of one memory, at any time
  uint32_t table_entries = 10'000'000;             // of one table, at any time
  uint32_t instance_table_entries = 10'000'000;    // of all tables an instance makes, together, at any time
  uint64_t guest_stack_bytes = uint64_t{1} << 20;  // below the outermost call of a guest
  uint64_t code_bytes = kMaxCodeBytes;             // machine code of one module
  uint32_t functions = 1'000'000;                  // of one module, imports included
  // Of one function; both bound the memory that compiling takes, 700 to 2,500 bytes for each. Values: what it
  // computes. Merge arguments: what is passed where control flow joins, by each branch, beyond one for each 4
  // bytes of the function; their number may grow with the square of its size.
  uint32_t function_values = 2'000'000;
  uint32_t function_merge_arguments = 600'000;
  bool operator==(const EngineLimits&) const = default;
};

constexpr unsigned kMaxWorkers = 1024;

struct EngineSettings {
  Bounds bounds = Bounds::Signals;
  int level = 1;                  // 0: no optimisation passes, 1: all
  bool interruptible = false;     // every loop looks whether it is to stop; see InterruptHandle
  bool spill_everything = false;  // the allocator's second configuration, for tests
  bool check_allocation = false;  // prove every function's register allocation
  bool verify_ir = false;         // verify the IR after every pass
  bool source_maps = false;  // keep a source position for every instruction; the code's bytes do not change
  bool counted = false;      // blocks count how often they run, for exact profiles: slower code, no artifacts
  unsigned workers = 1;      // compile threads, at most kMaxWorkers; 0: one a core; does not change the code
  uint32_t code_offset = 0;  // moves a module's code inside its first cache line: 0, 16, 32 or 48 bytes
  EngineLimits limits;
  bool operator==(const EngineSettings&) const = default;
};

// A place in what people wrote.
struct SourceFrame {
  std::string function;   // as the debug information names it: raw, linkage names where there are such
  std::string file;       // from `directory`, or absolute
  std::string directory;  // where the compiler ran; may be empty
  uint32_t line = 0;      // from 1; 0: not known
  uint32_t column = 0;    // from 1; 0: not known
  bool operator==(const SourceFrame&) const = default;
};

// One frame of a guest stack, innermost first.
struct Frame {
  uint32_t function = 0;       // index in its module
  uint32_t wasm_pc = 0;        // bytes from the function's local declarations
  uint32_t module_offset = 0;  // the same place, in bytes from the module's first
  std::string name;            // display name
  bool inlined = false;        // placed inside the next frame
  bool host = false;           // a host function between two guest activations

  // The instance it ran in, as long as something keeps that alive, which frames do not; nothing for the
  // host's.
  std::optional<Instance> instance() const;
  std::weak_ptr<runtime::Store> store;
  runtime::InstanceData* instance_data = nullptr;  // in the store; null for the host's

  // What is at this place in source: functions that the guest's compiler inlined, innermost first, then the
  // function itself. Empty if the module has no debug information about it. Reads that on first use, which
  // takes time in proportion to it.
  std::vector<SourceFrame> source() const;
  std::shared_ptr<const runtime::SourceLines> debug_info;  // of the module; null if there is none
};

// Why a guest was stopped from outside; see InterruptHandle.
enum class Interruption : uint8_t { Cancelled, DeadlineExceeded };

// What stopped a guest: a trap, or an interruption, which is none.
class Trap {
 public:
  TrapCode code = TrapCode::Unreachable;     // Interrupted: see `interruption`
  std::optional<Interruption> interruption;  // with it the guest did not trap, but was stopped
  std::string message;        // "integer divide by zero", what a host function said, "cancelled"
  std::vector<Frame> frames;  // complete guest stack
  bool frames_truncated = false;

  // "wago: trap: unreachable instruction executed\n  at trap (func[0], wasm pc 0x1)\n"
  std::string to_string() const;
};

// The outcome of a call: the results were written, or the guest trapped or was interrupted.
class [[nodiscard]] CallResult {
 public:
  CallResult() = default;
  CallResult(Trap trap) : trap_(std::make_unique<Trap>(std::move(trap))) {}
  bool ok() const { return !trap_; }
  explicit operator bool() const { return ok(); }
  const Trap& trap() const {  // precondition: !ok()
    WAGO_CHECK_MSG(trap_, "the call did not trap");
    return *trap_;
  }
  // Set if the guest did not trap but was stopped from outside; trap() has the stack at that moment.
  std::optional<Interruption> interruption() const {
    return trap_ ? trap_->interruption : std::optional<Interruption>();
  }

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
  // Errors: the module is invalid or exceeds a limit; there is no memory to compile it (Unmeasurable). Goes
  // on with fewer threads than `workers` if the system gives no more.
  Result<Module> compile(std::vector<uint8_t> bytes) const;

  explicit Engine(std::shared_ptr<runtime::EngineData> data) : data_(std::move(data)) {}
  const std::shared_ptr<runtime::EngineData>& data() const {
    if (!data_) runtime::moved_from();
    return data_;
  }

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

  // The compiled module as an artifact, and back: loading decodes and validates but compiles nothing. The
  // bytes depend on module, engine settings and program alone. Errors: the artifact is damaged, or was made
  // by another program, for another machine or with other settings; the sentence says what to do. An artifact
  // is checked in every respect but what its machine code does: load only those you trust as you trust
  // programs. Of a `counted` engine no artifact is ever loaded.
  std::vector<uint8_t> serialize() const;
  static Result<Module> deserialize(const Engine& engine, std::span<const uint8_t> artifact);

  // The decoded module and its code, for readers such as a recorder.
  const runtime::Module& decoded() const;
  const runtime::CodeImage& code() const;

  explicit Module(std::shared_ptr<runtime::ModuleData> data) : data_(std::move(data)) {}
  const std::shared_ptr<runtime::ModuleData>& data() const {
    if (!data_) runtime::moved_from();
    return data_;
  }

 private:
  std::shared_ptr<runtime::ModuleData> data_;
};

template <class Signature>
class TypedFunction;

class Function {
 public:
  const FuncType& type() const;
  // `args` and `results` hold exactly slots_of(type().params) and slots_of(type().results) slots (checked).
  // No allocation, lock or look-up unless the guest traps or a function reference is passed. A function
  // reference that is passed links the two stores; one that does not refer to a living function traps.
  CallResult call(std::span<const Slot> args, std::span<Slot> results) const {
    if (args.size() != param_slots_ || results.size() != result_slots_) {
      return runtime::call_slowly(*this, args, results);
    }
    // Nothing of this object is read after the call: a host function may have dropped it.
    const auto [status, value] = enter_(ref_, args.data(), results.data());
    if (results.size() == 1) results[0] = value;
    if (__builtin_expect(status != 0, 0)) return runtime::finish_call(status);
    return {};
  }
  // typed<int32_t(int64_t, double)>(): called as a C++ function, see <wago/typed.h>. Errors (Usage): it has
  // another type; the sentence shows both.
  template <class Signature>
  Result<TypedFunction<Signature>> typed() const;

  // "handle" form of a reference, as found in tables and funcref slots.
  Slot reference() const;
  // The function behind a reference; nothing for null. Errors (Usage): it refers to no living function.
  static Result<std::optional<Function>> from_reference(Slot reference);
  // Whether both are the same function, however they were come by.
  bool same(const Function& other) const { return ref() == other.ref(); }

  // A host function that belongs to no instance yet. `body` gets argument slots, writes result slots, and
  // returns nothing or a trap to raise (TrapCode::Host with a message, usually).
  using HostBody = std::function<std::optional<Trap>(std::span<const Slot> args, std::span<Slot> results)>;
  static Result<Function> host(const Engine& engine, FuncType type, HostBody body);
  // One whose type is that of a C++ callable; see <wago/typed.h>.
  template <class Callable>
  static Result<Function> host(const Engine& engine, Callable callable);

  Function(std::shared_ptr<runtime::Store> store, const runtime::FuncRef* ref);
  Function(const Function&) = default;
  Function(Function&& other) noexcept { *this = std::move(other); }
  Function& operator=(const Function&) = default;
  Function& operator=(Function&& other) noexcept {
    store_ = std::move(other.store_);
    ref_ = std::exchange(other.ref_, nullptr);
    enter_ = other.enter_;
    param_slots_ = std::exchange(other.param_slots_, ~size_t{0});
    result_slots_ = other.result_slots_;
    return *this;
  }
  ~Function() = default;
  const std::shared_ptr<runtime::Store>& store() const { return ref(), store_; }
  const runtime::FuncRef* ref() const {
    if (!ref_) runtime::moved_from();
    return ref_;
  }

 private:
  std::shared_ptr<runtime::Store> store_;
  const runtime::FuncRef* ref_ = nullptr;
  // The signature's entry adapter; see runtime/abi.h.
  runtime::EntryResult (*enter_)(const runtime::FuncRef* callee, const Slot* args, Slot* results) = nullptr;
  size_t param_slots_ = ~size_t{0};  // matches nothing: there is more to a call than entering
  size_t result_slots_ = 0;
};

// Bounds-checked access to a memory. It counts nothing: good while the Memory it is part of exists or, from a
// Caller, until the host function returns.
class MemoryAccess {
 public:
  // Valid until the guest or grow() enlarges it; the base never moves.
  std::span<uint8_t> bytes() const;
  // The part [address, address + count); nothing if not all of it is inside.
  std::optional<std::span<uint8_t>> slice(uint64_t address, uint64_t count) const {
    const std::span<uint8_t> all = bytes();
    if (count > all.size() || address > all.size() - count) return std::nullopt;
    return all.subspan(address, count);
  }
  // The same as text; valid while the guest does not write there.
  std::optional<std::string_view> text(uint64_t address, uint64_t count) const {
    auto part = slice(address, count);
    if (!part) return std::nullopt;
    return std::string_view(reinterpret_cast<const char*>(part->data()), part->size());
  }
  // All or nothing: false, and nothing copied, if not all of it is inside.
  bool read(uint64_t address, std::span<uint8_t> into) const {
    return copy(address, into.data(), into.size());
  }
  bool write(uint64_t address, std::span<const uint8_t> from) const {
    auto part = slice(address, from.size());
    if (part && !from.empty()) std::memcpy(part->data(), from.data(), from.size());
    return part.has_value();
  }
  // A value of any plain type, of any alignment.
  template <class T>
  std::optional<T> load(uint64_t address) const {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    if (!copy(address, &value, sizeof(T))) return std::nullopt;
    return value;
  }
  template <class T>
  bool store(uint64_t address, const T& value) const {
    static_assert(std::is_trivially_copyable_v<T>);
    return write(address, {reinterpret_cast<const uint8_t*>(&value), sizeof(T)});
  }

  explicit MemoryAccess(runtime::MemoryData* data) : data_(data) {}

 private:
  bool copy(uint64_t address, void* into, size_t count) const {
    auto part = slice(address, count);
    if (part && count != 0) std::memcpy(into, part->data(), count);
    return part.has_value();
  }
  runtime::MemoryData* data_;
};

class Memory : private runtime::Handle<runtime::MemoryData> {
 public:
  static Result<Memory> create(const Engine& engine, MemoryType type);
  MemoryType type() const;  // limits.min is the size at creation
  uint32_t pages() const;
  std::optional<uint32_t> grow(uint32_t pages) const;  // the old size, or nothing: refused

  MemoryAccess access() const { return MemoryAccess(data()); }
  std::span<uint8_t> bytes() const { return access().bytes(); }  // see MemoryAccess

  using Handle::Handle, Handle::store, Handle::data;
};

class Table : private runtime::Handle<runtime::TableData> {
 public:
  static Result<Table> create(const Engine& engine, TableType type, Slot initial = 0);
  TableType type() const;
  uint32_t size() const;
  std::optional<Slot> get(uint32_t index) const;  // nothing: out of bounds
  // Errors (Usage): out of bounds, or no living function; the stores of function and table are linked.
  Result<void> set(uint32_t index, Slot reference) const;
  std::optional<uint32_t> grow(uint32_t count, Slot initial) const;

  // Of a table of functions, as counted handles; a null entry is nothing. Errors (Usage): out of bounds, or
  // another kind of table.
  Result<std::optional<Function>> function(uint32_t index) const;
  Result<void> set(uint32_t index, const Function& function) const;

  using Handle::Handle, Handle::store, Handle::data;
};

class Global : private runtime::Handle<runtime::GlobalData> {
 public:
  static Result<Global> create(const Engine& engine, GlobalType type, std::span<const Slot> value);
  GlobalType type() const;
  void get(std::span<Slot> value) const;  // slots_of(type().value) slots (checked)
  // Errors (Usage): it is immutable, or the reference is to no living function.
  Result<void> set(std::span<const Slot> value) const;
  // By C++ type, as in <wago/typed.h>. Errors (Usage): it has another type.
  template <class T>
  Result<T> get() const;
  template <class T>
  Result<void> set(const T& value) const;

  using Handle::Handle, Handle::store, Handle::data;
};

// Any object that can be imported or exported.
using Extern = std::variant<Function, Memory, Table, Global>;
// Its type as imports are matched with it: memories and tables by their size now.
ExternType type_of(const Extern& object);

class InstantiateResult;

class Instance : private runtime::Handle<runtime::InstanceData> {
 public:
  // With the imports in the module's order, whatever their names. Linker::instantiate finds them by name.
  static InstantiateResult create(const Module& module, std::span<const Extern> imports);

  // Errors (Usage) list the candidates when there is no such export, or say what kind it is.
  Result<Function> function(std::string_view name) const;
  Result<Memory> memory(std::string_view name) const;
  Result<Table> table(std::string_view name) const;
  Result<Global> global(std::string_view name) const;
  // All, in the order of Module::exports().
  std::vector<Extern> exports() const;

  // The `public` invocation mode: looks `name` up, then calls. Slot counts as for Function::call.
  Result<CallResult> call(std::string_view name, std::span<const Slot> args, std::span<Slot> results) const;

  using Handle::Handle, Handle::store, Handle::data;
};

// Who called a host function. Good until that function returns.
class Caller {
 public:
  // The calling instance; nothing if the host called the function itself.
  std::optional<Instance> instance() const;
  // Its first memory, exported or not; nothing if it has none.
  std::optional<MemoryAccess> memory() const;

  Caller(const void* frame, const void* activation) : frame_(frame), activation_(activation) {}

 private:
  const void* frame_;  // of the runtime's function between adapter and body
  const void* activation_;
};

// Stops guests from other threads: give it to a Linker before instantiating. Copies are the same handle; it
// may outlive the instances, and be used by any number of threads at once (but not in signal handlers).
//
// It governs calls from C++ of functions that its instances define, start functions included, and with them
// all they call, in whatever instance. A call is stopped at its next entry of a function or host function, or
// return from one; with EngineSettings::interruptible also at the next iteration of any loop. What runs in
// the host is not stopped, and neither is one long memory.fill or the like. The outcome is an interruption,
// which is no trap, with the guest stack at that moment. Host functions see it as the outcome of their own
// calls; their guest is stopped when they return. Instances stay usable, as after a trap.
class InterruptHandle {
 public:
  InterruptHandle();
  // Stops every call that runs now. If there is none, or one ends before it sees the cancel, the next call is
  // stopped before it does anything: a cancel is never lost. To cancel twice before that is to cancel once.
  void cancel() const;
  // Takes back a cancel that waits for a call.
  void withdraw() const;
  // Every call that begins from now on may take so long; zero: as long as it likes; less: none at all, the
  // call is stopped before it does anything. A deadline ends with its call. Errors (Unmeasurable): the system
  // gives no thread to keep deadlines with, and what was set before holds. The child of a fork, which needs a
  // thread of its own, may find so at a call; the outcome is then a trap (TrapCode::Host) with the sentence.
  Result<void> set_deadline(std::chrono::nanoseconds per_call) const;

  const std::shared_ptr<runtime::InterruptControl>& control() const {
    if (!control_) runtime::moved_from();
    return control_;
  }

 private:
  std::shared_ptr<runtime::InterruptControl> control_;
};

// Why an instantiation did not give an instance.
struct InstantiateFailure {
  enum class Kind : uint8_t { Link, Trap } kind = Kind::Link;
  Error error;  // Link: which import, what was wanted, what was found. Trap: the trap's sentence.
  // Trap: an active segment out of bounds, or the start function's trap or interruption
  std::optional<Trap> trap;
};
class [[nodiscard]] InstantiateResult {
 public:
  InstantiateResult(Instance instance) : instance_(std::move(instance)) {}
  InstantiateResult(InstantiateFailure failure) : failure_(std::move(failure)) {}
  bool ok() const { return instance_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Instance& value() const {
    WAGO_CHECK_MSG(instance_, failure_ ? failure_->error.message.c_str() : nullptr);
    return *instance_;
  }
  const InstantiateFailure& failure() const {
    WAGO_CHECK_MSG(failure_, "the instantiation succeeded");
    return *failure_;
  }

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
  template <class Callable>
  Result<void> define_host(std::string module, std::string name, Callable callable);
  // Every export of the instance.
  void define_instance(std::string module, const Instance& instance);

  // Instances made from now on can be stopped by it.
  void set_interrupt_handle(const InterruptHandle& handle);

  // Whether this import would be found and accepted, for `wago module imports`.
  bool provides(const ImportInfo& import) const;

  InstantiateResult instantiate(const Module& module) const;

 private:
  const runtime::LinkerData& data() const {
    if (!data_) runtime::moved_from();
    return *data_;
  }
  runtime::LinkerData& unshared();
  const std::shared_ptr<runtime::EngineData>& engine() const;

  std::shared_ptr<runtime::LinkerData> data_;
};

}  // namespace wago

#include <wago/typed.h>
