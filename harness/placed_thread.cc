#include "harness/placed_thread.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/check.h"

namespace wago::harness {

namespace {

constexpr uint64_t kStackBytes = uint64_t{8} << 20;

void* run(void* work) {
  (*static_cast<const std::function<void()>*>(work))();
  return nullptr;
}

}  // namespace

bool run_on_stack_at(uint64_t top, const std::function<void()>& work) {
  WAGO_CHECK(top % 16 == 0);
  const uint64_t page_bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t in_last_page = top % page_bytes;
  const uint64_t last_page = top - in_last_page;
  // The lowest page is never accessible.
  const uint64_t below_bytes = page_bytes + kStackBytes;
  const uint64_t bytes = below_bytes + page_bytes;
  void* wanted = reinterpret_cast<void*>(last_page > below_bytes ? last_page - below_bytes : 0);
  void* mapping = mmap(wanted, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (mapping == MAP_FAILED) return false;
  mprotect(mapping, page_bytes, PROT_NONE);
  pthread_attr_t attributes;
  WAGO_CHECK(pthread_attr_init(&attributes) == 0);
  WAGO_CHECK(pthread_attr_setstack(&attributes, static_cast<uint8_t*>(mapping) + page_bytes,
                                   kStackBytes + in_last_page) == 0);
  pthread_t thread;
  const bool started =
      pthread_create(&thread, &attributes, run, const_cast<std::function<void()>*>(&work)) == 0;
  pthread_attr_destroy(&attributes);
  if (started) pthread_join(thread, nullptr);
  munmap(mapping, bytes);
  return started;
}

}  // namespace wago::harness
