#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace wago::base {

namespace {
thread_local CheckContext* innermost = nullptr;
}

CheckContext::CheckContext(Describe describe, void* state)
    : describe_(describe), state_(state), outer_(innermost) {
  innermost = this;
}

CheckContext::~CheckContext() {
  innermost = outer_;
}

void check_failed(const char* file, int line, const char* condition, const char* detail) {
  std::fprintf(stderr, "%s:%d: check failed: %s%s%s%s\n", file, line, condition, detail ? " (" : "",
               detail ? detail : "", detail ? ")" : "");
  // A describe function that fails itself must not recurse into the same context.
  while (CheckContext* context = innermost) {
    innermost = context->outer_;
    context->describe_(context->state_);
  }
  std::fflush(stderr);
  std::abort();
}

}  // namespace wago::base
