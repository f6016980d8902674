#include "harness/phases.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "harness/invoker.h"
#include "harness/timeline.h"
#include "runtime/code_image.h"

namespace wago::harness {

namespace {

using base::Phase;

// Each reserves address space for its memories; together they must stay a small part of it.
constexpr uint64_t kMaxInstances = 64;
constexpr uint64_t kMaxModules = 16;

RunFailure plain(const base::Error& error) {
  return {error, error.message};
}

RunStatus instantiate_into(const Subject& subject, const wago::Module& module,
                           std::vector<wago::Instance>& instances) {
  auto made = subject.instantiate(module);
  if (auto* failure = std::get_if<RunFailure>(&made)) return *failure;
  instances.push_back(std::get<wago::Instance>(std::move(made)));
  return {};
}

// A whole life of `module`, its results compared.
RunStatus try_out(const Subject& subject, const wago::Module& module) {
  std::vector<wago::Instance> instances;
  if (auto failure = instantiate_into(subject, module, instances)) return failure;
  if (auto failure = subject.initialize(instances[0])) return failure;
  return subject.verify(instances[0]);
}

// An iteration decodes, validates and compiles the module. It is right when the code equals that of a
// compilation whose results were compared.
class CompileWork : public Work {
 public:
  explicit CompileWork(const Subject& subject) : subject_(subject) {}
  uint64_t max_batch() const override { return kMaxModules; }
  RunStatus prepare(uint64_t count, bool) override {
    modules_.reserve(count);
    copies_.clear();
    for (uint64_t i = 0; i < count; ++i) copies_.push_back(subject_.bytes());
    return {};
  }
  RunStatus run(uint64_t count) override {
    for (uint64_t i = 0; i < count; ++i) {
      StepSpan span(Phase::Compile);
      auto module = subject_.engine().compile(std::move(copies_[i]));
      if (!module) return plain(module.error());
      modules_.push_back(std::move(*module));
    }
    return {};
  }
  RunStatus finish(uint64_t, bool verify) override {
    for (const wago::Module& module : modules_) {
      if (module.code().bytes == subject_.reference().code().bytes) continue;
      return plain(base::failed("two compilations of the module gave different code"));
    }
    RunStatus status = verify ? try_out(subject_, modules_.back()) : RunStatus();
    modules_.clear();
    return status;
  }

 private:
  const Subject& subject_;
  std::vector<std::vector<uint8_t>> copies_;
  std::vector<wago::Module> modules_;
};

// An iteration loads the module from its artifact. It is right when the code and all that is known of it
// equal the compiled module's.
class ReloadWork : public Work {
 public:
  explicit ReloadWork(const Subject& subject) : subject_(subject) {}
  uint64_t max_batch() const override { return kMaxModules; }
  RunStatus prepare(uint64_t count, bool) override {
    modules_.reserve(count);
    return {};
  }
  RunStatus run(uint64_t count) override {
    for (uint64_t i = 0; i < count; ++i) {
      StepSpan span(Phase::Reload);
      auto module = subject_.reload();
      if (!module) return plain(module.error());
      modules_.push_back(std::move(*module));
    }
    return {};
  }
  RunStatus finish(uint64_t, bool verify) override {
    for (const wago::Module& module : modules_) {
      if (module.code() == subject_.reference().code()) continue;
      return plain(base::failed("the loaded code is not the code that was serialised"));
    }
    RunStatus status = verify ? try_out(subject_, modules_.back()) : RunStatus();
    modules_.clear();
    return status;
  }

 private:
  const Subject& subject_;
  std::vector<wago::Module> modules_;
};

class InstantiateWork : public Work {
 public:
  explicit InstantiateWork(const Subject& subject) : subject_(subject) {}
  uint64_t max_batch() const override { return kMaxInstances; }
  RunStatus prepare(uint64_t count, bool) override {
    instances_.reserve(count);
    return {};
  }
  RunStatus run(uint64_t count) override {
    for (uint64_t i = 0; i < count; ++i) {
      if (auto failure = instantiate_into(subject_, subject_.reference(), instances_)) return failure;
    }
    return {};
  }
  RunStatus finish(uint64_t, bool verify) override {
    RunStatus status;
    if (verify) {
      status = subject_.initialize(instances_.back());
      if (!status) status = subject_.verify(instances_.back());
    }
    instances_.clear();
    return status;
  }

