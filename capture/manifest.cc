#include "capture/manifest.h"

#include "base/json.h"

namespace wago::capture {

namespace {

using base::Json;
using base::JsonReader;

Json dirty_json(base::Dirty dirty) {
  if (dirty == base::Dirty::Unknown) return "unknown";
  return dirty == base::Dirty::Dirty;
}

Json settings_json(const EffectiveSettings& settings) {
  return Json::object({{"bounds", base::spelling(settings.engine.bounds)},
                       {"level", settings.engine.level},
                       {"interruptible", settings.engine.interruptible},
                       {"spill_everything", settings.spill_everything},
                       {"code_offset", settings.code_offset},
                       {"guest_stack_bytes", settings.guest_stack_bytes},
                       {"include_code", settings.include_code},
                       {"source_maps", settings.source_maps},
                       {"timeline", settings.timeline},
                       {"unwind_maps", settings.unwind_maps},
                       {"stack_bytes", settings.stack_bytes},
                       {"max_spans", settings.max_spans},
                       {"reload_artifact", settings.reload_artifact},
                       {"counters", settings.counters}});
}

Json phase_json(const PhaseRecord& phase) {
  return Json::object({{"name", base::spelling(phase.phase)},
                       {"start_unix_ns", phase.start_unix_ns},
                       {"end_unix_ns", phase.end_unix_ns},
                       {"elapsed_ns", phase.elapsed_ns},
                       {"completed_work", phase.completed_work},
                       {"work_unit", phase.work_unit}});
}

Json file_json(const FileRecord& file) {
  return Json::object({{"name", file.name}, {"bytes", file.bytes}, {"sha256", base::to_hex(file.sha256)}});
}

Json strings_json(const std::vector<std::string>& strings) {
  return Json::array(std::vector<Json>(strings.begin(), strings.end()));
}

template <class T>
Json list_json(const std::vector<T>& list, Json (*each)(const T&)) {
  Json json = Json::array();
  for (const T& item : list) json.push(each(item));
  return json;
}

// Reads the members in the order in which they are written.
class ManifestReader {
 public:
  ManifestReader(JsonReader& root, const Limits& limits) : root_(root), limits_(limits) {}

  Manifest read() {
    Manifest m;
    m.complete = root_.boolean("complete");
    m.collector_pending = root_.boolean("collector_pending");
    m.diagnostics = strings("diagnostics", limits_.diagnostics);
    program(m);
    measured(m);
    machine(m);
    method(m);
    work(m);
    return m;
  }

 private:
  std::string text(std::string_view key) {
    std::string value = root_.string(key);
    if (value.size() > limits_.name_bytes) {
      root_.fail("exceeds the limit name_bytes (" + std::to_string(limits_.name_bytes) + ")", key);
    }
    return value;
  }
  std::vector<std::string> strings(std::string_view key, uint64_t limit) {
    std::vector<std::string> list;
    root_.array(
        key, [&](JsonReader& item) { list.push_back(item.as_string()); }, true, limit);
    return list;
  }
  template <class Word>
  Word word(std::string_view key) {
    return base::read_word<Word>(root_, key, base::spellings<Word>());
  }

