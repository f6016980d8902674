// What generated code and the runtime agree on: the layout of the data that code touches, the guest calling
// convention, and the adapters between it and C++. Offsets here are contracts; layout changes bump
// kAbiVersion.
//
// Guest calling convention
//   r15        the callee's InstanceContext (or HostFunction) on entry; preserved by every callee
//   rbp, rsp   frame pointer chain in every function; preserved
//   all other  caller-saved
//   r11, xmm15 never hold a value across instructions: they belong to move resolution and frame code
//   arguments  integers and references rdi rsi rdx rcx r8 r9, floats (and v128) xmm0..xmm7, each taking the
//   next of
//              its class; the others in 8-byte stack slots (v128: two), in order: [rbp + 16 + 8*i] seen by
//              the callee
//   results    integers rax rdx, floats xmm0 xmm1; the others in stack slots after the last stack argument,
//   at
//              [rbp + 16 + 8*(stack argument slots + j)]. The caller owns that area.
//   i32 values are zero-extended to 64 bits in registers and in slots, always.
//   Calling another instance: load r15 from the reference, call, reload own r15 (saved at [rbp - 8] in the
//   prologue of every function that makes such calls). These calls are indirect, and those of functions of
//   the own instance are direct ones of five bytes: a walk of the stack tells by it whose a frame is.
//
// Prologue: push rbp; mov rbp, rsp; [cmp rsp, fs:[stack limit]; jb StackExhausted]; sub rsp, frame.
// At every call rsp is 16-byte aligned.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/vocabulary.h"
#include "runtime/module.h"
#include "runtime/types.h"

namespace wago::runtime {

constexpr uint32_t kAbiVersion = 3;

enum class Helper : uint8_t {
#define WAGO_HELPER(id, name, trap) id,
#include "runtime/helpers.def"
  kCount,
};

class InstanceData;
struct InstanceContext;

// A function reference: what a funcref value points to; null is 0. Addresses are stable for as long as the
// store lives.
struct FuncRef {
  const void* code = nullptr;  // guest calling convention
  void* context = nullptr;     // InstanceContext*, or HostFunction*: loaded into r15
  uint32_t type_id = 0;        // process-wide canonical signature id, see type_registry.h
  uint32_t function = ~0u;     // index in its module, kHostFunctionIndex for host functions
  const FuncType* type = nullptr;
  const struct Adapters* adapters = nullptr;  // entry adapter for calls from C++
};
constexpr uint32_t kHostFunctionIndex = ~0u;
constexpr int32_t kFuncRefCode = 0;
constexpr int32_t kFuncRefContext = 8;
constexpr int32_t kFuncRefTypeId = 16;
static_assert(offsetof(FuncRef, code) == kFuncRefCode && offsetof(FuncRef, context) == kFuncRefContext &&
              offsetof(FuncRef, type_id) == kFuncRefTypeId);

// What generated code sees of a memory and of a table. Owned by the store; `base` never changes.
struct MemoryView {
  uint8_t* base = nullptr;
  uint64_t bytes = 0;  // accessible now
};
constexpr int32_t kMemoryViewBytes = 8;
struct TableView {
  uint64_t* entries = nullptr;  // references; may move when the table grows
  uint64_t size = 0;            // entries now
};
constexpr int32_t kTableViewEntries = 0;
constexpr int32_t kTableViewSize = 8;
static_assert(offsetof(MemoryView, bytes) == kMemoryViewBytes && offsetof(TableView, size) == kTableViewSize);

using HelperFn = uint64_t (*)();
struct HelperTable {
  HelperFn entry[static_cast<size_t>(Helper::kCount)];
};

// An imported function as its caller sees it: a copy of the reference's first two words.
struct ImportedFunction {
  const void* code = nullptr;
  void* context = nullptr;
};
// A global's cell: 16 bytes, value in the low 8 (v128: both). For an imported global the context holds a
// pointer to the exporting cell instead.
struct GlobalCell {
  uint64_t bits[2] = {0, 0};
};

// Fixed head of an instance's context; the module-dependent part follows, laid out by ContextLayout.
struct InstanceContext {
  uint8_t* memory_base = nullptr;  // memory 0, constant while the instance lives
  MemoryView* memory = nullptr;    // memory 0
  const HelperTable* helpers = nullptr;
  FuncRef* functions = nullptr;      // numbered by Module::reference_indices
  InstanceData* instance = nullptr;  // for helpers
  uint64_t observer = 0;             // whatever BoundaryHooks want to know the instance by
  uint64_t reserved[2] = {0, 0};     // keeps the variable part 64-byte aligned
};
constexpr int32_t kContextMemoryBase = 0;
constexpr int32_t kContextMemory = 8;
constexpr int32_t kContextHelpers = 16;
constexpr int32_t kContextFunctions = 24;
static_assert(sizeof(InstanceContext) == 64 && offsetof(InstanceContext, functions) == kContextFunctions &&
              offsetof(InstanceContext, helpers) == kContextHelpers);
static_assert(sizeof(FuncRef) == 40);

// Offsets from the context of the part that depends on the module. A function of the module alone, so that
// the compiler and the runtime compute the same.
struct ContextLayout {
  explicit ContextLayout(const Module& module)
      : imported_globals_(module.imported_globals),
        functions_(sizeof(InstanceContext)),
        globals_(functions_ + 16 * module.imported_functions),
        tables_(globals_ + 16 * static_cast<uint32_t>(module.globals.size())),
        types_(tables_ + 8 * static_cast<uint32_t>(module.tables.size())),
        size_((types_ + 4 * static_cast<uint32_t>(module.types.size()) + 63) & ~63u) {}

