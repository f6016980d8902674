#include "capture/experiment.h"

#include <optional>
#include <set>
#include <utility>

#include "base/json.h"
#include "base/plural.h"
#include "base/sha256.h"
#include "base/text.h"

namespace wago::capture {

namespace {

using base::Error;
using base::Json;
using base::JsonReader;

constexpr std::array<std::string_view, 2> kSideWords = {"baseline", "candidate"};
constexpr std::array<std::string_view, 2> kStateWords = {"measured", "failed"};
constexpr std::array<std::string_view, 3> kDirtyWords = {"clean", "dirty", "unknown"};
static_assert(static_cast<int>(base::Dirty::Clean) == 0 && static_cast<int>(base::Dirty::Dirty) == 1 &&
              static_cast<int>(base::Dirty::Unknown) == 2);

// Columns of a side's turns.
struct TurnColumn {
  std::string_view name;
  uint64_t (*get)(const Turn&);
  void (*set)(Turn&, uint64_t);
  uint64_t max;
};
constexpr std::array<TurnColumn, 5> kTurnColumns = {{
    {"start_ns", [](const Turn& t) { return t.start_ns; }, [](Turn& t, uint64_t v) { t.start_ns = v; },
     UINT64_MAX},
    {"wall_ns", [](const Turn& t) { return t.wall_ns; }, [](Turn& t, uint64_t v) { t.wall_ns = v; },
     UINT64_MAX},
    {"cpu_ns", [](const Turn& t) { return t.cpu_ns; }, [](Turn& t, uint64_t v) { t.cpu_ns = v; }, UINT64_MAX},
    {"voluntary_switches", [](const Turn& t) { return uint64_t{t.voluntary_switches}; },
     [](Turn& t, uint64_t v) { t.voluntary_switches = static_cast<uint32_t>(v); }, UINT32_MAX},
    {"involuntary_switches", [](const Turn& t) { return uint64_t{t.involuntary_switches}; },
     [](Turn& t, uint64_t v) { t.involuntary_switches = static_cast<uint32_t>(v); }, UINT32_MAX},
}};

Json strings_json(std::span<const std::string> strings) {
  return Json::array(std::vector<Json>(strings.begin(), strings.end()));
}

std::vector<std::string> read_strings(JsonReader& reader, std::string_view key, uint64_t limit) {
  std::vector<std::string> strings;
  reader.array(
      key, [&](JsonReader& item) { strings.push_back(item.as_string()); }, true, limit);
  return strings;
}

// Of both sides, in order.
std::array<std::string, 2> read_both(JsonReader& reader, std::string_view key) {
  const std::vector<std::string> strings = read_strings(reader, key, 2);
  if (strings.size() == 2) return {strings[0], strings[1]};
  reader.fail("must have two elements, baseline and candidate", key);
  return {};
}

Json side_json(const SideRecord& side) {
  return Json::object({{"program", side.program},
                       {"program_version", side.program_version},
                       {"revision", side.revision},
                       {"dirty", kDirtyWords.at(static_cast<size_t>(side.dirty))},
                       {"runner_id", side.runner_id},
                       {"protocol", side.protocol},
                       {"setting", side.setting},
                       {"sanitized", side.sanitized},
                       {"slowdown_ppm", side.slowdown_ppm}});
}

SideRecord read_side(JsonReader reader) {
  SideRecord side;
  side.program = reader.string("program");
  side.program_version = reader.string("program_version");
  side.revision = reader.string("revision");
  side.dirty = base::read_word<base::Dirty>(reader, "dirty", kDirtyWords);
  side.runner_id = reader.string("runner_id");
  side.protocol = reader.u64("protocol");
  side.setting = reader.string("setting");
  side.sanitized = reader.boolean("sanitized");
  side.slowdown_ppm = reader.u64("slowdown_ppm");
  return side;
}

Json workload_json(const ExperimentWorkload& workload) {
  return Json::object({{"id", workload.id},
                       {"catalog", workload.catalog},
                       {"labels", strings_json(workload.labels)},
                       {"control", workload.control},
                       {"contract_sha256", workload.contract_sha256},
                       {"module_sha256", strings_json(workload.module_sha256)},
                       {"code_sha256", strings_json(workload.code_sha256)},
                       {"calls_per_iteration", workload.calls_per_iteration},
                       {"iteration_ns", workload.iteration_ns},
                       {"state", kStateWords.at(static_cast<size_t>(workload.state))},
                       {"diagnostic", workload.diagnostic},
                       {"captures", strings_json(workload.captures)}});
}

ExperimentWorkload read_workload(JsonReader& reader, const ExperimentLimits& limits) {
  ExperimentWorkload workload;
  workload.id = reader.string("id");
  workload.catalog = reader.string("catalog");
  workload.labels = read_strings(reader, "labels", limits.workloads);
  workload.control = reader.boolean("control");
  workload.contract_sha256 = reader.string("contract_sha256");
  workload.module_sha256 = read_both(reader, "module_sha256");
  workload.code_sha256 = read_both(reader, "code_sha256");
  workload.calls_per_iteration = reader.u64("calls_per_iteration");
  workload.iteration_ns = reader.u64("iteration_ns");
  workload.state = base::read_word<WorkloadState>(reader, "state", kStateWords);
  workload.diagnostic = reader.string("diagnostic");
  workload.captures = read_both(reader, "captures");
  // They are opened.
  for (const std::string& path : workload.captures) {
    if (path.starts_with('/') || path.find("..") != std::string::npos) {
      reader.fail("must be paths inside the experiment", "captures");
    }
  }
  return workload;
}

Json turns_json(const std::vector<Turn>& turns) {
  Json json;
  for (const TurnColumn& column : kTurnColumns) {
    std::vector<Json> values;
    values.reserve(turns.size());
    for (const Turn& turn : turns) values.emplace_back(column.get(turn));
    json.append(std::string(column.name), Json::array(std::move(values)));
  }
  return json;
}

std::vector<Turn> read_turns(JsonReader reader, const ExperimentLimits& limits) {
  std::vector<Turn> turns;
  for (const TurnColumn& column : kTurnColumns) {
    const Json* values = reader.raw(column.name);
    if (!values || !values->is_array()) {
      reader.fail("must be an array", column.name);
      return {};
    }
    if (values->items().size() > limits.turns) {
      reader.fail("exceeds the limit turns (" + std::to_string(limits.turns) + ")", column.name);
      return {};
    }
    if (&column == kTurnColumns.data()) turns.resize(values->items().size());
    if (values->items().size() != turns.size()) {
      reader.fail("must be as long as " + std::string(kTurnColumns[0].name), column.name);
      return {};
    }
    for (size_t i = 0; i < turns.size(); ++i) {
      const auto value = values->items()[i].to_u64();
      if (!value || *value > column.max) {
        reader.fail("must hold integers from 0 to " + std::to_string(column.max), column.name);
        return {};
      }
      column.set(turns[i], *value);
    }
  }
  return turns;
}

Pair read_pair(JsonReader& reader, const Experiment& experiment, const ExperimentLimits& limits) {
  Pair pair;
  pair.workload = reader.u32("workload");
  if (pair.workload >= experiment.workloads.size()) {
    reader.fail("must be the number of a workload of the experiment", "workload");
  }
  pair.round = reader.u32("round");
  pair.code_offset = reader.u32("code_offset");
  if (pair.code_offset % 16 != 0 || pair.code_offset > 48)
    reader.fail("must be 0, 16, 32 or 48", "code_offset");
  pair.first = base::read_word<ExperimentSide>(reader, "first", kSideWords);
  // Older experiments lack it: there it was the baseline's.
  if (const auto side = reader.optional_word("loaded_first", kSideWords))
    pair.loaded_first = static_cast<ExperimentSide>(*side);
  pair.padding_bytes = reader.u32("padding_bytes");
  if (auto addresses = reader.optional_object("addresses")) {
    pair.addresses = {.stack = addresses->u64("stack"), .memory = addresses->u64("memory")};
    JsonReader code = addresses->object("code");
    for (ExperimentSide side : kExperimentSides) {
      pair.addresses->code[index_of(side)] = code.u64(spelling(side));
    }
  }
  pair.cpu = reader.u32("cpu");
  pair.iterations_per_turn = reader.u64("iterations_per_turn");
  if (pair.iterations_per_turn == 0) reader.fail("must be at least 1", "iterations_per_turn");
  pair.sliced = reader.boolean("sliced");
  for (ExperimentSide side : kExperimentSides) {
    pair.turns[index_of(side)] = read_turns(reader.object(spelling(side)), limits);
  }
  if (pair.turns[0].size() != pair.turns[1].size()) reader.fail("both sides must have as many turns");
  return pair;
}

// Whether its files have seals.
bool is_sealed(const Experiment& experiment) {
  return experiment.version >= 2;
}

// What is wrong with a file whose seal does not fit. Who has it from elsewhere can ask for it again.
constexpr const char* kEdited =
    "was changed after it was measured, since its sha256 is another: use it as it was written, or measure "
    "again";
// And of one that would do without: what was sealed does not become unsealed by saying so.
constexpr const char* kSealInFirstVersion =
    "was changed after it was measured, since it has a sha256, which version 1 has not: use it as it was "
    "written, or measure again";
constexpr std::string_view kSeal = "sha256";

// Between a sealed object and its end.
struct SealStyle {
  std::string_view before;  // the digits
  std::string_view after;
};
constexpr SealStyle kLineSeal = {",\"sha256\":\"", "\"}"};
constexpr SealStyle kFileSeal = {",\n \"sha256\": \"", "\"\n}\n"};
constexpr size_t kDigits = 2 * sizeof(base::Digest);

std::string digits_of(std::string_view before, std::string_view open) {
  base::Sha256 hash;
  hash.update_field(before);
  hash.update(open);
  return base::to_hex(hash.finish());
}

// An object's text up to the seal that it ends with, or nothing where it ends otherwise.
std::optional<std::string_view> before_seal(std::string_view text, const SealStyle& style) {
  const size_t length = style.before.size() + kDigits + style.after.size();
  if (text.size() < length) return {};
  const std::string_view seal = text.substr(text.size() - length);
  if (!seal.starts_with(style.before) || !seal.ends_with(style.after)) return {};
  return text.substr(0, text.size() - length);
}

std::string_view digits_in(std::string_view text, const SealStyle& style) {
  return text.substr(text.size() - style.after.size() - kDigits, kDigits);
}

bool has_seal(std::string_view text, std::string_view before, const SealStyle& style) {
  const auto open = before_seal(text, style);
  return open && digits_in(text, style) == digits_of(before, *open);
}

// `text` is an object as it would end without a seal.
std::string sealed(std::string text, std::string_view end, std::string_view before, const SealStyle& style) {
  text.resize(text.size() - end.size());
  const std::string digits = digits_of(before, text);
  return text.append(style.before).append(digits).append(style.after);
}

std::string pair_text(const Pair& pair) {
  Json json = Json::object({{"workload", pair.workload},
                            {"round", pair.round},
                            {"code_offset", pair.code_offset},
                            {"first", spelling(pair.first)},
                            {"loaded_first", spelling(pair.loaded_first)},
                            {"padding_bytes", pair.padding_bytes}});
  if (pair.addresses) {
    const auto& [stack, memory, code] = *pair.addresses;
    Json code_json = Json::object({{"baseline", code[0]}, {"candidate", code[1]}});
    json.set("addresses",
             Json::object({{"stack", stack}, {"memory", memory}, {"code", std::move(code_json)}}));
  }
  json.set("cpu", pair.cpu);
  json.set("iterations_per_turn", pair.iterations_per_turn);
  json.set("sliced", pair.sliced);
  json.set("baseline", turns_json(pair.turns[0]));
  json.set("candidate", turns_json(pair.turns[1]));
  return json.dump();
}

}  // namespace

std::string_view spelling(ExperimentSide side) {
  return kSideWords.at(index_of(side));
}

std::string to_json_text(const Experiment& experiment) {
  Json sides = Json::array();
  for (const SideRecord& side : experiment.sides) sides.push(side_json(side));
  Json workloads = Json::array();
  for (const ExperimentWorkload& workload : experiment.workloads) workloads.push(workload_json(workload));
  const Json json = Json::object({{"version", experiment.version},
                                  {"complete", experiment.complete},
                                  {"diagnostics", strings_json(experiment.diagnostics)},
                                  {"sides", std::move(sides)},
                                  {"target", experiment.target},
                                  {"cpu_model", experiment.cpu_model},
                                  {"os_version", experiment.os_version},
                                  {"logical_cpus", experiment.logical_cpus},
                                  {"start_unix_ns", experiment.start_unix_ns},
                                  {"budget_ns", experiment.budget_ns},
                                  {"elapsed_ns", experiment.elapsed_ns},
                                  {"pairs", experiment.pairs},
                                  {"seed", experiment.seed},
                                  {"workloads", std::move(workloads)}});
  std::string text = json.dump(1) + "\n";
  return is_sealed(experiment) ? sealed(std::move(text), "\n}\n", {}, kFileSeal) : text;
}

base::Result<Experiment> parse_experiment(std::string_view text, const std::string& file,
                                          const ExperimentLimits& limits) {
  auto json = base::parse_json(text, file, {.bytes = limits.manifest_bytes, .depth = 16});
  if (!json) return json.error();
  JsonReader root(*json, file);
  Experiment experiment;
  experiment.version = root.u64("version");
  if (root.error()) return *root.error();
  if (auto known = check_version(experiment.version, file, kOldestExperimentVersion, kExperimentVersion);
      !known)
    return known.error();
  experiment.complete = root.boolean("complete");
  experiment.diagnostics = read_strings(root, "diagnostics", limits.workloads);
  size_t sides = 0;
  root.array(
      "sides",
      [&](JsonReader& side) {
        SideRecord record = read_side(side);
        if (sides < experiment.sides.size()) experiment.sides[sides] = std::move(record);
        ++sides;
      },
      true, 2);
  if (!root.failed() && sides != 2) root.fail("must have two elements, baseline and candidate", "sides");
  experiment.target = root.string("target");
  experiment.cpu_model = root.string("cpu_model");
  experiment.os_version = root.string("os_version");
  experiment.logical_cpus = root.u64("logical_cpus");
  experiment.start_unix_ns = root.u64("start_unix_ns");
  experiment.budget_ns = root.u64("budget_ns");
  experiment.elapsed_ns = root.u64("elapsed_ns");
  experiment.pairs = root.optional_u64("pairs").value_or(0);
  experiment.seed = root.u64("seed");
  root.array(
      "workloads",
      [&](JsonReader& workload) { experiment.workloads.push_back(read_workload(workload, limits)); }, true,
      limits.workloads);
  if (root.error()) return *root.error();
  if (!is_sealed(experiment)) {
    if (json->find(kSeal)) return base::usage_error(kSealInFirstVersion, {.file = file});
  } else if (!has_seal(text, {}, kFileSeal)) {
    return base::usage_error(kEdited, {.file = file});
  }
  return experiment;
}

PairLines::PairLines(const Experiment& experiment) : sealed_(is_sealed(experiment)) {
  before_ = std::to_string(experiment.start_unix_ns) + " " + std::to_string(experiment.seed);
}

std::string PairLines::next(const Pair& pair) {
  std::string line = pair_text(pair);
  if (sealed_) {
    line = sealed(std::move(line), "}", before_, kLineSeal);
    before_ = digits_in(line, kLineSeal);
  }
  return line + "\n";
}

bool PairLines::is_next(std::string_view line) {
  if (!sealed_) return true;
  if (!has_seal(line, before_, kLineSeal)) return false;
  before_ = digits_in(line, kLineSeal);
  return true;
}

base::Result<PairsRead> parse_pairs(std::string_view text, const Experiment& experiment,
                                    const std::string& file, const ExperimentLimits& limits) {
  PairsRead read{.pairs = {}, .lines = PairLines(experiment)};
  std::set<std::pair<uint32_t, uint32_t>> seen;  // round and workload
  for (size_t end; (end = text.find('\n', read.whole_bytes)) != std::string_view::npos;) {
    const std::string_view line = text.substr(read.whole_bytes, end - read.whole_bytes);
    const base::Place place{.file = file, .section = "line " + std::to_string(read.pairs.size() + 1)};
    auto in_line = [&](Error error) {
      error.place.section = place.section;
      return error;
    };
    if (read.pairs.size() == limits.pairs) {
      return base::usage_error("exceeds the limit pairs (" + std::to_string(limits.pairs) + ")",
                               {.file = file});
    }
    auto json = base::parse_json(line, file, {.bytes = limits.pairs_bytes, .depth = 8});
    if (!json) return in_line(json.error());
    JsonReader reader(*json, file);
    Pair pair = read_pair(reader, experiment, limits);
    if (!reader.failed() && !seen.emplace(pair.round, pair.workload).second) {
      reader.fail("is a second pair of one workload in one round");
    }
    if (reader.error()) return in_line(*reader.error());
    if (!is_sealed(experiment) && json->find(kSeal)) {
      return base::usage_error(kSealInFirstVersion, place);
    }
    if (!read.lines.is_next(line)) return base::usage_error(kEdited, place);
    read.pairs.push_back(std::move(pair));
    read.whole_bytes = end + 1;
  }
  return read;
}

std::string explain_capture(const std::string& workload, ExperimentSide side, ExplainPart part) {
  return workload + "." + std::string(spelling(side)) +
         (part == ExplainPart::Exact ? ".exact.wagoprof" : ".sampled.wagoprof");
}

base::Result<size_t> find_workload(const Experiment& experiment, std::string_view id,
                                   const std::string& file) {
  std::vector<std::string_view> known;
  for (size_t i = 0; i < experiment.workloads.size(); ++i) {
    if (experiment.workloads[i].control) continue;
    if (experiment.workloads[i].id == id) return i;
    known.push_back(experiment.workloads[i].id);
  }
  return base::usage_error("has no workload " + base::display(id) + "; it has " + base::join_some(known),
                           {.file = file});
}

bool is_experiment(const std::string& path, base::Files& files) {
  return files.exists(base::join_path(path, kExperimentFile));
}

base::Result<ExperimentContents> read_experiment(const std::string& path, base::Files& files,
                                                 const ExperimentLimits& limits) {
  if (!files.exists(path)) return base::usage_error("there is no such experiment", {.file = path});
  if (!is_experiment(path, files)) {
    return base::usage_error("is not an experiment: it has no " + std::string(kExperimentFile),
                             {.file = path});
  }
  const std::string manifest = base::join_path(path, kExperimentFile);
  auto text = files.read(manifest, limits.manifest_bytes);
  if (!text) return text.error();
  auto experiment = parse_experiment(base::as_text(*text), manifest, limits);
  if (!experiment) return experiment.error();
  const std::string pairs_file = base::join_path(path, kPairsFile);
  auto lines = files.read(pairs_file, limits.pairs_bytes);
  if (!lines) return lines.error();
  auto pairs = parse_pairs(base::as_text(*lines), *experiment, pairs_file, limits);
  if (!pairs) return pairs.error();
  if (pairs->pairs.size() < experiment->pairs) {
    return base::usage_error(
        "has " + base::plural(pairs->pairs.size(), "whole pair") + " where " +
            std::to_string(experiment->pairs) +
            " were measured: it was cut off; the command that measured them goes on from here",
        {.file = pairs_file});
  }
  return ExperimentContents{std::move(*experiment), std::move(pairs->pairs)};
}

}  // namespace wago::capture