  void program(Manifest& m) {
    m.program_version = text("program_version");
    m.revision = text("revision");
    const Json* dirty = root_.raw("dirty");
    if (dirty && dirty->is_bool()) {
      m.dirty = dirty->as_bool() ? base::Dirty::Dirty : base::Dirty::Clean;
    } else if (!dirty || !dirty->is_string() || dirty->as_string() != "unknown") {
      root_.fail("must be true, false or \"unknown\"", "dirty");
    }
    m.runner_id = text("runner_id");
  }
  void measured(Manifest& m) {
    m.workload = text("workload");
    m.catalog = text("catalog");
    m.module_name = text("module_name");
    m.module_bytes = root_.u64("module_bytes");
    m.code_section_bytes = root_.u64("code_section_bytes");
    m.module_sha256 = text("module_sha256");
    m.contract_sha256 = text("contract_sha256");
    m.code_sha256 = text("code_sha256");
    m.calls_per_iteration = root_.u64("calls_per_iteration");
    m.items_per_iteration = root_.u64("items_per_iteration");
    m.bytes_per_iteration = root_.u64("bytes_per_iteration");
    m.labels = strings("labels", limits_.files);
  }
  void machine(Manifest& m) {
    m.target = text("target");
    m.cpu_model = text("cpu_model");
    m.os_version = text("os_version");
    m.logical_cpus = root_.u64("logical_cpus");
  }
  void method(Manifest& m) {
    m.backend = word<base::Backend>("backend");
    m.event = text("event");
    m.collector_version = text("collector_version");
    m.phase_isolation = text("phase_isolation");
    m.capture_phase = word<base::Phase>("capture_phase");
    m.invocation_mode = word<base::Mode>("invocation_mode");
    m.requested_rate_hz = root_.u64("requested_rate_hz");
    m.effective_settings = settings(root_.object("effective_settings"));
  }
  EffectiveSettings settings(JsonReader r) {
    EffectiveSettings s;
    s.engine.bounds = base::read_word<base::Bounds>(r, "bounds", base::spellings<base::Bounds>());
    s.engine.level = static_cast<int>(r.u64("level", INT32_MAX));
    s.engine.interruptible = r.boolean("interruptible");
    s.spill_everything = r.boolean("spill_everything");
    s.code_offset = r.u32("code_offset");
    s.guest_stack_bytes = r.u64("guest_stack_bytes");
    s.include_code = r.boolean("include_code");
    s.source_maps = r.boolean("source_maps");
    s.timeline = r.boolean("timeline");
    s.unwind_maps = r.boolean("unwind_maps");
    s.stack_bytes = r.u32("stack_bytes");
    s.max_spans = r.u64("max_spans");
    s.reload_artifact = r.boolean("reload_artifact");
    s.counters = r.boolean("counters");
    return s;
  }
  void work(Manifest& m) {
    m.requested_iterations = root_.u64("requested_iterations");
    m.requested_duration_ns = root_.u64("requested_duration_ns");
    m.warmup_iterations = root_.u64("warmup_iterations");
    m.completed_iterations = root_.u64("completed_iterations");
    m.completed_invocations = root_.u64("completed_invocations");
    m.execution_duration_ns = root_.u64("execution_duration_ns");
    m.execution_cpu_ns = root_.u64("execution_cpu_ns");
    root_.array(
        "phases", [&](JsonReader& r) { m.phases.push_back(phase(r)); }, true, limits_.phases);
    JsonReader losses = root_.object("losses");
    m.losses = {losses.u64("samples"), losses.u64("spans"), losses.u64("journal_records")};
    root_.array(
        "files", [&](JsonReader& r) { m.files.push_back(file(r)); }, true, limits_.files);
  }
  static PhaseRecord phase(JsonReader& r) {
    PhaseRecord record;
    record.phase = base::read_word<base::Phase>(r, "name", base::spellings<base::Phase>());
    record.start_unix_ns = r.u64("start_unix_ns");
    record.end_unix_ns = r.u64("end_unix_ns");
    record.elapsed_ns = r.u64("elapsed_ns");
    record.completed_work = r.u64("completed_work");
    record.work_unit = r.string("work_unit");
    return record;
  }
  static FileRecord file(JsonReader& r) {
    FileRecord record;
    record.name = r.string("name");
    // A capture never reaches outside its own directory.
    if (record.name.empty() || record.name == "." || record.name == ".." ||
        record.name.find_first_of(std::string_view("/\0", 2)) != std::string::npos) {
      r.fail("must be a file name without a folder", "name");
    }
    record.bytes = r.u64("bytes");
    auto digest = base::parse_digest(r.string("sha256"));
    if (!digest) r.fail("must be 64 hexadecimal digits", "sha256");
    record.sha256 = digest.value_or(base::Digest{});
    return record;
  }

