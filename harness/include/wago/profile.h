// WagoProfile's profiling API: records checked workloads whose modules import functions of the caller's own.
//
//   wago::Result<void> host(wago::Linker& linker, const wago::profile::Workload&) {
//     return linker.define_host("env", "now", [] { return int64_t{42}; });
//   }
//   int main(int argc, char** argv) {
//     if (auto code = wago::profile::run_child(argc, argv, host)) return *code;
//     wago::profile::Request request;
//     request.workload = {.id = "tick", .module_path = "tick.wasm"};
//     request.workload.calls = {{.export_name = "tick", .want = {42}}};
//     request.out = "tick.wagoprof";
//     wago::profile::Outcome outcome = wago::profile::record(request);
//   }
//
// A recording is made by a supervised child, which is the calling program again: a guest that never returns
// or crashes its process costs a failed capture and not the caller. The host's functions therefore run in
// that child, and find there what `main` has made before run_child() and nothing else of the caller.
//
// What is recorded is an ordinary capture, for `wago-profile profile top` and all other readers. Host
// functions are no part of a workload's contract: they belong to the program, which the capture knows by its
// build id
// (`runner_id`).
//
// Threads: one recording at a time in a process. Errors are sentences in the Outcome.
#pragma once

#include <wago/wago.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "capture/workload.h"
#include "harness/publish_code.h"
#include "harness/recorder.h"

namespace wago::profile {

using capture::Call;
using capture::Workload;
using Request = harness::RecordRequest;
using Settings = harness::RecordSettings;  // of a Request: timeline, source maps, ...
using Outcome = harness::RecordOutcome;

// Defines what the modules import, once, before anything of a module runs. It is told the workload, so that
// one program may record many. What it refuses is the recording's error.
using HostSetup = harness::HostSetup;

// For the first line of `main`: in a recording's child does the child's work and answers its exit code, with
// which `main` must end; in every other process answers nothing and does nothing.
inline std::optional<int> run_child(int argc, char** argv, const HostSetup& host) {
  return harness::record_child_main(argc, argv, host);
}

// Blocks until the capture at `request.out` is complete or has failed.
inline Outcome record(const Request& request) {
  return harness::record(request);
}

// For collectors that are started outside, while guests run in this process: the names of compiled code in a
// perf map or a jitdump, kept up to date until the answer is closed. Open it before compiling.
using harness::CodeFile;
using harness::publish_code;

}  // namespace wago::profile
