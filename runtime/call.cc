#include "base/check.h"
#include "runtime/abi.h"
#include "runtime/store.h"
#include "runtime/trap.h"

namespace wago::runtime {

CallResult finish_call(uint64_t status) {
  CallResult result;
  if (status & kEntryTrapped) result = CallResult(decode_trap(*thread_state.trap));
  if (status & kEntryDroppedStore) bury_dead_stores();
  return result;
}

void moved_from() {
  WAGO_UNREACHABLE("a handle was used that had been moved from");
}

}  // namespace wago::runtime
