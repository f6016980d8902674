#include "capture/catalog.h"

#include <unordered_set>

#include "base/abilities.h"
#include "base/duration.h"
#include "base/json.h"
#include "base/slots.h"
#include "base/text.h"

namespace wago::capture {

namespace {

using base::Json;
using base::JsonReader;

// The members that `defaults` and every workload share.
struct Settings {
  std::optional<uint64_t> iterations;
  std::optional<uint64_t> duration_ns;
  std::optional<uint64_t> warmup;
  std::optional<base::Mode> mode;
  std::optional<base::Phase> phase;
  std::optional<base::Backend> backend;
  std::optional<base::Bounds> bounds;
  std::optional<uint64_t> level;
  std::optional<bool> interruptible;
};

template <class Word>
std::optional<Word> optional_word(JsonReader& reader, std::string_view key) {
  auto index = reader.optional_word(key, base::spellings<Word>());
  return index ? std::optional(static_cast<Word>(*index)) : std::nullopt;
}

Settings read_settings(JsonReader& reader) {
  Settings settings;
  settings.iterations = reader.optional_u64("iterations", UINT64_MAX, 1);
  if (auto text = reader.optional_string("duration")) {
    auto ns = base::parse_duration_ns(*text);
    if (ns) {
      settings.duration_ns = *ns;
    } else {
      reader.fail(ns.error(), "duration");
    }
  }
  if (settings.iterations && settings.duration_ns) {
    reader.fail("cannot be given together with duration", "iterations");
  }
  settings.warmup = reader.optional_u64("warmup");
  settings.mode = optional_word<base::Mode>(reader, "mode");
  settings.phase = optional_word<base::Phase>(reader, "phase");
  settings.backend = optional_word<base::Backend>(reader, "backend");
  settings.bounds = optional_word<base::Bounds>(reader, "bounds");
  settings.level = reader.optional_u64("level", base::kMaxLevel);
  settings.interruptible = reader.optional_boolean("interruptible");
  return settings;
}

void apply(const Settings& settings, Workload& workload) {
  // Naming either drops what the defaults said of the other.
  if (settings.iterations || settings.duration_ns) {
    workload.iterations = settings.iterations;
    workload.duration_ns = settings.duration_ns;
  }
  workload.warmup = settings.warmup.value_or(workload.warmup);
  workload.mode = settings.mode.value_or(workload.mode);
  workload.phase = settings.phase.value_or(workload.phase);
  workload.backend = settings.backend.value_or(workload.backend);
  workload.engine.bounds = settings.bounds.value_or(workload.engine.bounds);
  if (settings.level) workload.engine.level = static_cast<int>(*settings.level);
  workload.engine.interruptible = settings.interruptible.value_or(workload.engine.interruptible);
}

// Which part of a file is read.
struct Scope {
  std::string_view only;   // a workload's name; empty for all of them
  bool is_source = false;  // of a file that was made from it
};

class CatalogReader {
 public:
  CatalogReader(const std::string& file, const CatalogLimits& limits, const Scope& scope)
      : file_(file), limits_(limits), scope_(scope) {}

  base::Result<Catalog> read(const Json& json) {
    JsonReader root(json, file_);
    Catalog catalog;
    catalog.file = file_;
    const uint64_t version = root.u64("version");
    if (version != kCatalogVersion && !root.failed()) {
      root.fail("is " + std::to_string(version) + ", which is too " +
                    (version > kCatalogVersion ? "new" : "old") + "; this program reads version " +
                    std::to_string(kCatalogVersion),
                "version");
    }
    catalog.name = root.optional_string("catalog").value_or(stem());
    if (!is_workload_id(catalog.name)) {
      root.fail("'" + base::printable(catalog.name) + "' " + kNotAnId, "catalog");
    }
    if (root.optional_string("source") && scope_.is_source) {
      root.fail("cannot be given in a file that is a source itself", "source");
    }
    module_directory_ = base::directory_of(file_);
    if (auto directory = root.optional_string("module_directory")) {
      module_directory_ = base::join_path(module_directory_, *directory);
    }
    if (auto defaults = root.optional_object("defaults")) {
      defaults_ = read_settings(*defaults);
      defaults->refuse_unknown();
    }
    root.array(
        "workloads",
        [&](JsonReader& entry) {
          if (is_wanted(entry.json())) catalog.workloads.push_back(read_workload(entry));
        },
        true, limits_.workloads);
    root.refuse_unknown();
    if (root.error()) return *root.error();
    return catalog;
  }