 protected:
  const Subject& subject_;
  std::vector<wago::Instance> instances_;
};

class InitializeWork : public InstantiateWork {
 public:
  using InstantiateWork::InstantiateWork;
  RunStatus prepare(uint64_t count, bool) override {
    instances_.reserve(count);
    return InstantiateWork::run(count);
  }
  RunStatus run(uint64_t) override {
    for (const wago::Instance& instance : instances_) {
      if (auto failure = subject_.initialize(instance)) return failure;
    }
    return {};
  }
  RunStatus finish(uint64_t, bool verify) override {
    RunStatus status = verify ? subject_.verify(instances_.back()) : RunStatus();
    instances_.clear();
    return status;
  }
};

class ExecuteWork : public Work {
 public:
  explicit ExecuteWork(Invoker invoker) : invoker_(std::move(invoker)) {}
  RunStatus prepare(uint64_t, bool) override { return {}; }
  RunStatus run(uint64_t count) override { return invoker_.run(count); }
  RunStatus finish(uint64_t, bool) override { return {}; }

 private:
  Invoker invoker_;
};

class CloseWork : public InstantiateWork {
 public:
  using InstantiateWork::InstantiateWork;
  RunStatus prepare(uint64_t count, bool verify) override {
    instances_.reserve(count);
    if (auto failure = InstantiateWork::run(count)) return failure;
    for (const wago::Instance& instance : instances_) {
      if (auto failure = subject_.initialize(instance)) return failure;
    }
    return verify ? subject_.verify(instances_.back()) : RunStatus();
  }
  RunStatus run(uint64_t) override {
    while (!instances_.empty()) {
      StepSpan span(Phase::Close);
      instances_.pop_back();
    }
    return {};
  }
  RunStatus finish(uint64_t, bool) override { return {}; }
};

// Everything, every time; also keeps the share of each part.
class LifecycleWork : public Work {
 public:
  static constexpr size_t kParts = 6;
  static constexpr Phase kPart[kParts] = {Phase::Compile,    Phase::Reload,  Phase::Instantiate,
                                          Phase::Initialize, Phase::Execute, Phase::Close};

  LifecycleWork(const Subject& subject, base::Clock& clock) : subject_(subject), clock_(clock) {}
  RunStatus prepare(uint64_t count, bool) override {
    copies_.clear();
    for (uint64_t i = 0; i < count; ++i) copies_.push_back(subject_.bytes());
    return {};
  }
  uint64_t max_batch() const override { return kMaxModules; }
  RunStatus run(uint64_t count) override {
    for (uint64_t i = 0; i < count; ++i) {
      if (auto failure = live(std::move(copies_[i]))) return failure;
    }
    return {};
  }
  RunStatus finish(uint64_t, bool) override { return {}; }
  void begin_measured() override { std::fill(elapsed_ns_, elapsed_ns_ + kParts, 0); }
  uint64_t elapsed_ns(size_t part) const { return elapsed_ns_[part]; }

 private:
  RunStatus live(std::vector<uint8_t> bytes) {
    at_ = clock_.monotonic_ns();
    std::optional<wago::Module> module;
    {
      StepSpan span(Phase::Compile);
      auto compiled = subject_.engine().compile(std::move(bytes));
      if (!compiled) return plain(compiled.error());
      module = std::move(*compiled);
    }
    part_ends(0);
    if (subject_.reloads_artifact()) {
      StepSpan span(Phase::Reload);
      auto loaded = wago::Module::deserialize(subject_.engine(), module->serialize());
      if (!loaded) return plain(loaded.error());
      module = std::move(*loaded);
    }
    part_ends(1);
    std::vector<wago::Instance> instances;
    if (auto failure = instantiate_into(subject_, *module, instances)) return failure;
    part_ends(2);
    if (auto failure = subject_.initialize(instances[0])) return failure;
    part_ends(3);
    if (auto failure = subject_.verify(instances[0])) return failure;
    part_ends(4);
    {
      StepSpan span(Phase::Close);
      instances.clear();
      module.reset();
    }
    part_ends(5);
    return {};
  }
  void part_ends(size_t part) {
    uint64_t now = clock_.monotonic_ns();
    elapsed_ns_[part] += now - at_;
    at_ = now;
  }

