#include "runtime/stack.h"

#include <pthread.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>

#include "base/check.h"
#include "runtime/signals.h"
#include "runtime/store.h"
#include "runtime/trap.h"

namespace wago::runtime {

constinit thread_local ThreadState thread_state;

int32_t thread_state_tp_offset() {
  uint64_t thread_pointer;
  asm("mov %%fs:0, %0" : "=r"(thread_pointer));  // the thread control block starts with its own address
  return static_cast<int32_t>(reinterpret_cast<uint64_t>(&thread_state) - thread_pointer);
}

namespace {

struct StackBounds {
  uint64_t low = 0;
  uint64_t high = 0;
  bool contains(uint64_t sp) const { return low <= sp && sp < high; }
};

StackBounds own_stack_bounds() {
  StackBounds bounds;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return bounds;
  void* address;
  size_t bytes;
  if (pthread_attr_getstack(&attributes, &address, &bytes) == 0) {
    bounds.low = reinterpret_cast<uint64_t>(address);
    bounds.high = bounds.low + bytes;
  }
  pthread_attr_destroy(&attributes);
  return bounds;
}

// The mapping around `sp`: the stack of a host that switches stacks itself.
StackBounds mapping_bounds(uint64_t sp) {
  StackBounds bounds;
  FILE* maps = std::fopen("/proc/self/maps", "re");
  if (!maps) return bounds;
  char* line = nullptr;
  size_t capacity = 0;
  while (getline(&line, &capacity, maps) > 0) {
    StackBounds mapping;
    if (std::sscanf(line, "%" SCNx64 "-%" SCNx64, &mapping.low, &mapping.high) == 2 && mapping.contains(sp)) {
      bounds = mapping;
      break;
    }
  }
  std::free(line);
  std::fclose(maps);
  return bounds;
}

// Room for the kernel's frame, our handler, and a chained handler that prints a report.
constexpr size_t kHandlerBytes = size_t{64} << 10;

class AlternateStack {
 public:
  AlternateStack() {
    const size_t frame_bytes = std::max<size_t>(getauxval(AT_MINSIGSTKSZ), MINSIGSTKSZ);
    stack_t present{};
    sigaltstack(nullptr, &present);
    if (!(present.ss_flags & SS_DISABLE) && present.ss_size >= frame_bytes + kHandlerBytes / 8) return;

    const size_t page_bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    bytes_ = (frame_bytes + kHandlerBytes + page_bytes - 1) / page_bytes * page_bytes + page_bytes;
    mapping_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    WAGO_CHECK_MSG(mapping_ != MAP_FAILED, "no memory for an alternate signal stack");
    mprotect(mapping_, page_bytes, PROT_NONE);
    own_.ss_sp = static_cast<uint8_t*>(mapping_) + page_bytes;
    own_.ss_size = bytes_ - page_bytes;
    WAGO_CHECK(sigaltstack(&own_, &previous_) == 0);
  }
  ~AlternateStack() {
    if (!mapping_) return;
    stack_t present{};
    sigaltstack(nullptr, &present);
    if (present.ss_sp == own_.ss_sp) sigaltstack(&previous_, nullptr);
    munmap(mapping_, bytes_);
  }
  AlternateStack(const AlternateStack&) = delete;
  AlternateStack& operator=(const AlternateStack&) = delete;

 private:
  void* mapping_ = nullptr;
  size_t bytes_ = 0;
  stack_t own_{};
  stack_t previous_{};
};

struct ThreadResources {
  AlternateStack alternate_stack;
  TrapRecord trap;
};

// A key rather than a thread_local object: its destructor runs after those of the host's thread_local
// objects, which may still call guests.
pthread_key_t resources_key() {
  static const pthread_key_t key = [] {
    pthread_key_t created;
    WAGO_CHECK(pthread_key_create(&created, [](void* resources) {
                 thread_state = ThreadState{};
                 delete static_cast<ThreadResources*>(resources);
               }) == 0);
    return created;
  }();
  return key;
}

void find_stack(ThreadState& thread, uint64_t sp) {
  StackBounds bounds = own_stack_bounds();
  if (!bounds.contains(sp)) bounds = mapping_bounds(sp);
  WAGO_CHECK_MSG(bounds.contains(sp), "the bounds of this thread's stack are unknown");
  thread.stack_low = bounds.low;
  thread.stack_bytes = bounds.high - bounds.low;
}

}  // namespace

TrapRecord& trap_record(ThreadState& thread) {
  if (!thread.trap) {
    catch_faults();
    auto resources = std::make_unique<ThreadResources>();
    thread.trap = &resources->trap;
    WAGO_CHECK(pthread_setspecific(resources_key(), resources.release()) == 0);
  }
  return *thread.trap;
}

void prepare_entry(Activation* activation) {
  ThreadState& thread = thread_state;
  if (thread.exited) {
    activation->outer = thread.nested;
    thread.nested = activation;
    return;
  }
  const uint64_t sp = reinterpret_cast<uint64_t>(activation);
  if (sp - thread.stack_low >= thread.stack_bytes) {
    trap_record(thread);
    find_stack(thread, sp);
  }
  const uint64_t guest_bytes = std::min(activation->callee->adapters->guest_stack_bytes, sp);
  set_stack_limit(thread, std::max(sp - guest_bytes, thread.stack_low + kStackReserve));
  thread.entry = activation;
}

EntryResult enter_with_own_limit(const FuncRef* callee, const uint64_t* args, uint64_t* results) {
  ThreadState& thread = thread_state;
  const bool outermost = !thread.exited;
  if (outermost) thread.entry = nullptr;
  // The callee may be gone afterwards.
  const EntryResult result = callee->adapters->code(callee, args, results);
  if (outermost) thread.entry = nullptr;
  return result;
}

}  // namespace wago::runtime
