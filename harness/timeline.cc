#include "harness/timeline.h"

#include <array>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "runtime/boundary_hooks.h"
#include "runtime/engine_data.h"
#include "runtime/helpers.h"
#include "runtime/instance.h"
#include "runtime/module.h"

namespace wago::harness {

namespace {

using capture::SpanKind;
using runtime::Helper;
using runtime::HelperTable;
using runtime::InstanceContext;

// Names by number: helpers, steps, then whatever there is.
constexpr uint32_t kHelpers = static_cast<uint32_t>(Helper::kCount);
constexpr uint32_t kFirstStep = kHelpers;
constexpr uint32_t kSteps = 7;
static_assert(static_cast<uint32_t>(base::Phase::All) + 1 == kSteps);

constexpr std::array<std::string_view, kHelpers> kHelperNames = {
#define WAGO_HELPER(id, name, trap) #name,
#include "runtime/helpers.def"
};
constexpr std::array<bool, kHelpers> kHelperTraps = {
#define WAGO_HELPER(id, name, trap) base::TrapCode::trap != base::TrapCode::Host,
#include "runtime/helpers.def"
};

// "memory.grow", as WebAssembly spells it.
std::string helper_name(uint32_t helper) {
  std::string name(kHelperNames[helper]);
  name[name.find('_')] = '.';
  return name;
}

// A crossing while it exists. It counts as trapped unless it is said to have returned.
class CrossingSpan {
 public:
  CrossingSpan(SpanKind kind, uint32_t name) {
    Timeline* timeline = Timeline::current();
    if (!timeline) {
      Timeline::crossed_elsewhere();
    } else if (timeline->records(Timeline::Scope::Everything)) {
      timeline_ = timeline;
      span_ = timeline->open(kind, name);
    }
  }
  ~CrossingSpan() {
    if (timeline_) timeline_->close(span_, trapped_);
  }
  CrossingSpan(const CrossingSpan&) = delete;
  CrossingSpan& operator=(const CrossingSpan&) = delete;
  void returned() { trapped_ = false; }

 private:
  Timeline* timeline_ = nullptr;
  uint32_t span_ = capture::kNoParent;
  bool trapped_ = true;
};

// Whatever a helper takes, at most five words beside the context: registers that it does not look at.
using AnyHelper = uint64_t (*)(InstanceContext*, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);

template <uint32_t helper>
uint64_t observed_helper(InstanceContext* context, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
                         uint64_t e) {
  const auto plain =
      reinterpret_cast<AnyHelper>(reinterpret_cast<void*>(runtime::helper_table().entry[helper]));
  CrossingSpan span(SpanKind::Helper, helper);
  const uint64_t result = plain(context, a, b, c, d, e);
  if (!kHelperTraps[helper] || result == 0) span.returned();
  return result;
}

template <uint32_t... helpers>
constexpr std::array<AnyHelper, kHelpers> observed_helpers(std::integer_sequence<uint32_t, helpers...>) {
  return {observed_helper<helpers>...};
}

const HelperTable& observed_helper_table() {
  static const HelperTable table = [] {
    constexpr auto kObserved = observed_helpers(std::make_integer_sequence<uint32_t, kHelpers>());
    HelperTable made;
    for (uint32_t i = 0; i < kHelpers; ++i) {
      made.entry[i] = reinterpret_cast<runtime::HelperFn>(reinterpret_cast<void*>(kObserved[i]));
    }
    return made;
  }();
  return table;
}

void observe_instance(runtime::InstanceData& instance) {
  Timeline* timeline = Timeline::of_process();
  if (!timeline) return;
  instance.context()->observer = timeline->functions_of(instance);
  instance.context()->helpers = &observed_helper_table();
}

struct ObservedBody {
  runtime::HostBody body;
  uint32_t name;

