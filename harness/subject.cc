#include "harness/subject.h"

#include "base/text.h"
#include "harness/invoker.h"
#include "harness/timeline.h"
#include "runtime/code_image.h"
#include "runtime/engine_data.h"
#include "runtime/module.h"
#include "runtime/provided_imports.h"

namespace wago::harness {

namespace {

constexpr uint64_t kMaxModuleBytes = uint64_t{1} << 30;

base::Error in_file(base::Error error, const std::string& file) {
  if (error.place.file.empty()) error.place.file = file;
  return error;
}

RunFailure failure_of(const InstantiateFailure& failure) {
  if (failure.kind == InstantiateFailure::Kind::Link || !failure.trap) {
    return {failure.error, "the module could not be linked"};
  }
  std::string stored = "instantiation trapped: " + std::string(base::sentence(failure.trap->code));
  return {base::failed("instantiation trapped: " + describe(*failure.trap)), stored, *failure.trap};
}

}  // namespace

std::optional<base::Error> unsupported(const capture::Workload& workload) {
  if (workload.backend == base::Backend::Count && workload.phase != base::Phase::Execute) {
    return base::usage_error("backend count counts what phase execute runs; phase " +
                             std::string(base::spelling(workload.phase)) + " is measured by backend none");
  }
  if (workload.phase == base::Phase::Initialize && !workload.init) {
    return base::usage_error(
        "phase initialize needs an init export; a start function runs as part of phase instantiate");
  }
  return std::nullopt;
}

base::Result<std::unique_ptr<Subject>> Subject::load(const capture::Workload& workload,
                                                     const RecordSettings& settings, base::Files& files,
                                                     const HostSetup& host) {
  const std::string& path = workload.module_path;
  auto bytes = files.read_stream(path, kMaxModuleBytes);
  if (!bytes) return bytes.error();
  base::Digest digest = base::sha256(*bytes);
  if (workload.module_sha256 && *workload.module_sha256 != digest) {
    return base::usage_error("the module is not the one that was declared: its SHA-256 is " +
                                 base::to_hex(digest) + ", not " + base::to_hex(*workload.module_sha256),
                             {.file = path});
  }
  EngineSettings engine_settings;
  engine_settings.bounds = workload.engine.bounds;
  engine_settings.level = workload.engine.level;
  engine_settings.interruptible = workload.engine.interruptible;
  engine_settings.spill_everything = settings.spill_everything;
  engine_settings.counted = settings.counted;
  engine_settings.code_offset = settings.code_offset;
  engine_settings.source_maps = settings.source_maps;
  auto engine = Engine::open(engine_settings);
  if (!engine) return engine.error();
  if (Timeline::current()) engine->data()->set_boundary_hooks(&Timeline::hooks());
  uint64_t unix_before = base::unix_ns(), before = base::monotonic_ns();
  auto module = [&] {
    StepSpan span(base::Phase::Compile);
    return engine->compile(*bytes);
  }();
  uint64_t took = base::monotonic_ns() - before;
  if (!module) return in_file(module.error(), path);
  if (auto checked = check_calls(workload, *module); !checked) return in_file(checked.error(), path);

  std::unique_ptr<Subject> subject(
      new Subject(workload, settings, std::move(*bytes), std::move(*engine), std::move(*module)));
  subject->module_sha256_ = digest;
  subject->compile_start_unix_ns_ = unix_before;
  subject->compile_ns_ = took;
  if (auto loaded = subject->load_artifact(); !loaded) return in_file(loaded.error(), path);
  if (host) {
    if (auto defined = host(subject->linker_, workload); !defined) return defined.error();
  }
  if (auto provided = runtime::define_provided(subject->linker_, subject->reference_); !provided)
    return in_file(provided.error(), path);
  return subject;
}

// The artifact, where somebody will want it, and the reference from it.
base::Result<void> Subject::load_artifact() {
  if (!settings_.reload_artifact && workload_.phase != base::Phase::Reload) return {};
  artifact_ = reference_.serialize();
  if (!settings_.reload_artifact) return {};
  reload_start_unix_ns_ = base::unix_ns();
  const uint64_t before = base::monotonic_ns();
  auto module = [&] {
    StepSpan span(base::Phase::Reload);
    return reload();
  }();
  reload_ns_ = base::monotonic_ns() - before;
  if (!module) return module.error();
  if (module->code() != reference_.code()) return base::failed("the artifact of the module holds other code");
  reference_ = *std::move(module);
  return {};
}

std::shared_ptr<const runtime::CodeImage> Subject::ordinary_code() const {
  std::shared_ptr<const runtime::CodeImage> code = reference_.data()->code().shared_image();
  if (!code->counted) return code;
  return {code->counted, &code->counted->ordinary};
}

uint64_t Subject::code_bytes() const {
  uint64_t bytes = 0;
  for (const runtime::FunctionBody& body : reference_.decoded().bodies) bytes += body.size;
  return bytes;
}

base::Result<wago::Module> Subject::compile() const {
  return engine_.compile(bytes_);
}

std::variant<wago::Instance, RunFailure> Subject::instantiate(const wago::Module& module) const {
  StepSpan span(base::Phase::Instantiate);
  InstantiateResult result = linker_.instantiate(module);
  if (!result) return failure_of(result.failure());
  return result.value();
}

RunStatus Subject::initialize(const wago::Instance& instance) const {
  if (!workload_.init) return {};
  StepSpan span(base::Phase::Initialize);
  auto outcome = instance.call(*workload_.init, {}, {});
  if (!outcome) return RunFailure{outcome.error(), outcome.error().message};
  if (outcome->ok()) return {};
  std::string what = "the init export " + base::display(*workload_.init) + " trapped: ";
  return RunFailure{base::failed(what + describe(outcome->trap())),
                    what + std::string(base::sentence(outcome->trap().code)), outcome->trap()};
}

RunStatus Subject::verify(const wago::Instance& instance) const {
  auto invoker = Invoker::create(workload_, instance);
  if (!invoker) return RunFailure{invoker.error(), invoker.error().message};
  return invoker->run(1);
}

}  // namespace wago::harness
