#include "diff/executed.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "diff/executions.h"
#include "diff/machine_code.h"

namespace wago::diff {

namespace {

void add_functions(const Evidence& evidence, const Executions& executions, Executed& result) {
  const Locations locations(evidence);
  std::map<std::pair<uint32_t, uint32_t>, ExecutedRow> rows;  // by canonical image and index
  for (const FunctionExecutions& own : executions.functions) {
    const uint32_t image = locations.canonical(own.image);
    ExecutedRow& row = rows[{image, own.function}];
    const capture::Function* known = locations.function(own.image, own.function);
    row.label = {capture::Side::Guest, locations.function_name(own.image, own.function),
                 known ? known->signature : "", image, own.function};
    row.machine += own.machine_instructions;
    row.wasm += own.wasm_instructions;
    row.entered += own.entered;
  }
  for (auto& [key, row] : rows) result.rows.push_back(std::move(row));
}

// Each machine instruction under the innermost of its labels.
void add_instructions(const Evidence& evidence, const Disassemble& disassemble, Executed& result) {
  Labels labels(evidence, result.grouping);
  std::map<uint32_t, uint64_t> machine;  // by label
  for (uint32_t image = 0; image < evidence.images.images.size(); ++image) {
    if (evidence.counts->entered[image].empty()) continue;
    const InstructionExecutions executions(evidence, image);
    const MachineCode code(evidence, image, disassemble);
    for (const capture::Function& function : evidence.images.images[image].functions) {
      for (const MachineRow& row : code.of(function)) {
        const uint64_t times = executions.machine(row.offset).value_or(0);
        if (times == 0) continue;
        machine[labels.of({capture::Side::Guest, image, row.offset, capture::kNone}, false).front()] += times;
      }
    }
  }
  for (const auto& [label, times] : machine) result.rows.push_back({labels[label], times, 0, 0});
}

}  // namespace

base::Result<void> expect_counts(const Evidence& evidence, Grouping grouping) {
  auto refuse = [&](std::string sentence) {
    return base::usage_error(std::move(sentence), {.file = evidence.path});
  };
  if (!evidence.counts) return refuse("has no counts: record with --backend count");
  const std::string by = "--by " + std::string(grouping_words()[static_cast<size_t>(grouping)]);
  if (grouping == Grouping::Kind) return refuse(by + " needs samples: counts are of the guest's code alone");
  if (grouping == Grouping::Function) return {};
  if (!evidence.code) {
    return refuse(by + " of counts needs the machine code: record with --include-code");
  }
  if (!evidence.manifest.effective_settings.source_maps)
    return refuse(by + " needs source maps: record with --source-maps");
  return {};
}

Executed executed(const Evidence& evidence, Grouping grouping, const Disassemble& disassemble) {
  const Executions executions = executions_of(evidence);
  Executed result;
  result.grouping = grouping;
  result.machine = executions.machine_instructions;
  result.wasm = executions.wasm_instructions;
  if (grouping == Grouping::Function) {
    add_functions(evidence, executions, result);
  } else {
    add_instructions(evidence, disassemble, result);
  }
  std::sort(result.rows.begin(), result.rows.end(), [](const ExecutedRow& a, const ExecutedRow& b) {
    return std::tie(b.machine, b.wasm, a.label.name, a.label.function) <
           std::tie(a.machine, a.wasm, b.label.name, b.label.function);
  });
  return result;
}

}  // namespace wago::diff
