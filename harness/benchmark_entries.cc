#include "harness/benchmark_entries.h"

#include <benchmark/benchmark.h>

#include <memory>
#include <optional>
#include <utility>

#include "capture/catalog.h"
#include "harness/invoker.h"
#include "harness/subject.h"
#include "runtime/code_image.h"
#include "runtime/module.h"

namespace wago::harness {

namespace {

using base::Phase;

bool any_failed = false;

void fail(benchmark::State& state, const base::Error& error) {
  any_failed = true;
  state.SkipWithError(error.to_string().c_str());
}

int64_t signed_count(uint64_t count) {
  return static_cast<int64_t>(count);
}

// A whole life of the module, its results compared; untimed.
RunStatus try_out(const Subject& subject, const wago::Module& module) {
  auto made = subject.instantiate(module);
  if (auto* failure = std::get_if<RunFailure>(&made)) return *failure;
  const auto& instance = std::get<wago::Instance>(made);
  if (auto failure = subject.initialize(instance)) return failure;
  return subject.verify(instance);
}

void bench_compile(benchmark::State& state, const Subject& subject) {
  if (auto failure = try_out(subject, subject.reference())) return fail(state, failure->error);
  for (auto unused : state) {
    (void)unused;
    auto module = subject.compile();
    if (!module) return fail(state, module.error());
    state.PauseTiming();
    // Equal code needs no second comparison of results.
    bool same = module->code().bytes == subject.reference().code().bytes;
    if (!same) return fail(state, base::failed("two compilations of the module gave different code"));
    { auto dropped = std::move(*module); }
    state.ResumeTiming();
  }
  state.SetBytesProcessed(state.iterations() * signed_count(subject.bytes().size()));
  state.SetItemsProcessed(state.iterations() * signed_count(subject.reference().decoded().bodies.size()));
}

void bench_reload(benchmark::State& state, const Subject& subject) {
  if (auto failure = try_out(subject, subject.reference())) return fail(state, failure->error);
  const std::vector<uint8_t> artifact = subject.reference().serialize();
  for (auto unused : state) {
    (void)unused;
    auto module = wago::Module::deserialize(subject.engine(), artifact);
    if (!module) return fail(state, module.error());
    state.PauseTiming();
    bool same = module->code() == subject.reference().code();
    if (!same) return fail(state, base::failed("the loaded code is not the code that was serialised"));
    { auto dropped = std::move(*module); }
    state.ResumeTiming();
  }
  state.SetBytesProcessed(state.iterations() * signed_count(artifact.size()));
  state.SetItemsProcessed(state.iterations() * signed_count(subject.reference().decoded().bodies.size()));
}

void bench_instantiate(benchmark::State& state, const Subject& subject) {
  if (auto failure = try_out(subject, subject.reference())) return fail(state, failure->error);
  for (auto unused : state) {
    (void)unused;
    // Made and closed: both are what a server pays for an instance.
    auto made = subject.instantiate(subject.reference());
    if (auto* failure = std::get_if<RunFailure>(&made)) return fail(state, failure->error);
  }
  state.SetItemsProcessed(state.iterations());
}

void bench_execute(benchmark::State& state, const Subject& subject) {
  auto made = subject.instantiate(subject.reference());
  if (auto* failure = std::get_if<RunFailure>(&made)) return fail(state, failure->error);
  const auto& instance = std::get<wago::Instance>(made);
  if (auto failure = subject.initialize(instance)) return fail(state, failure->error);
  auto invoker = Invoker::create(subject.workload(), instance);
  if (!invoker) return fail(state, invoker.error());
  for (auto unused : state) {
    (void)unused;
    if (auto failure = invoker->run(1)) return fail(state, failure->error);
  }
  const capture::Workload& workload = subject.workload();
  uint64_t items = workload.items_per_iteration ? workload.items_per_iteration : workload.calls.size();
  state.SetItemsProcessed(state.iterations() * signed_count(items));
  if (workload.bytes_per_iteration) {
    state.SetBytesProcessed(state.iterations() * signed_count(workload.bytes_per_iteration));
  }
}

// One workload's module, read and compiled when the first of its entries runs.
class Lazy {
 public:
  explicit Lazy(capture::Workload workload) : workload_(std::move(workload)) {}
  base::Result<const Subject*> get() {
    if (!loaded_) loaded_.emplace(Subject::load(workload_));
    if (!*loaded_) return loaded_->error();
    return static_cast<const Subject*>(loaded_->value().get());
  }

 private:
  capture::Workload workload_;
  std::optional<base::Result<std::unique_ptr<Subject>>> loaded_;
};

void run_entry(benchmark::State& state, Lazy& lazy, Phase phase) {
  auto subject = lazy.get();
  if (!subject) return fail(state, subject.error());
  switch (phase) {
    case Phase::Compile:
      return bench_compile(state, **subject);
    case Phase::Reload:
      return bench_reload(state, **subject);
    case Phase::Instantiate:
      return bench_instantiate(state, **subject);
    case Phase::Execute:
      return bench_execute(state, **subject);
    default:
      WAGO_UNREACHABLE("a phase with entries");
  }
}

}  // namespace

bool any_benchmark_failed() {
  return any_failed;
}

base::Result<void> register_benchmarks(const std::string& catalog_file, const std::vector<Phase>& phases) {
  auto catalog = capture::read_catalog(catalog_file);
  if (!catalog) return catalog.error();
  for (capture::Workload& workload : catalog->workloads) {
    std::string prefix = catalog->name + "/" + workload.id + "/";
    // Backend and phase are a recording's; the entries are these phases, without a collector.
    workload.backend = base::Backend::None;
    workload.phase = Phase::Execute;
    if (auto lacking = unsupported(workload)) {
      lacking->place.file = catalog_file;
      return *lacking;
    }
    auto lazy = std::make_shared<Lazy>(std::move(workload));
    for (Phase phase : phases) {
      auto entry = [lazy, phase](benchmark::State& state) { run_entry(state, *lazy, phase); };
      benchmark::RegisterBenchmark((prefix + std::string(base::spelling(phase))).c_str(), entry)
          ->Unit(phase == Phase::Execute ? benchmark::kNanosecond : benchmark::kMicrosecond);
    }
  }
  return {};
}

}  // namespace wago::harness