  static Trap* invoke(void* state, const Caller& caller, Slot* slots) {
    const ObservedBody& self = *static_cast<const ObservedBody*>(state);
    CrossingSpan span(SpanKind::HostCall, self.name);
    Trap* trap = self.body.invoke(self.body.state.get(), caller, slots);
    if (!trap) span.returned();
    return trap;
  }
};

runtime::HostBody observe_host_function(runtime::HostBody body, const std::string& name) {
  Timeline* timeline = Timeline::of_process();
  if (!timeline) return body;
  runtime::HostBody observed;
  observed.invoke = ObservedBody::invoke;
  observed.state = {new ObservedBody{std::move(body), timeline->host_function(name)},
                    [](void* state) { delete static_cast<ObservedBody*>(state); }};
  return observed;
}

// Of `callee` nothing is read after the call, which it may not survive.
runtime::EntryResult observe_entry(const runtime::FuncRef* callee, const uint64_t* args, uint64_t* results) {
  const runtime::EnterFn enter = callee->adapters->unobserved;
  // What the host calls of its own is no entry of a guest.
  if (callee->function == runtime::kHostFunctionIndex) return enter(callee, args, results);
  Timeline* timeline = Timeline::current();
  const bool again = timeline && timeline->inside_boundary();
  const uint64_t functions = static_cast<const InstanceContext*>(callee->context)->observer;
  CrossingSpan span(again ? SpanKind::Reentry : SpanKind::Invocation,
                    static_cast<uint32_t>(functions) + callee->function);
  const runtime::EntryResult result = enter(callee, args, results);
  if (!(result.status & runtime::kEntryTrapped)) span.returned();
  return result;
}

}  // namespace

constinit thread_local Timeline* Timeline::current_ = nullptr;
std::atomic<Timeline*> Timeline::of_process_{nullptr};

const runtime::BoundaryHooks& Timeline::hooks() {
  static constexpr runtime::BoundaryHooks kHooks = {observe_instance, observe_host_function, observe_entry};
  return kHooks;
}

Timeline::Timeline(uint64_t max_spans)
    : max_spans_(max_spans),
      spans_(std::make_unique<capture::Span[]>(max_spans)),  // written, so that its pages are there
      next_name_(kFirstStep + kSteps) {
  WAGO_CHECK(max_spans_ <= capture::Limits().spans);
  Timeline* none = nullptr;
  WAGO_CHECK_MSG(of_process_.compare_exchange_strong(none, this), "one timeline at a time in a process");
  current_ = this;
}

Timeline::~Timeline() {
  of_process_ = nullptr;
  current_ = nullptr;
}

void Timeline::begin_window() {
  if (first_window_ns_ == 0) first_window_ns_ = base::monotonic_ns();
  record(Scope::Everything);
}

void Timeline::end_window() {
  record(Scope::Nothing);
  last_window_end_ns_ = base::monotonic_ns();
}

void Timeline::crossed_elsewhere() {
  Timeline* timeline = of_process();
  if (timeline && timeline->records(Scope::Everything)) ++timeline->lost_elsewhere_;
}

uint32_t Timeline::open(SpanKind kind, uint32_t name) {
  if (count_ == max_spans_) {
    ++lost_;
    return capture::kNoParent;
  }
  const auto number = static_cast<uint32_t>(count_++);
  capture::Span& span = spans_[number];
  span.kind = kind;
  span.name = name;
  span.parent = std::exchange(open_, number);
  span.start_ns = base::monotonic_ns();
  return number;
}

void Timeline::close(uint32_t number, bool trapped) {
  if (number == capture::kNoParent) return;
  capture::Span& span = spans_[number];
  span.elapsed_ns = base::monotonic_ns() - span.start_ns;
  span.trapped = trapped;
  open_ = span.parent;
}

uint32_t Timeline::reserve_names(uint32_t count) {
  WAGO_CHECK_MSG(next_name_ <= UINT32_MAX - count, "more functions than a timeline can name");
  return std::exchange(next_name_, next_name_ + count);
}

uint64_t Timeline::functions_of(const runtime::InstanceData& instance) {
  const auto& module = instance.module_data().code().shared_module();
  std::lock_guard lock(names_mutex_);
  for (const KnownModule& known : modules_) {
    if (known.module == module || known.module->bytes == module->bytes) return known.first_name;
  }
  modules_.push_back({module, reserve_names(module->function_count())});
  return modules_.back().first_name;
}

uint32_t Timeline::host_function(const std::string& name) {
  std::lock_guard lock(names_mutex_);
  const uint32_t number = reserve_names(1);
  host_functions_.emplace(number, name);
  return number;
}

std::string Timeline::text_of(uint32_t name) const {
  if (name < kFirstStep) return helper_name(name);
  if (name < kFirstStep + kSteps) {
    return std::string(base::spelling(static_cast<base::Phase>(name - kFirstStep)));
  }
  if (auto host = host_functions_.find(name); host != host_functions_.end()) return host->second;
  for (const KnownModule& known : modules_) {
    if (name >= known.first_name && name - known.first_name < known.module->function_count()) {
      return known.module->function_name(name - known.first_name);
    }
  }
  WAGO_UNREACHABLE("the name of a span");
}

capture::Spans Timeline::spans() const {
  std::lock_guard lock(names_mutex_);
  capture::Spans told;
  told.phase_start_ns = first_window_ns_;
  told.phase_elapsed_ns = last_window_end_ns_ - first_window_ns_;
  told.lost = lost_ + lost_elsewhere_;
  told.spans.assign(spans_.get(), spans_.get() + count_);
  std::unordered_map<std::string, uint32_t> by_text;
  std::unordered_map<uint32_t, uint32_t> by_number;
  for (capture::Span& span : told.spans) {
    auto [known, unseen] = by_number.emplace(span.name, 0);
    if (unseen) {
      std::string text = text_of(span.name);
      auto [at, added] = by_text.emplace(text, static_cast<uint32_t>(told.names.size()));
      if (added) told.names.push_back(std::move(text));
      known->second = at->second;
    }
    span.name = known->second;
  }
  return told;
}

StepSpan::StepSpan(base::Phase step) {
  Timeline* timeline = Timeline::current();
  if (!timeline || !timeline->records(Timeline::Scope::Steps)) return;
  timeline_ = timeline;
  span_ = timeline->open(SpanKind::Lifecycle, kFirstStep + static_cast<uint32_t>(step));
}

}  // namespace wago::harness
