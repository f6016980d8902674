// What surrounds a pass while it runs: its name in failed checks, with the IR; its time; the IR behind it on
// stderr where somebody asked for it; the verifier where the settings do.
//
//   void PassPipeline::State::run(...) {
//     PassScope scope(log_, "split critical edges", function);
//     split_critical_edges(function);
//   }
//
// WAGO_DUMP_IR=<name> in the environment prints the IR after that pass, WAGO_DUMP_IR=all after every one.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/check.h"
#include "codegen/ir/ir.h"

namespace wago::codegen {

struct PassTime {
  const char* name = nullptr;
  uint64_t runs = 0;
  uint64_t ns = 0;
};

// Per worker. Times are kept only once asked for: two readings of the clock cost as much as a small pass.
class PassLog {
 public:
  PassLog();
  void keep_times() { keeps_times_ = true; }
  std::span<const PassTime> times() const { return times_; }

 private:
  friend class PassScope;
  bool dumps(const char* name) const { return !dump_.empty() && (dump_ == name || dump_ == "all"); }
  void add(const char* name, uint64_t ns);

  std::string dump_;
  bool keeps_times_ = false;
  std::vector<PassTime> times_;  // in the order of first runs
};

class PassScope {
 public:
  // `name` is a literal. `edges_split`: what the verifier demands behind the pass.
  PassScope(PassLog& log, const char* name, const IrFunction& function, bool verifies,
            bool edges_split = false);
  ~PassScope();
  PassScope(const PassScope&) = delete;
  PassScope& operator=(const PassScope&) = delete;

 private:
  static void describe(void* scope);

  PassLog& log_;
  const char* name_;
  const IrFunction& function_;
  bool verifies_;
  bool edges_split_;
  uint64_t begin_ns_ = 0;
  base::CheckContext context_;
};

}  // namespace wago::codegen
