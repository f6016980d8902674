// The measured side of an experiment: a process that does turns of one workload as it is asked to
// (docs/worker-protocol.md), `wago-profile profile worker`.
//
// Every iteration's results are checked as in a recording. What is timed is a turn, a number of iterations:
// clocks and context switches are read around it and nothing is written, allocated or said between the first
// turn and the last but the token.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"
#include "harness/measure.h"
#include "harness/slowdown.h"
#include "harness/subject.h"
#include "harness/worker_protocol.h"

namespace wago::harness {

// Who this program is.
WorkerIdentity own_identity();

// Where tokens come from and go to.
struct TokenPipes {
  int in = kTokenIn;
  int out = kTokenOut;
};

class Worker {
 public:
  Worker(WorkerIdentity identity, base::Clock& clock, TokenPipes pipes = {})
      : identity_(std::move(identity)), clock_(clock), pipes_(pipes) {}

  // The answer to one line. Never fails: what is wrong is what it answers.
  base::Json answer(std::string_view line);
  // It was asked to close.
  bool closed() const { return closed_; }
  // Where it was asked to have its stack; 0: nowhere.
  uint64_t stack_address() const { return stack_address_; }

 private:
  base::Json answer(const base::Json& request);
  base::Json hello(const base::Json& request);
  base::Json place(const base::Json& request);
  base::Json load(const base::Json& request);
  base::Json warm_up(const base::Json& request);
  base::Json estimate(const base::Json& request);
  base::Json alternate(const base::Json& request);
  base::Json run_freely(const base::Json& request);
  base::Json close(const base::Json& request);

  // Nothing: done, and `turn` says what it took.
  RunStatus take_turn(uint64_t iterations, bool verify, capture::Turn& turn);
  // A turn of a pair went wrong: the partner, which waits for the token, must hear of it.
  base::Json give_up(const RunFailure& failure);
  bool pass_token() const;
  bool await_token() const;

  const WorkerIdentity identity_;
  base::Clock& clock_;
  const TokenPipes pipes_;
  uint64_t protocol_ = 0;  // that is spoken; 0: hello has not come
  uint64_t stack_address_ = 0;
  bool closed_ = false;
  std::unique_ptr<Subject> subject_;
  std::unique_ptr<Work> work_;
  std::optional<Slowdown> slowdown_;
};

// Serves requests from `in` until it is closed or `in` ends; returns the exit code. SIGPIPE is ignored from
// then on. Once the worker was told where to have its stack, requests are answered on a thread that has it
// there.
int serve(Worker& worker, int in, int out);

}  // namespace wago::harness
