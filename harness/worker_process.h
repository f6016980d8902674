// The experiment's end of a worker: a process of some release's `wago-profile profile worker` and the
// conversation with it. The other end may be anything: what it says is limited and checked, and it has a time
// in which to say it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/json.h"
#include "base/process.h"
#include "base/result.h"
#include "capture/workload.h"
#include "harness/signal_watch.h"
#include "harness/worker_protocol.h"

namespace wago::harness {

// Why a conversation ended. What a side does wrong is a finding about its workload; an interruption is not.
struct SideFailure {
  enum class Kind : uint8_t {
    Said,         // the worker answered with an error
    Broken,       // it died, fell silent or spoke nonsense
    PartnerLost,  // it waited for a partner that is gone
    Silent,       // no answer within the time allowed; it may be the partner's doing
    Interrupted,  // by a signal to this process
  };
  Kind kind = Kind::Broken;
  base::Error error;
  std::string stored = error.message;  // for what is kept
};

struct WorkerStart {
  std::string program;
  int copy = -1;  // of the program, which is run from there (see copy_program); -1: it is run where it is
  bool quiet = false;  // nothing of what it writes to standard error is shown
  uint32_t cpu = 0;
  uint32_t padding_bytes = 0;  // of the environment
  int token_in = -1;           // -1: it has no partner
  int token_out = -1;
  uint64_t answer_timeout_ns = 0;
};

class WorkerProcess {
 public:
  // Started and bound to the CPU; says nothing yet. Errors: it cannot be run (Usage), or not be bound
  // (Unmeasurable).
  static base::Result<WorkerProcess> start(const WorkerStart& start, SignalWatch& signals);

  // Finds a protocol version that both speak, or says why there is none.
  std::optional<SideFailure> hello(HelloAnswer& answer);
  // Each returns nothing and fills in the answer, or why there is none.
  std::optional<SideFailure> place(const PlaceRequest& request);
  std::optional<SideFailure> load(const LoadRequest& request, LoadAnswer& answer);
  std::optional<SideFailure> warm_up(uint64_t iterations);
  std::optional<SideFailure> estimate(uint64_t duration_ns, EstimateAnswer& answer);

  // For what two workers do together: both are asked before the first is listened to, until a moment of the
  // monotonic clock.
  std::optional<SideFailure> ask(const base::Json& request);
  std::optional<SideFailure> samples(SamplesAnswer& answer, uint64_t deadline_ns);

  // Readable when something was said, or never will be again.
  int fd() const { return socket_.get(); }
  void kill() { process_.kill_group(); }

 private:
  WorkerProcess(base::Process process, base::Fd socket, uint64_t timeout_ns, SignalWatch& signals)
      : process_(std::move(process)),
        socket_(std::move(socket)),
        timeout_ns_(timeout_ns),
        signals_(&signals) {}

  // The answer of that name to what was asked last.
  std::optional<SideFailure> await(const char* name, base::Json& answer, uint64_t deadline_ns);
  std::optional<SideFailure> await_line(std::string& line, uint64_t deadline_ns);
  uint64_t deadline(uint64_t extra_ns = 0) const;
  SideFailure ended();

  base::Process process_;
  base::Fd socket_;
  uint64_t timeout_ns_;
  SignalWatch* signals_;
  std::string pending_;
};

}  // namespace wago::harness
