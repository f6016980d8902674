#include "cli/record_flags.h"

#include <algorithm>
#include <cctype>

#include "base/abilities.h"
#include "base/duration.h"
#include "base/files.h"
#include "base/slots.h"
#include "capture/catalog.h"
#include "cli/flags.h"
#include "harness/subject.h"

namespace wago::cli::profile {

namespace {

using base::Error;
using base::Result;
using base::usage_error;
using capture::Workload;

// "fib" for fib.wasm's export fib, "math.add" for another of math.wasm; made of what an id may hold.
std::string default_id(const std::string& module, const std::string& export_name) {
  std::string id = base::base_name(module);
  if (id.ends_with(".wasm")) id.resize(id.size() - 5);
  if (id != export_name) id += "." + export_name;
  for (char& c : id) {
    bool allowed = std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == '-';
    if (!allowed) c = '_';
  }
  if (!std::isalnum(static_cast<unsigned char>(id[0]))) id.insert(0, "w");
  return id.substr(0, base::kMaxNameBytes);
}

Result<Workload> workload_from_catalog(const RecordFlags& flags, std::string& catalog_name) {
  const std::pair<const char*, bool> kDeclared[] = {
      {"--module", flags.module.has_value()}, {"--export", flags.export_name.has_value()},
      {"--init", flags.init.has_value()},     {"--args", flags.args.has_value()},
      {"--want", flags.want.has_value()},     {"--want-trap", flags.want_trap.has_value()},
  };
  for (const auto& [flag, given] : kDeclared) {
    if (given) return usage_error(std::string(flag) + " cannot be given with --catalog, which declares it");
  }
  auto catalog = flags.declared_by_cmake && flags.workload
                     ? capture::read_catalog_for(*flags.workload, *flags.catalog)
                     : capture::read_catalog(*flags.catalog);
  if (!catalog) return catalog.error();
  catalog_name = catalog->name;
  if (flags.workload) return catalog->find(*flags.workload);
  return usage_error("--workload is missing: name a workload; " + catalog->candidates(),
                     {.file = *flags.catalog});
}

Result<capture::Call> call_of(const RecordFlags& flags) {
  capture::Call call;
  call.export_name = *flags.export_name;
  if (flags.args) {
    auto slots = base::parse_slots(*flags.args);
    if (!slots) return in_flag("--args", slots.error());
    call.args = slots->values;
    call.arg_types = slots->stated_types();
  }
  if (flags.want && flags.want_trap) return usage_error("--want and --want-trap exclude one another");
  if (flags.want_trap) {
    auto trap = parse_word<base::TrapCode>("--want-trap", *flags.want_trap);
    if (!trap) return trap.error();
    call.want_trap = *trap;
    return call;
  }
  if (!flags.want) {
    return usage_error("--want is missing: the slots that must come back, '[]' for none, or --want-trap");
  }
  auto slots = base::parse_slots(*flags.want);
  if (!slots) return in_flag("--want", slots.error());
  call.want = slots->values;
  call.want_types = slots->stated_types();
  return call;
}

Result<Workload> workload_from_flags(const RecordFlags& flags) {
  if (flags.workload) return usage_error("--workload names a workload of a catalog; --catalog is missing");
  if (!flags.module) return usage_error("--module is missing, or --catalog with --workload");
  if (!flags.export_name) return usage_error("--export is missing");
  auto call = call_of(flags);
  if (!call) return call.error();
  Workload workload;
  workload.id = default_id(*flags.module, *flags.export_name);
  workload.module_path = *flags.module;
  workload.init = flags.init;
  workload.calls = {std::move(*call)};
  return workload;
}

Result<void> apply_amount(const RecordFlags& flags, Workload& workload) {
  if (flags.iterations && flags.duration)
    return usage_error("--iterations and --duration exclude one another");
  if (flags.iterations) {
    auto count = parse_number("--iterations", *flags.iterations, 1, UINT64_MAX);
    if (!count) return count.error();
    workload.iterations = *count;
    workload.duration_ns.reset();
  }
  if (flags.duration) {
    auto duration = base::parse_duration_ns(*flags.duration);
    if (!duration) return in_flag("--duration", duration.error());
    workload.duration_ns = *duration;
    workload.iterations.reset();
  }
  if (flags.warmup) {
    auto count = parse_number("--warmup", *flags.warmup, 0, UINT64_MAX);
    if (!count) return count.error();
    workload.warmup = *count;
  }
  return {};
}

template <class Word>
Result<void> apply_word(const char* flag, const std::optional<std::string>& text, Word& word) {
  if (!text) return {};
  auto parsed = parse_word<Word>(flag, *text);
  if (!parsed) return parsed.error();
  word = *parsed;
  return {};
}

Result<void> apply_manner(const RecordFlags& flags, Workload& workload) {
  if (auto mode = apply_word("--mode", flags.mode, workload.mode); !mode) return mode;
  if (auto phase = apply_word("--phase", flags.phase, workload.phase); !phase) return phase;
  if (auto backend = apply_word("--backend", flags.backend, workload.backend); !backend) return backend;
  if (auto bounds = apply_word("--bounds", flags.bounds, workload.engine.bounds); !bounds) return bounds;
  if (flags.level) {
    auto level = parse_number("--level", *flags.level, 0, base::kMaxLevel);
    if (!level) return level.error();
    workload.engine.level = static_cast<int>(*level);
  }
  if (flags.interruptible) workload.engine.interruptible = true;
  return {};
}

// What only some collectors have.
Result<void> apply_collector(const RecordFlags& flags, harness::RecordRequest& request) {
  const bool perf = request.workload.backend == base::Backend::Perf;
  if (perf) request.settings.include_code = true;
  request.remove_map = flags.remove_map;
  if (flags.conversion_timeout) {
    auto timeout = base::parse_duration_ns(*flags.conversion_timeout);
    if (!timeout) return in_flag("--conversion-timeout", timeout.error());
    request.conversion_timeout_ns = *timeout;
  }
  if (!flags.stack_bytes) return {};
  auto bytes =
      parse_number("--stack-bytes", *flags.stack_bytes, harness::kMinStackBytes, harness::kMaxStackBytes);
  if (!bytes) return bytes.error();
  request.settings.stack_bytes = static_cast<uint32_t>(*bytes);
  return {};
}

}  // namespace

void RecordFlags::add_to(Command& command) {
  command.group("Workload");
  command.add_option("--catalog", "FILE", "A catalog of declared workloads, with --workload", &catalog);
  command.add_option("--workload", "ID", "The workload of the catalog", &workload);
  command.add_option("--module", "FILE", "A module, instead of a catalog", &module);
  command.add_option("--export", "NAME", "The function to call", &export_name);
  command.add_option("--init", "NAME", "A function called once before the first iteration", &init);
  command.add_option("--args", "SLOTS", "Arguments: 20 or i32:-1,f64:0x1p-3", &args);
  command.add_option("--want", "SLOTS", "Results that must come back; '[]' for none", &want);
  command.add_option("--want-trap", "TRAP", "The trap that must occur instead", &want_trap);
  command.group("Measurement");
  command.add_option("--iterations", "N", "Measured iterations, instead of a duration", &iterations);
  command.add_option("--duration", "D", "How long to measure (default 15s)", &duration);
  command.add_option("--warmup", "N", "Checked iterations before (default 5)", &warmup);
  command.add_option("--mode", "public|prepared",
                     "Look the export up for each call, or once (default public)", &mode);
  command.add_option("--phase", "PHASE",
                     "compile, reload, instantiate, initialize, execute (default), close, all", &phase);
  command.add_option("--backend", "NAME",
                     "The collector (default none): " + base::join(base::spellings<base::Backend>()),
                     &backend);
  command.add_option("--rate", "HZ", "Samples a second of CPU time (default 99)", &rate);
  command.add_option("--stack-bytes", "N", "Raw stack of each sample of backend perf: 256 to 65528",
                     &stack_bytes);
  command.add_flag("--remove-map", "Delete the map of backend perf-map at the end", &remove_map);
  command.add_flag("--counters", "Count cycles, instructions, cache and branch misses of the phase",
                   &counters);
  command.add_flag("--timeline",
                   "Keep when guests were entered and left, and the steps of their module's life", &timeline);
  command.add_option("--max-spans", "N", "How many of these a timeline holds (default 65536)", &max_spans);
  command.add_option("--collection-timeout", "D", "Limit on the whole process (default: the duration and 5m)",
                     &collection_timeout);
  command.add_option("--conversion-timeout", "D", "Limit on what collectors do afterwards (default 2m)",
                     &conversion_timeout);
  command.group("Engine");
  command.add_option("--bounds", "signals|explicit", "How memory accesses are checked (default signals)",
                     &bounds);
  command.add_option("--level", "N", "0: no optimisation passes, 1: all of them (default)", &level);
  command.add_flag("--interruptible", "Check for interruption in every loop", &interruptible);
  command.add_flag("--reload-artifact", "Serialise the compiled module, load it, run what was loaded",
                   &reload_artifact);
  command.group("Kept as well");
  command.add_flag("--source-maps", "Where all code comes from", &source_maps);
  command.add_flag("--unwind-maps", "How the frames of all code are left", &unwind_maps);
  command.add_flag("--include-code", "The machine code", &include_code);
  command.group("Output");
  command.add_option("--out", "DIR", "The capture; must not exist", &out);
  command.add_flag("--json", "Outcome and errors as JSON", &json);
}

Result<harness::RecordRequest> request_of(const RecordFlags& flags) {
  harness::RecordRequest request;
  auto workload = flags.catalog ? workload_from_catalog(flags, request.catalog) : workload_from_flags(flags);
  if (!workload) return workload.error();
  if (auto applied = apply_amount(flags, *workload); !applied) return applied.error();
  if (auto applied = apply_manner(flags, *workload); !applied) return applied.error();
  if (auto checked = capture::check(*workload); !checked) return checked.error();
  if (auto lacking = harness::unsupported(*workload)) {
    if (!flags.catalog) return *lacking;
    lacking->message = "workload " + workload->id + ": " + lacking->message;
    lacking->place.file = *flags.catalog;
    return *lacking;
  }
  if (flags.rate) {
    if (!base::samples(workload->backend)) {
      return usage_error("--rate is for backends that sample; backend " +
                         std::string(base::spelling(workload->backend)) + " does not");
    }
    auto rate = parse_number("--rate", *flags.rate, 1, harness::kMaxRateHz);
    if (!rate) return rate.error();
    request.rate_hz = *rate;
  }
  if (flags.max_spans) {
    if (!flags.timeline) return usage_error("--max-spans bounds a timeline; --timeline is missing");
    auto spans = parse_number("--max-spans", *flags.max_spans, 1, harness::kMaxSpans);
    if (!spans) return spans.error();
    request.settings.max_spans = *spans;
  }
  if (flags.collection_timeout) {
    auto timeout = base::parse_duration_ns(*flags.collection_timeout);
    if (!timeout) return in_flag("--collection-timeout", timeout.error());
    request.collection_timeout_ns = *timeout;
  }
  if (!flags.out || flags.out->empty()) return usage_error("--out is missing: the directory of the capture");
  request.out = *flags.out;
  request.settings.reload_artifact = flags.reload_artifact;
  request.settings.source_maps = flags.source_maps;
  request.settings.unwind_maps = flags.unwind_maps;
  request.settings.include_code = flags.include_code;
  request.settings.counters = flags.counters;
  request.settings.timeline = flags.timeline;
  request.workload = std::move(*workload);
  if (auto applied = apply_collector(flags, request); !applied) return applied.error();
  return request;
}

}  // namespace wago::cli::profile