  int32_t imported_function(uint32_t i) const {
    return static_cast<int32_t>(functions_ + 16 * i);
  }  // ImportedFunction
  int32_t global(uint32_t i) const {
    return static_cast<int32_t>(globals_ + 16 * i);
  }  // GlobalCell or GlobalCell*
  bool global_is_pointer(uint32_t i) const { return i < imported_globals_; }
  int32_t table(uint32_t i) const { return static_cast<int32_t>(tables_ + 8 * i); }  // TableView*
  int32_t type_id(uint32_t type_index) const {
    return static_cast<int32_t>(types_ + 4 * type_index);
  }  // uint32_t
  uint32_t size() const { return size_; }

 private:
  uint32_t imported_globals_, functions_, globals_, tables_, types_, size_;
};

// A host function, as generated code reaches it: r15 points here when its host adapter runs.
struct HostFunction {
  // Arguments in slots[0..], results written over them from slots[0]. 0, or anything else to raise a trap:
  // the callee has then left what to raise in the current activation (see trap.h); the adapter raises
  // TrapCode::Host.
  using Call = uint64_t (*)(HostFunction* self, uint64_t* slots);
  Call call = nullptr;
};
constexpr int32_t kHostFunctionCall = 0;

// Memory: with Bounds::Signals every memory reserves this much from its base, inaccessible beyond its size,
// so that base + zero-extended 32-bit index + any 32-bit offset, 16 bytes wide, either hits the memory or
// faults inside the reservation. Offsets below kMaxFoldedOffset fit a displacement; larger ones are added in
// 64 bits first.
constexpr uint64_t kMemoryReservation = (uint64_t{1} << 33) + kPageBytes;
constexpr uint64_t kMaxFoldedOffset = uint64_t{1} << 31;

// The entry adapter of a signature: calls `callee` with `args` from slots. A single result slot comes back in
// `value`; more are stored into `results`. After a trap neither is specified.
//
// It builds an Activation on the stack, by which a trap returns to the adapter's caller, and calls with rsp
// at most that activation's address. Stores bound the cost of a call, so the outermost call of a guest stores
// nothing that a trap, a nested entry or a dropped store could find out otherwise:
//   entry   saves the callee-saved registers and `callee`; unless rsp is the thread's `entry` it calls
//   Adapters::prepare exit    unless rsp is the thread's `entry` it stores Activation::outer to the thread's
//   `nested`; loads the status
//
// EntryResult, in <wago/wago.h> for the sake of inlined calls, is returned in rax (status: 0, or bits of
// EntryStatus) and rdx (value).
struct EntryResult;
using EnterFn = EntryResult (*)(const FuncRef* callee, const uint64_t* args, uint64_t* results);

enum EntryStatus : uint64_t {
  kEntryTrapped = 1,       // the thread's TrapRecord says how
  kEntryDroppedStore = 2,  // a store died while its code was on the stack: see store.h
};

// By default a guest may use this much stack below its outermost entry, or what the thread has less
// kStackReserve, if that is less. Part of the measurement contract; see EngineLimits::guest_stack_bytes.
constexpr uint64_t kGuestStackBytes = uint64_t{1} << 20;

// The adapters of one signature, mapped. See EngineData::adapters().
struct Adapters {
  EnterFn enter = nullptr;
  void (*prepare)(struct Activation*) = nullptr;
  const void* host = nullptr;  // FuncRef::code of host functions of this signature
  uint32_t param_slots = 0;
  uint32_t result_slots = 0;
  bool passes_functions = false;  // a parameter is a funcref
  uint64_t guest_stack_bytes = kGuestStackBytes;
  EnterFn code = nullptr;             // the adapter's code; `enter` may do more
  EnterFn unguarded = nullptr;        // `enter` but for interruption
  EnterFn unobserved = nullptr;       // and but for BoundaryHooks
  const Adapters* guarded = nullptr;  // the same adapters with enter_guarded() of interrupt.h as `enter`
};
constexpr int32_t kFuncRefAdapters = 32;
constexpr int32_t kAdaptersPrepare = 8;
static_assert(offsetof(FuncRef, adapters) == kFuncRefAdapters &&
              offsetof(Adapters, prepare) == kAdaptersPrepare);

// One activation per entry from C++ into guest code: the entry adapter's frame, from its rsp up, aligned
// to 16.
struct Activation {
  // The host function this activation's guest called last, and the frame pointer of the C++ function that
  // runs it: where a walk of an inner activation's stack goes on. Unset before.
  const void* exit_frame;
  const HostFunction* exit_host;
  Activation* exited;     // while the host function runs: ThreadState::exited as it was before
  const FuncRef* callee;  // what was entered
  Activation*
      outer;  // ThreadState::nested as it was before; set by Adapters::prepare for nested entries only
  uint64_t padding;
  uint64_t* results;                      // set if there are more than one result slots
  uint64_t r15, r14, r13, r12, rbx, rbp;  // the caller's
  uint64_t return_address;
};
constexpr int32_t kActivationCallee = 24;
constexpr int32_t kActivationOuter = 32;
constexpr int32_t kActivationResults = 48;
constexpr int32_t kActivationRbp = 96;  // the adapter's frame pointer points here
static_assert(offsetof(Activation, callee) == kActivationCallee &&
              offsetof(Activation, outer) == kActivationOuter &&
              offsetof(Activation, results) == kActivationResults &&
              offsetof(Activation, rbp) == kActivationRbp && sizeof(Activation) == 112);

// Left below a guest's stack for leaf functions that skip the check, helpers, host functions and signal
// delivery.
constexpr uint64_t kStackReserve = uint64_t{256} << 10;
// A leaf function whose frame is not larger may skip the stack check.
constexpr uint32_t kUncheckedLeafFrame = 128;

// What generated code sees of its thread, through fs: a TlsFixup adds thread_state_tp_offset() to a field
// that holds one of the offsets below.
struct ThreadState {
  // Prologues compare rsp with it, and the loops of interruptible code rbp. Set on the outermost entry;
  // another thread raises it to kInterruptStackLimit to stop the guest, see interrupt.h.
  uint64_t stack_limit = 0;
  // The outermost activation, or, outside guest code, the last one. `stack_limit` was computed for it: an
  // outermost call from the same depth of the same thread has nothing to prepare. Nested entries lie below it
  // and never equal it.
  Activation* entry = nullptr;
  Activation* nested = nullptr;  // the innermost activation, if it is not the outermost
  uint64_t status = 0;           // what adapters return when the guest returns: kEntryDroppedStore or nothing
  // The runtime's own; see stack.h.
  Activation* exited = nullptr;  // the innermost activation whose guest is in a host function
  uint64_t stack_low = 0;        // the stack this thread runs on: [stack_low, stack_low + stack_bytes)
  uint64_t stack_bytes = 0;
  struct TrapRecord* trap = nullptr;
  uint64_t real_stack_limit = 0;               // `stack_limit` but for interruption
  class InterruptScope* interrupts = nullptr;  // the innermost guarded call
  struct Graveyard* graveyard = nullptr;       // see store.h
};
// The raised limit: no stack pointer is above it, so every check fails.
constexpr uint64_t kInterruptStackLimit = ~uint64_t{0};
constexpr int32_t kThreadStackLimit = 0;
constexpr int32_t kThreadEntry = 8;
constexpr int32_t kThreadNested = 16;
constexpr int32_t kThreadStatus = 24;
static_assert(offsetof(ThreadState, stack_limit) == kThreadStackLimit &&
              offsetof(ThreadState, entry) == kThreadEntry &&
              offsetof(ThreadState, nested) == kThreadNested &&
              offsetof(ThreadState, status) == kThreadStatus);

extern constinit thread_local ThreadState thread_state __attribute__((tls_model("initial-exec")));
// thread_state's offset from the thread pointer. The same in every thread.
int32_t thread_state_tp_offset();

}  // namespace wago::runtime
