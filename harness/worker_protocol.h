// What an experiment and a worker say to each other: JSON objects, one a line, a request and its answer at a
// time. docs/worker-protocol.md is the specification; here it is as structs.
//
//   experiment  hello      which versions it speaks      worker  hello      which one it will be, and who it
//   is
//               place      where to have its stack, ...          placed       (since version 2)
//               load       a workload                            loaded     what it became; nothing has run
//               warm-up                                          warmed
//               estimate                                         estimated
//               alternate  turn by turn with a partner           samples
//               free       at the kernel's discretion            samples
//               close                                            closed, and the process ends
//
// Any request may be answered by `error`. A released worker is used for years: its version does not change,
// and hello, the same in all versions, is what finds a version that both speak.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/build_info.h"
#include "base/json.h"
#include "base/result.h"
#include "capture/experiment.h"

namespace wago::harness {

inline constexpr uint64_t kOldestWorkerProtocol = 1;
inline constexpr uint64_t kNewestWorkerProtocol = 2;
// The first that knows `place`.
inline constexpr uint64_t kPlacingWorkerProtocol = 2;
// Of one line, either way.
inline constexpr uint64_t kMaxWorkerLine = uint64_t{64} << 20;
inline constexpr uint64_t kMaxWorkerTurns = 1'000'000;
// Tokens arrive at one and leave by the other.
inline constexpr int kTokenIn = 3;
inline constexpr int kTokenOut = 4;

// Who a worker is.
struct WorkerIdentity {
  std::string program_version;
  std::string revision;
  base::Dirty dirty = base::Dirty::Unknown;
  std::string runner_id;
  std::string target;
  bool sanitized = false;
  std::vector<std::string> backends;  // that `profile record` of the same program has
};

struct HelloRequest {
  uint64_t oldest = kOldestWorkerProtocol;
  uint64_t newest = kNewestWorkerProtocol;
};
struct HelloAnswer {
  uint64_t protocol = 0;  // that is spoken from here on
  WorkerIdentity worker;
};

struct PlaceRequest {
  uint64_t stack = 0;   // where it begins; it grows downwards
  uint64_t code = 0;    // what is compiled, one after the other
  uint64_t memory = 0;  // linear memories, one after the other
};

struct LoadRequest {
  std::string catalog;        // text of a catalog with one workload
  std::string module;         // file; the one that the catalog names is not opened
  uint32_t code_offset = 0;   // 0, 16, 32 or 48
  uint64_t slowdown_ppm = 0;  // each turn is made longer by so much of what it takes; for self-tests only
};
struct LoadAnswer {
  std::string module_sha256;
  std::string code_sha256;
  std::string contract_sha256;
  uint64_t calls_per_iteration = 1;
  uint64_t max_iterations_per_turn = UINT64_MAX;  // whose products can be alive together
};

struct WarmUpRequest {
  uint64_t iterations = 0;
};

struct EstimateRequest {
  uint64_t duration_ns = 0;  // at least; one iteration is always run
};
struct EstimateAnswer {
  uint64_t iteration_ns = 0;  // thread-CPU time, mean
};

struct AlternateRequest {
  uint64_t turns = 0;
  uint64_t iterations = 1;  // of each turn
  bool starts = false;
};
struct FreeRequest {
  uint64_t turns = 0;
  uint64_t iterations = 1;
};
struct SamplesAnswer {
  std::vector<capture::Turn> turns;
};

// Instead of any answer. `partner_lost`: nothing is wrong with this worker, but the token did not come back.
struct WorkerError {
  base::Error error;
  std::string stored;  // the same without the guest's results, for what is kept
  bool partner_lost = false;
};

base::Json to_json(const HelloRequest& message);
base::Json to_json(const HelloAnswer& message);
base::Json to_json(const PlaceRequest& message);
base::Json to_json(const LoadRequest& message);
base::Json to_json(const LoadAnswer& message);
base::Json to_json(const WarmUpRequest& message);
base::Json to_json(const EstimateRequest& message);
base::Json to_json(const EstimateAnswer& message);
base::Json to_json(const AlternateRequest& message);
base::Json to_json(const FreeRequest& message);
base::Json to_json(const SamplesAnswer& message);
base::Json to_json(const WorkerError& message);
// Messages that say nothing but their name: "placed", "warmed", "close", "closed".
base::Json plain_message(std::string_view name);

// The name of a message; empty: it has none.
std::string message_name(const base::Json& message);

// Requests with members that the version does not know are refused; answers as well. Only hello is read
// leniently: later versions may add to it.
base::Result<HelloRequest> read_hello_request(const base::Json& message);
base::Result<HelloAnswer> read_hello_answer(const base::Json& message);
base::Result<PlaceRequest> read_place_request(const base::Json& message);
base::Result<LoadRequest> read_load_request(const base::Json& message);
base::Result<LoadAnswer> read_load_answer(const base::Json& message);
base::Result<WarmUpRequest> read_warm_up_request(const base::Json& message);
base::Result<EstimateRequest> read_estimate_request(const base::Json& message);
base::Result<EstimateAnswer> read_estimate_answer(const base::Json& message);
base::Result<AlternateRequest> read_alternate_request(const base::Json& message);
base::Result<FreeRequest> read_free_request(const base::Json& message);
base::Result<SamplesAnswer> read_samples_answer(const base::Json& message);
base::Result<WorkerError> read_worker_error(const base::Json& message);
// Nothing but the name.
base::Result<void> read_plain_message(const base::Json& message);

}  // namespace wago::harness
