// A thread whose stack is where it was asked to be.
#pragma once

#include <cstdint>
#include <functional>

namespace wago::harness {

// Runs `work` on a thread of its own and returns when it is done. Its stack of 8 MiB begins at `top` (a
// multiple of 16) and grows downwards; if something else is there, elsewhere at the same place in its page.
// False: there is no memory for a stack, or no thread, and nothing was run.
bool run_on_stack_at(uint64_t top, const std::function<void()>& work);

}  // namespace wago::harness
