#include "capture/workload.h"

#include <algorithm>

#include "base/abilities.h"
#include "base/text.h"

namespace wago::capture {

namespace {

using base::usage_error;

void hash_slots(base::Sha256& hash, const std::vector<uint64_t>& slots) {
  hash.update_u64(slots.size());
  for (uint64_t slot : slots) hash.update_u64(slot);
}

base::Result<void> check_export(const std::string& name) {
  if (base::is_utf8(name)) return {};
  return usage_error("the export " + base::display(name) + " is not UTF-8, as names of exports are");
}

}  // namespace

bool is_workload_id(std::string_view id) {
  auto is_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return !id.empty() && id.size() <= base::kMaxNameBytes && is_word(id.front()) &&
         std::all_of(id.begin(), id.end(),
                     [&](char c) { return is_word(c) || c == '.' || c == '_' || c == '-'; });
}

base::Result<void> check(const Workload& workload) {
  if (!is_workload_id(workload.id)) {
    return usage_error("'" + base::printable(workload.id) + "' " + kNotAnId);
  }
  if (workload.calls.empty()) return usage_error("a workload needs at least one call");
  if (workload.iterations && workload.duration_ns) {
    return usage_error("iterations and a duration exclude one another: name one");
  }
  if (workload.iterations && *workload.iterations == 0) return usage_error("iterations must be at least 1");
  if (workload.duration_ns && *workload.duration_ns == 0)
    return usage_error("the duration must be above zero");
  if (workload.engine.level < 0 || static_cast<uint64_t>(workload.engine.level) > base::kMaxLevel) {
    return usage_error("level must be from 0 to " + std::to_string(base::kMaxLevel) + ", not " +
                       std::to_string(workload.engine.level));
  }
  if (workload.init) {
    if (auto named = check_export(*workload.init); !named) return named;
  }
  for (const Call& call : workload.calls) {
    if (auto named = check_export(call.export_name); !named) return named;
    if (call.want_trap && !call.want.empty()) {
      return usage_error("a call wants results or a trap, not both");
    }
  }
  return {};
}

base::Digest contract_sha256(const Workload& workload) {
  base::Sha256 hash;
  hash.update_field("wago workload contract 1");
  hash.update_field(workload.init ? "init" : "no init");
  hash.update_field(workload.init.value_or(""));
  hash.update_u64(workload.calls.size());
  for (const Call& call : workload.calls) {
    hash.update_field(call.export_name);
    hash_slots(hash, call.args);
    hash.update_field(call.want_trap ? base::spelling(*call.want_trap) : "");
    hash_slots(hash, call.want);
  }
  return hash.finish();
}

}  // namespace wago::capture
