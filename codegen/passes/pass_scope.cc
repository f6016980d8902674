#include "codegen/passes/pass_scope.h"

#include <cstdio>
#include <cstdlib>

#include "base/clock.h"
#include "codegen/ir/print.h"
#include "codegen/ir/verify.h"

namespace wago::codegen {

PassLog::PassLog() {
  if (const char* dump = std::getenv("WAGO_DUMP_IR"); dump != nullptr) dump_ = dump;
}

void PassLog::add(const char* name, uint64_t ns) {
  for (PassTime& time : times_) {
    if (time.name != name) continue;
    ++time.runs;
    time.ns += ns;
    return;
  }
  times_.push_back({name, 1, ns});
}

PassScope::PassScope(PassLog& log, const char* name, const IrFunction& function, bool verifies,
                     bool edges_split)
    : log_(log),
      name_(name),
      function_(function),
      verifies_(verifies),
      edges_split_(edges_split),
      context_(&PassScope::describe, this) {
  if (log_.keeps_times_) begin_ns_ = base::monotonic_ns();
}

PassScope::~PassScope() {
  if (log_.keeps_times_) log_.add(name_, base::monotonic_ns() - begin_ns_);
  if (log_.dumps(name_)) {
    std::fprintf(stderr, "; after %s\n%s", name_, print(function_).c_str());
  }
  if (verifies_) {
    const std::string wrong = verify(function_, {edges_split_});
    WAGO_CHECK_MSG(wrong.empty(), wrong.c_str());
  }
}

void PassScope::describe(void* state) {
  const PassScope& scope = *static_cast<PassScope*>(state);
  std::fprintf(stderr, "in pass \"%s\":\n%s", scope.name_, print(scope.function_).c_str());
}

}  // namespace wago::codegen
