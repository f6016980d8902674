// The innermost loop of a recording: calls of one workload on one instance, every result compared.
//
// What a call needs is laid out beforehand, so that an iteration in prepared mode is the calls themselves, a
// store per result before each (a result that is never written must not pass for an old one), and a
// comparison after each.
#pragma once

#include <wago/wago.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "capture/workload.h"
#include "harness/measure.h"

namespace wago::harness {

// Every way in which the calls of `workload` do not fit the module's exports: no such export, not a function,
// wrong numbers of slots, a slot that its type cannot hold. Usage errors with candidates or signature.
base::Result<void> check_calls(const capture::Workload& workload, const wago::Module& module);

class Invoker {
 public:
  // Precondition: check_calls() was content with the instance's module. `workload` must outlive the invoker.
  static base::Result<Invoker> create(const capture::Workload& workload, wago::Instance instance);

  // `count` complete iterations.
  RunStatus run(uint64_t count) {
    return mode_ == base::Mode::Prepared ? run_prepared(count) : run_public(count);
  }

 private:
  struct Bound {
    wago::Function function;
    const capture::Call* call;
    size_t number;  // of the call in its workload
    std::vector<uint64_t> results;
  };

  Invoker(base::Mode mode, wago::Instance instance) : mode_(mode), instance_(std::move(instance)) {}
  RunStatus run_prepared(uint64_t count);
  RunStatus run_public(uint64_t count);
  static void forget(Bound& bound);
  static bool as_wanted(const Bound& bound, const wago::CallResult& outcome);
  static RunFailure describe(const Bound& bound, const wago::CallResult& outcome, uint64_t iteration);

  base::Mode mode_;
  wago::Instance instance_;
  std::vector<Bound> calls_;
};

// "integer divide by zero at div (func[0], wasm pc 0x4)": one line for a message.
std::string describe(const wago::Trap& trap);

}  // namespace wago::harness
