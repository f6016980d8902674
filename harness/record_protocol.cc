#include "harness/record_protocol.h"

#include <map>
#include <memory>
#include <set>

#include "capture/catalog.h"
#include "harness/channel.h"
#include "runtime/source_lines.h"

namespace wago::harness {

namespace {

using base::Json;
using base::JsonReader;

constexpr const char* kSource = "recorder message";

template <class T>
base::Result<T> checked(JsonReader& reader, T value) {
  if (reader.error()) return *reader.error();
  return value;
}

Json phase_json(const capture::PhaseRecord& phase) {
  return Json::object({{"name", base::spelling(phase.phase)},
                       {"start_unix_ns", phase.start_unix_ns},
                       {"end_unix_ns", phase.end_unix_ns},
                       {"elapsed_ns", phase.elapsed_ns},
                       {"completed_work", phase.completed_work},
                       {"work_unit", phase.work_unit}});
}

capture::PhaseRecord read_phase(JsonReader& reader) {
  capture::PhaseRecord phase;
  phase.phase = base::read_word<base::Phase>(reader, "name", base::spellings<base::Phase>());
  phase.start_unix_ns = reader.u64("start_unix_ns");
  phase.end_unix_ns = reader.u64("end_unix_ns");
  phase.elapsed_ns = reader.u64("elapsed_ns");
  phase.completed_work = reader.u64("completed_work");
  phase.work_unit = reader.string("work_unit");
  return phase;
}

Json source_json(const wago::SourceFrame& frame) {
  return Json::object({{"function", frame.function},
                       {"file", frame.file},
                       {"directory", frame.directory},
                       {"line", frame.line},
                       {"column", frame.column}});
}

wago::SourceFrame read_source(JsonReader& reader) {
  return {reader.string("function"), reader.string("file"), reader.string("directory"), reader.u32("line"),
          reader.u32("column")};
}

// What the child knew of the places in a trap, which its debug information does not leave.
class ToldLines : public runtime::SourceLines {
 public:
  std::vector<wago::SourceFrame> at(uint32_t module_offset) const override {
    auto place = places.find(module_offset);
    return place == places.end() ? std::vector<wago::SourceFrame>() : place->second;
  }
  std::map<uint32_t, std::vector<wago::SourceFrame>> places;
};

// A recorded guest traps or returns: nobody interrupts it, so that part of a trap does not travel.
Json trap_json(const wago::Trap& trap) {
  Json frames = Json::array(), places = Json::array();
  std::set<uint32_t> told;  // recursion comes by the same places again and again
  for (const wago::Frame& frame : trap.frames) {
    frames.push(Json::object({{"function", frame.function},
                              {"wasm_pc", frame.wasm_pc},
                              {"module_offset", frame.module_offset},
                              {"name", frame.name},
                              {"inlined", frame.inlined},
                              {"host", frame.host}}));
    if (!frame.debug_info || !told.insert(frame.module_offset).second) continue;
    Json source = Json::array();
    for (const wago::SourceFrame& one : frame.source()) source.push(source_json(one));
    places.push(Json::object({{"module_offset", frame.module_offset}, {"source", std::move(source)}}));
  }
  return Json::object({{"code", base::spelling(trap.code)},
                       {"message", trap.message},
                       {"frames", std::move(frames)},
                       {"frames_truncated", trap.frames_truncated},
                       {"places", std::move(places)}});
}

wago::Trap read_trap(JsonReader reader) {
  auto lines = std::make_shared<ToldLines>();
  reader.array("places", [&](JsonReader& place) {
    std::vector<wago::SourceFrame>& source = lines->places[place.u32("module_offset")];
    place.array("source", [&](JsonReader& one) { source.push_back(read_source(one)); });
  });
  wago::Trap trap;
  trap.code = base::read_word<base::TrapCode>(reader, "code", base::spellings<base::TrapCode>());
  trap.message = reader.string("message");
  reader.array("frames", [&](JsonReader& frame) {
    trap.frames.push_back({.function = frame.u32("function"),
                           .wasm_pc = frame.u32("wasm_pc"),
                           .module_offset = frame.u32("module_offset"),
                           .name = frame.string("name"),
                           .inlined = frame.boolean("inlined"),
                           .host = frame.boolean("host"),
                           .debug_info = lines});
  });
  trap.frames_truncated = reader.boolean("frames_truncated");
  return trap;
}

}  // namespace

std::string message_kind(const Json& message) {
  const Json* kind = message.find("kind");
  return kind && kind->is_string() ? kind->as_string() : "";
}

namespace {

Json to_json(const RecordSettings& settings) {
  return Json::object({{"spill_everything", settings.spill_everything},
                       {"code_offset", settings.code_offset},
                       {"reload_artifact", settings.reload_artifact},
                       {"source_maps", settings.source_maps},
                       {"unwind_maps", settings.unwind_maps},
                       {"include_code", settings.include_code},
                       {"counters", settings.counters},
                       {"stack_bytes", settings.stack_bytes},
                       {"timeline", settings.timeline},
                       {"max_spans", settings.max_spans}});
}

RecordSettings read_settings(JsonReader reader) {
  RecordSettings settings;
  settings.spill_everything = reader.boolean("spill_everything");
  settings.code_offset = reader.u32("code_offset");
  settings.reload_artifact = reader.boolean("reload_artifact");
  settings.source_maps = reader.boolean("source_maps");
  settings.unwind_maps = reader.boolean("unwind_maps");
  settings.include_code = reader.boolean("include_code");
  settings.counters = reader.boolean("counters");
  settings.stack_bytes = reader.u32("stack_bytes");
  settings.timeline = reader.boolean("timeline");
  settings.max_spans = reader.u64("max_spans");
  return settings;
}

}  // namespace

// A workload travels as the catalog that declares it; its module as it was named, so that messages name it
// so.
Json to_json(const Request& message) {
  return Json::object({{"kind", "request"},
                       {"module", message.workload.module_path},
                       {"catalog", capture::to_catalog_text("request", {message.workload})},
                       {"settings", to_json(message.settings)},
                       {"rate_hz", message.rate_hz}});
}

base::Result<Request> read_request(const Json& message) {
  JsonReader reader(message, kSource);
  Request request;
  std::string module = reader.string("module"), catalog = reader.string("catalog");
  request.settings = read_settings(reader.object("settings"));
  request.rate_hz = reader.u64("rate_hz");
  if (reader.error()) return *reader.error();
  auto parsed = capture::parse_catalog(catalog, kSource);
  if (!parsed) return parsed.error();
  if (parsed->workloads.size() != 1) return base::failed("a request is for one workload");
  request.workload = std::move(parsed->workloads[0]);
  request.workload.module_path = module;
  return request;
}

Json to_json(const Ready& message) {
  return Json::object({{"kind", "ready"},
                       {"module_bytes", message.module_bytes},
                       {"code_section_bytes", message.code_section_bytes},
                       {"guest_stack_bytes", message.guest_stack_bytes},
                       {"module_sha256", message.module_sha256}});
}

base::Result<Ready> read_ready(const Json& message) {
  JsonReader reader(message, kSource);
  Ready ready;
  ready.module_bytes = reader.u64("module_bytes");
  ready.code_section_bytes = reader.u64("code_section_bytes");
  ready.guest_stack_bytes = reader.u64("guest_stack_bytes");
  ready.module_sha256 = reader.string("module_sha256");
  return checked(reader, std::move(ready));
}

Json to_json(const Go& message) {
  return Json::object({{"kind", "go"},
                       {"directory", message.directory},
                       {"device", message.id.device},
                       {"inode", message.id.inode}});
}

base::Result<Go> read_go(const Json& message) {
  JsonReader reader(message, kSource);
  Go go{reader.string("directory"), {reader.u64("device"), reader.u64("inode")}};
  return checked(reader, std::move(go));
}

Json to_json(const Done& message) {
  Json phases = Json::array(), files = Json::array(), diagnostics = Json::array();
  for (const capture::PhaseRecord& phase : message.phases) phases.push(phase_json(phase));
  for (const std::string& file : message.files) files.push(file);
  for (const std::string& sentence : message.diagnostics) diagnostics.push(sentence);
  return Json::object({{"kind", "done"},
                       {"phases", std::move(phases)},
                       {"iterations", message.iterations},
                       {"invocations", message.invocations},
                       {"wall_ns", message.wall_ns},
                       {"cpu_ns", message.cpu_ns},
                       {"start_monotonic_ns", message.start_monotonic_ns},
                       {"code_sha256", message.code_sha256},
                       {"files", std::move(files)},
                       {"event", message.event},
                       {"collector_version", message.collector_version},
                       {"diagnostics", std::move(diagnostics)},
                       {"lost_samples", message.losses.samples},
                       {"lost_spans", message.losses.spans},
                       {"lost_journal_records", message.losses.journal_records}});
}

base::Result<Done> read_done(const Json& message) {
  JsonReader reader(message, kSource);
  Done done;
  reader.array("phases", [&](JsonReader& phase) { done.phases.push_back(read_phase(phase)); });
  done.iterations = reader.u64("iterations");
  done.invocations = reader.u64("invocations");
  done.wall_ns = reader.u64("wall_ns");
  done.cpu_ns = reader.u64("cpu_ns");
  done.start_monotonic_ns = reader.u64("start_monotonic_ns");
  done.code_sha256 = reader.string("code_sha256");
  reader.array("files", [&](JsonReader& file) { done.files.push_back(file.as_string()); });
  done.event = reader.string("event");
  done.collector_version = reader.string("collector_version");
  reader.array("diagnostics",
               [&](JsonReader& sentence) { done.diagnostics.push_back(sentence.as_string()); });
  done.losses.samples = reader.u64("lost_samples");
  done.losses.spans = reader.u64("lost_spans");
  done.losses.journal_records = reader.u64("lost_journal_records");
  return checked(reader, std::move(done));
}

Json to_json(const Failure& message) {
  return Json::object({{"kind", "failure"},
                       {"error", error_json(message.error)},
                       {"stored", message.stored},
                       {"trap", message.trap ? trap_json(*message.trap) : Json()}});
}

base::Result<Failure> read_failure(const Json& message) {
  JsonReader reader(message, kSource);
  Failure failure;
  failure.error = read_error(reader.object("error"));
  failure.stored = reader.string("stored");
  if (auto trap = reader.optional_object("trap")) failure.trap = read_trap(*trap);
  return checked(reader, std::move(failure));
}

}  // namespace wago::harness
