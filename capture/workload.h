// A checked workload: which function of which module is called with what, and what must come back. The one
// vocabulary that command line, catalogs and CMake end in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/sha256.h"
#include "base/slots.h"
#include "base/vocabulary.h"

namespace wago::capture {

// One call of an iteration. Either `want` (no slots: a void result) or `want_trap`.
struct Call {
  std::string export_name;
  std::vector<uint64_t> args;
  std::vector<uint64_t> want;
  std::optional<base::TrapCode> want_trap;
  // The types that slots were spelled with, one a slot; empty: nothing was said of any. A slot must be for
  // what it says.
  std::vector<base::SlotType> arg_types;
  std::vector<base::SlotType> want_types;
  bool operator==(const Call&) const = default;
};

// Engine settings; part of a capture's measurement contract.
struct EngineOptions {
  base::Bounds bounds = base::Bounds::Signals;
  int level = 1;  // 0: no optimisation passes, 1: all
  bool interruptible = false;
  bool operator==(const EngineOptions&) const = default;
};

inline constexpr uint64_t kDefaultDurationNs = 15'000'000'000;
inline constexpr uint64_t kDefaultWarmup = 5;

struct Workload {
  std::string id;  // letters, digits, '.', '_', '-'; starts with a letter or digit
  std::string description;
  std::string module_path;                    // as it is opened; catalogs have joined it with their directory
  std::optional<base::Digest> module_sha256;  // if given, the module must have it
  std::optional<std::string> init;            // export called once before the first iteration
  std::vector<Call> calls;                    // at least one; an iteration is all of them in order

  // At most one; neither means kDefaultDurationNs. A duration is tested between complete iterations.
  std::optional<uint64_t> iterations;
  std::optional<uint64_t> duration_ns;
  uint64_t warmup = kDefaultWarmup;  // complete checked iterations before the measured phase
  base::Mode mode = base::Mode::Public;
  base::Phase phase = base::Phase::Execute;
  base::Backend backend = base::Backend::None;
  EngineOptions engine;

  // What one iteration processes, for rates in reports; 0 is not stated.
  uint64_t items_per_iteration = 0;
  uint64_t bytes_per_iteration = 0;
  std::vector<std::string> labels;
};

// Errors (Usage): iterations with a duration, zero of either, no calls, a level that does not exist, a bad
// id, an export's name that is not UTF-8, a call that wants results and a trap. Places are left to the
// caller.
base::Result<void> check(const Workload& workload);

// Whether `id` can name a workload or a catalog (see Workload::id); and why another text cannot, to stand
// after it.
bool is_workload_id(std::string_view id);
inline constexpr const char* kNotAnId =
    "is not a name: names have up to 200 letters, digits, '.', '_' and '-', and start with a letter or digit";

// What is computed, apart from the module's own bytes: init, calls, arguments, wanted results. Two captures
// are comparable only if they agree in it. How long is measured is not part of it.
base::Digest contract_sha256(const Workload& workload);

}  // namespace wago::capture
