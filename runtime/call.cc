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

void wrong_slot_count() {
  WAGO_UNREACHABLE("the number of slots is not that of the function's type");
}

}  // namespace wago::runtime
