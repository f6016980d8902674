#include "cli/test_comparison.h"

#include "base/files.h"
#include "base/json.h"

namespace wago::cli::profile {

namespace {

using base::Json;

constexpr const char* kFile = "comparison.json";
constexpr uint64_t kVersion = 1;
constexpr uint64_t kMaxBytes = 1 << 20;

std::string file_of(const std::string& name, const std::string& run) {
  return base::join_path(base::join_path(run, name), kFile);
}

Json list_of(const std::vector<std::string>& paths) {
  Json list = Json::array();
  for (const std::string& path : paths) list.push(path);
  return list;
}

}  // namespace

base::Result<void> keep(const TestComparison& comparison, const std::string& run) {
  Json experiments = Json::array();
  for (const ComparedExperiment& experiment : comparison.experiments) {
    experiments.push(Json::object({{"name", experiment.name}, {"path", experiment.path}}));
  }
  Json captures = Json::array();
  for (const ComparedCaptures& one : comparison.captures) {
    captures.push(Json::object(
        {{"name", one.name}, {"baseline", list_of(one.baseline)}, {"candidate", list_of(one.candidate)}}));
  }
  const VerdictFlags& verdicts = comparison.verdicts;
  const Json json = Json::object({{"version", kVersion},
                                  {"comparison", comparison.name},
                                  {"experiments", std::move(experiments)},
                                  {"captures", std::move(captures)},
                                  {"confidence", verdicts.confidence},
                                  {"floor", verdicts.floor},
                                  {"margin", verdicts.margin},
                                  {"fail_on", verdicts.fail_on},
                                  {"instruction_floor", verdicts.instruction_floor}});
  return base::system_files().publish(file_of(comparison.name, run), base::as_bytes(json.dump(2) + "\n"));
}

base::Result<std::optional<TestComparison>> find_comparison(const std::string& name, const std::string& run) {
  base::Files& files = base::system_files();
  const std::string file = file_of(name, run);
  std::optional<TestComparison> comparison;
  if (!files.exists(file)) return comparison;
  auto bytes = files.read(file, kMaxBytes);
  if (!bytes) return bytes.error();
  auto json = base::parse_json(base::as_text(*bytes), file);
  if (!json) return json.error();
  base::JsonReader reader(*json, file);
  comparison.emplace();
  if (reader.u64("version") != kVersion) reader.fail("is not 1: another version wrote it", "version");
  comparison->name = reader.string("comparison");
  reader.array("experiments", [&](base::JsonReader& experiment) {
    comparison->experiments.push_back({experiment.string("name"), experiment.string("path")});
  });
  reader.array("captures", [&](base::JsonReader& captures) {
    ComparedCaptures one{.name = captures.string("name")};
    captures.array("baseline", [&](base::JsonReader& path) { one.baseline.push_back(path.as_string()); });
    captures.array("candidate", [&](base::JsonReader& path) { one.candidate.push_back(path.as_string()); });
    comparison->captures.push_back(std::move(one));
  });
  comparison->verdicts.confidence = reader.optional_string("confidence");
  comparison->verdicts.floor = reader.optional_string("floor");
  comparison->verdicts.margin = reader.optional_string("margin");
  comparison->verdicts.fail_on = reader.optional_string("fail_on");
  comparison->verdicts.instruction_floor = reader.optional_string("instruction_floor");
  if (reader.failed()) return *reader.error();
  return comparison;
}

}  // namespace wago::cli::profile
