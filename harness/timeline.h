// The spans of a recording: its module's life, and every crossing between guest, runtime and host inside the
// timed windows.
//
// There is one timeline a thread and a process at most, made before the engine that it watches. Crossings
// come to it by runtime::BoundaryHooks; steps in the module's life by StepSpan, put around them where they
// happen. Spans go into memory that was set aside and touched before; recording one takes two readings of the
// clock and a few stores, no lock, no allocation. What there is no room for is counted as lost, and so is
// what guests do on other threads: whatever is derived from a timeline that lost spans would be wrong.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/vocabulary.h"
#include "capture/spans.h"

namespace wago::runtime {
struct BoundaryHooks;
class InstanceData;
class Module;
}  // namespace wago::runtime

namespace wago::harness {

class Timeline {
 public:
  // Becomes current(). `max_spans` is at most capture::Limits::spans.
  explicit Timeline(uint64_t max_spans);
  ~Timeline();
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  // The calling thread's, or null.
  static Timeline* current() { return current_; }
  // For engines that are opened while there is one.
  static const runtime::BoundaryHooks& hooks();

  enum class Scope : uint8_t { Nothing, Steps, Everything };
  void record(Scope scope) { scope_.store(scope, std::memory_order_relaxed); }
  // Everything, from here to end_window(); nothing after it.
  void begin_window();
  void end_window();

  capture::Spans spans() const;

  // Out of what follows the hooks are made.
  // The number by which names of the instance's functions are found: to be added to their index.
  uint64_t functions_of(const runtime::InstanceData& instance);
  uint32_t host_function(const std::string& name);
  bool records(Scope scope) const { return scope_.load(std::memory_order_relaxed) >= scope; }
  // Whether what begins now would be part of a boundary's span.
  bool inside_boundary() const {
    return open_ != capture::kNoParent && spans_[open_].kind != capture::SpanKind::Lifecycle;
  }
  uint32_t open(capture::SpanKind kind, uint32_t name);
  void close(uint32_t span, bool trapped);
  // A crossing on a thread that is not the timeline's.
  static void crossed_elsewhere();
  static Timeline* of_process() { return of_process_.load(std::memory_order_acquire); }

 private:
  // Modules that differ, kept so that an address is not another module's later.
  struct KnownModule {
    std::shared_ptr<const runtime::Module> module;
    uint32_t first_name;  // of its functions
  };
  std::string text_of(uint32_t name) const;
  uint32_t reserve_names(uint32_t count);

  static constinit thread_local Timeline* current_;
  static std::atomic<Timeline*> of_process_;

  const uint64_t max_spans_;
  std::unique_ptr<capture::Span[]> spans_;
  uint64_t count_ = 0;
  uint64_t lost_ = 0;
  std::atomic<uint64_t> lost_elsewhere_{0};
  uint32_t open_ = capture::kNoParent;  // the innermost span that has not ended
  std::atomic<Scope> scope_{Scope::Steps};
  uint64_t first_window_ns_ = 0;
  uint64_t last_window_end_ns_ = 0;

  mutable std::mutex names_mutex_;  // load time only
  uint32_t next_name_;
  std::vector<KnownModule> modules_;
  std::unordered_map<uint32_t, std::string> host_functions_;
};

// A step in the module's life while it exists, if the thread has a timeline that wants it.
class StepSpan {
 public:
  explicit StepSpan(base::Phase step);
  ~StepSpan() {
    if (timeline_) timeline_->close(span_, false);
  }
  StepSpan(const StepSpan&) = delete;
  StepSpan& operator=(const StepSpan&) = delete;

 private:
  Timeline* timeline_ = nullptr;
  uint32_t span_ = capture::kNoParent;
};

}  // namespace wago::harness
