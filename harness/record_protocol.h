// What a recorder and its child say to each other, in order:
//
//   recorder  Request     what to record
//   child     Ready       the module compiles and fits; nothing of it has run yet      (or Failure)
//   recorder  Go          the capture directory exists
//   child     Done        everything was measured and written into the directory       (or Failure)
//
// Both are the same program, so there is one version of it and no compatibility to keep.
#pragma once

#include <wago/wago.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "base/result.h"
#include "capture/manifest.h"
#include "capture/workload.h"
#include "harness/subject.h"

namespace wago::harness {

// First argument of a child; then the numbers of its socket, of its progress page, and of the socket to perf
// where that is the backend.
inline constexpr const char* kChildArgument = "__record-child";
inline constexpr int kChildSocket = 3;
inline constexpr int kChildProgress = 4;
inline constexpr int kChildPerf = 5;

struct Request {
  capture::Workload workload;
  RecordSettings settings;
  uint64_t rate_hz = 0;  // 0: the backend does not sample
};
struct Ready {
  uint64_t module_bytes = 0;
  uint64_t code_section_bytes = 0;
  uint64_t guest_stack_bytes = 0;
  std::string module_sha256;
};
struct Go {
  std::string directory;
  base::DirectoryId id;  // what `directory` must still lead to
};
struct Done {
  std::vector<capture::PhaseRecord> phases;
  uint64_t iterations = 0;
  uint64_t invocations = 0;
  uint64_t wall_ns = 0;
  uint64_t cpu_ns = 0;
  uint64_t start_monotonic_ns = 0;  // of the measured phase
  std::string code_sha256;
  std::vector<std::string> files;
  // Of the collector.
  std::string event = "none";
  std::string collector_version;  // empty: the program's own
  std::vector<std::string> diagnostics;
  capture::Losses losses;
};
struct Failure {
  base::Error error;   // printed
  std::string stored;  // kept in the capture
  std::optional<wago::Trap> trap = {};
};

base::Json to_json(const Request& message);
base::Json to_json(const Ready& message);
base::Json to_json(const Go& message);
base::Json to_json(const Done& message);
base::Json to_json(const Failure& message);

// The kind a message says it is: "request", "ready", ...; empty when it says nothing.
std::string message_kind(const base::Json& message);

base::Result<Request> read_request(const base::Json& message);
base::Result<Ready> read_ready(const base::Json& message);
base::Result<Go> read_go(const base::Json& message);
base::Result<Done> read_done(const base::Json& message);
base::Result<Failure> read_failure(const base::Json& message);

}  // namespace wago::harness