  JsonReader& root_;
  const Limits& limits_;
};

}  // namespace

std::string_view work_unit(base::Phase phase) {
  switch (phase) {
    case base::Phase::Compile:
    case base::Phase::Reload:
      return "bytes";
    case base::Phase::Instantiate:
    case base::Phase::Close:
      return "instances";
    case base::Phase::Initialize:
    case base::Phase::Execute:
      return "invocations";
    case base::Phase::All:
      return "lifecycles";
  }
  WAGO_UNREACHABLE("phase");
}

const PhaseRecord* Manifest::measured_phase() const {
  for (const PhaseRecord& record : phases) {
    if (record.phase == capture_phase) return &record;
  }
  return nullptr;
}

std::string to_json_text(const Manifest& m) {
  Json json = Json::object({{"version", m.version},
                            {"complete", m.complete},
                            {"collector_pending", m.collector_pending},
                            {"diagnostics", strings_json(m.diagnostics)},
                            {"program_version", m.program_version},
                            {"revision", m.revision},
                            {"dirty", dirty_json(m.dirty)},
                            {"runner_id", m.runner_id},
                            {"workload", m.workload},
                            {"catalog", m.catalog},
                            {"module_name", m.module_name},
                            {"module_bytes", m.module_bytes},
                            {"code_section_bytes", m.code_section_bytes},
                            {"module_sha256", m.module_sha256},
                            {"contract_sha256", m.contract_sha256},
                            {"code_sha256", m.code_sha256},
                            {"calls_per_iteration", m.calls_per_iteration},
                            {"items_per_iteration", m.items_per_iteration},
                            {"bytes_per_iteration", m.bytes_per_iteration},
                            {"labels", strings_json(m.labels)},
                            {"target", m.target},
                            {"cpu_model", m.cpu_model},
                            {"os_version", m.os_version},
                            {"logical_cpus", m.logical_cpus},
                            {"backend", base::spelling(m.backend)},
                            {"event", m.event},
                            {"collector_version", m.collector_version},
                            {"phase_isolation", m.phase_isolation},
                            {"capture_phase", base::spelling(m.capture_phase)},
                            {"invocation_mode", base::spelling(m.invocation_mode)},
                            {"requested_rate_hz", m.requested_rate_hz},
                            {"effective_settings", settings_json(m.effective_settings)},
                            {"requested_iterations", m.requested_iterations},
                            {"requested_duration_ns", m.requested_duration_ns},
                            {"warmup_iterations", m.warmup_iterations},
                            {"completed_iterations", m.completed_iterations},
                            {"completed_invocations", m.completed_invocations},
                            {"execution_duration_ns", m.execution_duration_ns},
                            {"execution_cpu_ns", m.execution_cpu_ns},
                            {"phases", list_json(m.phases, phase_json)},
                            {"losses", Json::object({{"samples", m.losses.samples},
                                                     {"spans", m.losses.spans},
                                                     {"journal_records", m.losses.journal_records}})},
                            {"files", list_json(m.files, file_json)}});
  return json.dump(2) + "\n";
}

base::Result<Manifest> parse_manifest(std::string_view text, const std::string& file, const Limits& limits) {
  auto json = base::parse_json(text, file, {.bytes = limits.manifest_bytes, .depth = limits.json_depth});
  if (!json) return json.error();
  JsonReader root(*json, file);
  uint64_t version = root.u64("version");
  if (root.error()) return *root.error();
  if (auto known = check_version(version, file); !known) return known.error();
  // Members this program does not know are additions of the same version, which never change what the others
  // mean.
  Manifest manifest = ManifestReader(root, limits).read();
  if (root.error()) return *root.error();
  manifest.version = version;
  return manifest;
}

}  // namespace wago::capture