  const Subject& subject_;
  base::Clock& clock_;
  std::vector<std::vector<uint8_t>> copies_;
  uint64_t at_ = 0;
  uint64_t elapsed_ns_[kParts] = {};
};

// Work whose timed windows of the measured phase are a timeline's.
class WindowedWork : public Work {
 public:
  WindowedWork(Work& work, Timeline& timeline) : work_(work), timeline_(timeline) {
    timeline_.record(Timeline::Scope::Nothing);
  }
  ~WindowedWork() override { timeline_.record(Timeline::Scope::Steps); }
  WindowedWork(const WindowedWork&) = delete;
  WindowedWork& operator=(const WindowedWork&) = delete;

  uint64_t max_batch() const override { return work_.max_batch(); }
  void begin_measured() override {
    measured_ = true;
    work_.begin_measured();
  }
  RunStatus prepare(uint64_t count, bool verify) override { return work_.prepare(count, verify); }
  RunStatus run(uint64_t count) override {
    if (!measured_) return work_.run(count);
    timeline_.begin_window();
    RunStatus status = work_.run(count);
    timeline_.end_window();
    return status;
  }
  RunStatus finish(uint64_t count, bool verify) override { return work_.finish(count, verify); }

 private:
  Work& work_;
  Timeline& timeline_;
  bool measured_ = false;
};

class PhaseRecorder {
 public:
  PhaseRecorder(const Subject& subject, base::Clock& clock, ProgressPage& progress, Recorded& recorded,
                Collector* collector)
      : subject_(subject), clock_(clock), progress_(progress), recorded_(recorded), collector_(collector) {}

  RunStatus record() {
    switch (subject_.workload().phase) {
      case Phase::Compile: {
        CompileWork work(subject_);
        return measure(work, subject_.bytes().size());
      }
      case Phase::Reload: {
        compiled();
        ReloadWork work(subject_);
        return measure(work, subject_.artifact().size());
      }
      case Phase::Instantiate: {
        compiled();
        InstantiateWork work(subject_);
        return measure(work, 1);
      }
      case Phase::Initialize: {
        compiled();
        InitializeWork work(subject_);
        return measure(work, 1);
      }
      case Phase::Execute:
        return execute();
      case Phase::Close: {
        compiled();
        CloseWork work(subject_);
        return measure(work, 1);
      }
      case Phase::All:
        return lifecycles();
    }
    WAGO_UNREACHABLE("phase");
  }

 private:
  void add(Phase phase, uint64_t start_unix, uint64_t end_unix, uint64_t elapsed, uint64_t work) {
    recorded_.phases.push_back(
        {phase, start_unix, end_unix, elapsed, work, std::string(capture::work_unit(phase))});
  }

  // The compilation that load() did, and the loading.
  void compiled() {
    add(Phase::Compile, subject_.compile_start_unix_ns(),
        subject_.compile_start_unix_ns() + subject_.compile_ns(), subject_.compile_ns(),
        subject_.bytes().size());
    // A phase has one record.
    if (!subject_.reloads_artifact() || subject_.workload().phase == Phase::Reload) return;
    add(Phase::Reload, subject_.reload_start_unix_ns(),
        subject_.reload_start_unix_ns() + subject_.reload_ns(), subject_.reload_ns(),
        subject_.artifact().size());
  }

  // A phase on the way to the measured one: once.
  template <class Body>
  RunStatus once(Phase phase, Body body) {
    progress_.enter(phase);
    uint64_t start_unix = clock_.unix_ns(), start = clock_.monotonic_ns();
    RunStatus status = body();
    uint64_t elapsed = clock_.monotonic_ns() - start;
    if (!status) add(phase, start_unix, clock_.unix_ns(), elapsed, 1);
    return status;
  }

  RunStatus execute() {
    compiled();
    std::vector<wago::Instance> instances;
    auto instantiate = [&] { return instantiate_into(subject_, subject_.reference(), instances); };
    if (auto failure = once(Phase::Instantiate, instantiate)) return failure;
    if (subject_.workload().init) {
      auto initialize = [&] { return subject_.initialize(instances[0]); };
      if (auto failure = once(Phase::Initialize, initialize)) return failure;
    }
    {
      auto invoker = Invoker::create(subject_.workload(), instances[0]);
      if (!invoker) return plain(invoker.error());
      ExecuteWork work(std::move(*invoker));
      if (collector_) collector_->use(instances[0]);
      recorded_.invocations = 0;
      if (auto failure = measure(work, subject_.workload().calls.size())) return failure;
    }
    return once(Phase::Close, [&] {
      StepSpan span(Phase::Close);
      instances.clear();
      return RunStatus();
    });
  }