 private:
  std::string stem() const {
    std::string name = base::base_name(file_);
    return name.substr(0, name.find('.'));
  }

  bool is_wanted(const Json& workload) const {
    if (scope_.only.empty()) return true;
    const Json* id = workload.find("id");
    return id && id->is_string() && id->as_string() == scope_.only;
  }

  Workload read_workload(JsonReader& reader) {
    Workload workload;
    workload.id = reader.string("id");
    if (!is_workload_id(workload.id)) reader.fail("'" + base::printable(workload.id) + "' " + kNotAnId, "id");
    if (!ids_.insert(workload.id).second) {
      reader.fail("two workloads are named " + base::display(workload.id), "id");
    }
    workload.description = reader.optional_string("description").value_or("");
    workload.module_path = base::join_path(module_directory_, reader.string("module"));
    if (auto hex = reader.optional_string("module_sha256")) {
      workload.module_sha256 = base::parse_digest(*hex);
      if (!workload.module_sha256) reader.fail("must be 64 hexadecimal digits", "module_sha256");
    }
    workload.init = reader.optional_string("init");
    reader.array(
        "calls", [&](JsonReader& call) { workload.calls.push_back(read_call(call)); }, true, limits_.calls);
    workload.items_per_iteration = reader.optional_u64("items_per_iteration").value_or(0);
    workload.bytes_per_iteration = reader.optional_u64("bytes_per_iteration").value_or(0);
    reader.array(
        "labels", [&](JsonReader& label) { workload.labels.push_back(label.as_string()); }, false, 1'000);
    apply(defaults_, workload);
    apply(read_settings(reader), workload);
    reader.refuse_unknown();
    if (auto checked = check(workload); !checked && !reader.failed()) reader.fail(checked.error());
    return workload;
  }

  Call read_call(JsonReader& reader) {
    Call call;
    call.export_name = reader.string("export");
    if (call.export_name.size() > limits_.name_bytes) {
      reader.fail("exceeds the limit name_bytes (" + std::to_string(limits_.name_bytes) + ")", "export");
    }
    read_slots(reader, "args", false, call.args, call.arg_types);
    call.want_trap = optional_word<base::TrapCode>(reader, "want_trap");
    bool wants_results = reader.raw("want") != nullptr;
    if (wants_results && call.want_trap) {
      reader.fail("cannot be given together with want_trap", "want");
    } else if (!call.want_trap && !wants_results) {
      reader.fail("is missing; it must be an array of slots ([] for no result), unless want_trap is given",
                  "want");
    }
    if (!call.want_trap) read_slots(reader, "want", true, call.want, call.want_types);
    reader.refuse_unknown();
    return call;
  }

  void read_slots(JsonReader& reader, std::string_view key, bool required, std::vector<uint64_t>& values,
                  std::vector<base::SlotType>& types) {
    base::Slots slots;
    auto read_one = [&](JsonReader& item) {
      if (auto integer = item.json().to_u64()) {
        slots.append({{*integer}, {base::SlotType::Any}});
      } else if (item.json().is_string()) {
        auto parsed = base::parse_slot(item.json().as_string());
        if (!parsed) return item.fail(parsed.error());
        slots.append(*parsed);
      } else {
        item.fail(
            std::string("must be a slot: an unsigned 64-bit integer, or a string such as \"i32:-1\", not ") +
            item.json().type_name());
      }
    };
    reader.array(key, read_one, required, limits_.slots);
    types = slots.stated_types();
    values = std::move(slots.values);
  }

  const std::string& file_;
  const CatalogLimits& limits_;
  const Scope& scope_;
  std::string module_directory_;
  Settings defaults_;
  std::unordered_set<std::string> ids_;
};

Json slots_json(const std::vector<uint64_t>& values, const std::vector<base::SlotType>& types) {
  if (types.empty()) return Json::array(std::vector<Json>(values.begin(), values.end()));
  Json list = Json::array();
  for (const std::string& text : base::spell_slots({values, types})) list.push(text);
  return list;
}

Json call_json(const Call& call) {
  Json json = Json::object({{"export", call.export_name}, {"args", slots_json(call.args, call.arg_types)}});
  if (call.want_trap) return json.set("want_trap", base::spelling(*call.want_trap));
  return json.set("want", slots_json(call.want, call.want_types));
}

Json workload_json(const Workload& workload) {
  Json json = Json::object({{"id", workload.id}, {"module", workload.module_path}});
  if (!workload.description.empty()) json.set("description", workload.description);
  if (workload.module_sha256) json.set("module_sha256", base::to_hex(*workload.module_sha256));
  if (workload.init) json.set("init", *workload.init);
  Json calls = Json::array();
  for (const Call& call : workload.calls) calls.push(call_json(call));
  json.set("calls", std::move(calls));
  if (workload.iterations) json.set("iterations", *workload.iterations);
  if (workload.duration_ns) json.set("duration", base::format_duration(*workload.duration_ns));
  json.set("warmup", workload.warmup);
  json.set("mode", base::spelling(workload.mode));
  json.set("phase", base::spelling(workload.phase));
  json.set("backend", base::spelling(workload.backend));
  json.set("bounds", base::spelling(workload.engine.bounds));
  json.set("level", workload.engine.level);
  json.set("interruptible", workload.engine.interruptible);
  json.set("items_per_iteration", workload.items_per_iteration);
  json.set("bytes_per_iteration", workload.bytes_per_iteration);
  json.set("labels", Json::array(std::vector<Json>(workload.labels.begin(), workload.labels.end())));
  return json;
}

}  // namespace

std::string to_catalog_text(const std::string& name, const std::vector<Workload>& workloads) {
  Json list = Json::array();
  for (const Workload& workload : workloads) list.push(workload_json(workload));
  Json root = Json::object({{"version", kCatalogVersion}, {"catalog", name}});
  root.set("workloads", std::move(list));
  return root.dump(2) + "\n";
}

base::Result<Workload> Catalog::find(std::string_view id) const {
  for (const Workload& workload : workloads) {
    if (workload.id == id) return workload;
  }
  return base::usage_error("has no workload " + base::display(id) + "; " + candidates(), {.file = file});
}

std::string Catalog::candidates() const {
  if (workloads.empty()) return "it declares none";
  std::vector<std::string_view> ids;
  for (const Workload& workload : workloads) ids.push_back(workload.id);
  return "it has " + base::join_some(ids);
}

namespace {

base::Result<Json> parse(std::string_view text, const std::string& file, const CatalogLimits& limits) {
  return base::parse_json(text, file, {.bytes = limits.bytes, .depth = 16});
}

base::Result<Catalog> read(const std::string& path, base::Files& files, const CatalogLimits& limits,
                           const Scope& scope) {
  auto bytes = files.read(path, limits.bytes);
  if (!bytes) return bytes.error();
  auto json = parse(base::as_text(*bytes), path, limits);
  if (!json) return json.error();
  const Json* source = json->find("source");
  if (source && source->is_string() && !scope.is_source) {
    // First: a mistake there is one here as well, and there it can be mended.
    auto checked = read(base::join_path(base::directory_of(path), source->as_string()), files, limits,
                        {.only = scope.only, .is_source = true});
    if (!checked) return checked.error();
  }
  return CatalogReader(path, limits, scope).read(*json);
}

}  // namespace

base::Result<Catalog> parse_catalog(std::string_view text, const std::string& file,
                                    const CatalogLimits& limits) {
  auto json = parse(text, file, limits);
  if (!json) return json.error();
  return CatalogReader(file, limits, {}).read(*json);
}

base::Result<Catalog> read_catalog(const std::string& path, base::Files& files, const CatalogLimits& limits) {
  return read(path, files, limits, {});
}

base::Result<Catalog> read_catalog_for(std::string_view id, const std::string& path, base::Files& files) {
  return read(path, files, {}, {.only = id});
}

}  // namespace wago::capture
