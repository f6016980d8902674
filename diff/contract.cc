#include "diff/contract.h"

#include "base/vocabulary.h"

namespace wago::diff {

namespace {

using capture::Manifest;

std::string text(const std::string& value) {
  return value;
}
std::string text(bool value) {
  return value ? "on" : "off";
}
std::string text(uint64_t value) {
  return std::to_string(value);
}
std::string text(uint32_t value) {
  return std::to_string(value);
}
std::string text(int value) {
  return std::to_string(value);
}
template <class Word>
requires std::is_enum_v<Word> std::string text(Word word) {
  return std::string(base::spelling(word));
}

struct Field {
  std::string_view name;
  std::string (*value)(const Manifest&);
};

// One line a field; names are the manifest's.
constexpr Field kFields[] = {
    {"contract_sha256", [](const Manifest& m) { return text(m.contract_sha256); }},
    {"target", [](const Manifest& m) { return text(m.target); }},
    {"cpu_model", [](const Manifest& m) { return text(m.cpu_model); }},
    {"os_version", [](const Manifest& m) { return text(m.os_version); }},
    {"logical_cpus", [](const Manifest& m) { return text(m.logical_cpus); }},
    {"backend", [](const Manifest& m) { return text(m.backend); }},
    {"event", [](const Manifest& m) { return text(m.event); }},
    {"phase_isolation", [](const Manifest& m) { return text(m.phase_isolation); }},
    {"capture_phase", [](const Manifest& m) { return text(m.capture_phase); }},
    {"invocation_mode", [](const Manifest& m) { return text(m.invocation_mode); }},
    {"requested_rate_hz", [](const Manifest& m) { return text(m.requested_rate_hz); }},
    {"warmup_iterations", [](const Manifest& m) { return text(m.warmup_iterations); }},
    {"effective_settings.bounds", [](const Manifest& m) { return text(m.effective_settings.engine.bounds); }},
    {"effective_settings.level", [](const Manifest& m) { return text(m.effective_settings.engine.level); }},
    {"effective_settings.interruptible",
     [](const Manifest& m) { return text(m.effective_settings.engine.interruptible); }},
    {"effective_settings.spill_everything",
     [](const Manifest& m) { return text(m.effective_settings.spill_everything); }},
    {"effective_settings.code_offset",
     [](const Manifest& m) { return text(m.effective_settings.code_offset); }},
    {"effective_settings.guest_stack_bytes",
     [](const Manifest& m) { return text(m.effective_settings.guest_stack_bytes); }},
    {"effective_settings.include_code",
     [](const Manifest& m) { return text(m.effective_settings.include_code); }},
    {"effective_settings.source_maps",
     [](const Manifest& m) { return text(m.effective_settings.source_maps); }},
    {"effective_settings.timeline", [](const Manifest& m) { return text(m.effective_settings.timeline); }},
    {"effective_settings.unwind_maps",
     [](const Manifest& m) { return text(m.effective_settings.unwind_maps); }},
    {"effective_settings.stack_bytes",
     [](const Manifest& m) { return text(m.effective_settings.stack_bytes); }},
    {"effective_settings.max_spans", [](const Manifest& m) { return text(m.effective_settings.max_spans); }},
    {"effective_settings.reload_artifact",
     [](const Manifest& m) { return text(m.effective_settings.reload_artifact); }},
    {"effective_settings.counters", [](const Manifest& m) { return text(m.effective_settings.counters); }},
};

}  // namespace

std::vector<std::string_view> contract_fields() {
  std::vector<std::string_view> names;
  for (const Field& field : kFields) names.push_back(field.name);
  return names;
}

std::vector<ContractDifference> contract_differences(std::span<const Evidence* const> captures) {
  std::vector<ContractDifference> differences;
  if (captures.empty()) return differences;
  const Evidence& first = *captures[0];
  for (const Field& field : kFields) {
    std::string value = field.value(first.manifest);
    for (const Evidence* other : captures) {
      std::string other_value = field.value(other->manifest);
      if (other_value == value) continue;
      differences.push_back({field.name, value, first.path, other_value, other->path, first.manifest.workload,
                             other->manifest.workload});
      break;
    }
  }
  return differences;
}

}  // namespace wago::diff