  RunStatus lifecycles() {
    LifecycleWork work(subject_, clock_);
    if (auto failure = measure(work, 1)) return failure;
    const capture::PhaseRecord all = recorded_.phases.back();
    recorded_.phases.pop_back();
    const uint64_t lives = all.completed_work;
    for (size_t i = 0; i < LifecycleWork::kParts; ++i) {
      Phase part = LifecycleWork::kPart[i];
      if (part == Phase::Initialize && !subject_.workload().init) continue;
      if (part == Phase::Reload && !subject_.reloads_artifact()) continue;
      uint64_t each = part == Phase::Compile   ? subject_.bytes().size()
                      : part == Phase::Reload  ? subject_.artifact().size()
                      : part == Phase::Execute ? subject_.workload().calls.size()
                                               : 1;
      add(part, all.start_unix_ns, all.end_unix_ns, work.elapsed_ns(i), lives * each);
    }
    recorded_.phases.push_back(all);
    return {};
  }

  // Says which it was that failed.
  RunFailure in_iteration(RunFailure failure, const char* kind) const {
    uint64_t number = progress_.iterations.load(std::memory_order_relaxed) + failure.iteration + 1;
    std::string where = std::string(", in ") + kind + std::to_string(number) + " of phase " +
                        std::string(base::spelling(subject_.workload().phase));
    failure.error.message += where;
    failure.stored += where;
    return failure;
  }

  // Warm-up, then the measured phase, whose iterations do `work_each` units of work.
  RunStatus measure(Work& work, uint64_t work_each) {
    const capture::Workload& workload = subject_.workload();
    std::optional<WindowedWork> windowed;
    if (Timeline* timeline = Timeline::current()) windowed.emplace(work, *timeline);
    Measurement measurement(windowed ? static_cast<Work&>(*windowed) : work, clock_, progress_, collector_);
    progress_.enter(workload.phase, true);
    if (auto failure = measurement.warm_up(workload.warmup))
      return in_iteration(*failure, "warm-up iteration ");
    LoopLimits limits;
    limits.iterations = workload.iterations.value_or(0);
    limits.duration_ns = workload.duration_ns.value_or(capture::kDefaultDurationNs);
    progress_.enter(workload.phase);
    LoopResult& loop = recorded_.loop;
    if (auto failure = measurement.run(limits, loop)) return in_iteration(*failure, "iteration ");
    if (workload.phase == Phase::Execute || workload.phase == Phase::All) {
      recorded_.invocations = loop.iterations * workload.calls.size();
    }
    add(workload.phase, loop.start_unix_ns, loop.end_unix_ns, loop.elapsed_ns, loop.iterations * work_each);
    return {};
  }

  const Subject& subject_;
  base::Clock& clock_;
  ProgressPage& progress_;
  Recorded& recorded_;
  Collector* collector_;
};

}  // namespace

std::variant<std::unique_ptr<Work>, RunFailure> make_work(const Subject& subject, base::Clock& clock) {
  switch (subject.workload().phase) {
    case Phase::Compile:
      return std::make_unique<CompileWork>(subject);
    case Phase::Reload:
      return std::make_unique<ReloadWork>(subject);
    case Phase::Instantiate:
      return std::make_unique<InstantiateWork>(subject);
    case Phase::Initialize:
      return std::make_unique<InitializeWork>(subject);
    case Phase::Close:
      return std::make_unique<CloseWork>(subject);
    case Phase::All:
      return std::make_unique<LifecycleWork>(subject, clock);
    case Phase::Execute:
      break;
  }
  auto made = subject.instantiate(subject.reference());
  if (auto* failure = std::get_if<RunFailure>(&made)) return *failure;
  auto& instance = std::get<wago::Instance>(made);
  if (auto failure = subject.initialize(instance)) return *failure;
  auto invoker = Invoker::create(subject.workload(), std::move(instance));
  if (!invoker) return plain(invoker.error());
  return std::make_unique<ExecuteWork>(std::move(*invoker));
}

RunStatus record_phases(const Subject& subject, base::Clock& clock, ProgressPage& progress,
                        Recorded& recorded, Collector* collector) {
  return PhaseRecorder(subject, clock, progress, recorded, collector).record();
}

}  // namespace wago::harness
