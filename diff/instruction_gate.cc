#include "diff/instruction_gate.h"

#include "base/text.h"
#include "diff/quantity.h"

namespace wago::diff {

namespace {

// What the gate goes by, or why it cannot.
struct Known {
  std::optional<double> change;
  std::string why_not;
};

constexpr const char* kUncounted = "not gated: executed instructions were not counted on both sides";

Known known(const ReportedWorkload& workload) {
  if (workload.code && workload.code->same_code) return {0.0, {}};
  const auto change = instruction_change(workload);
  return {change, change ? "" : kUncounted};
}

Known known(const UnpairedBenchmark& benchmark) {
  if (benchmark.verdict == Verdict::SameCode) return {0.0, {}};
  const auto change = instruction_change(benchmark);
  if (!change) return {{}, kUncounted};
  const CountComparison& counts = *benchmark.exact->counts;
  if (counts.baseline_work == counts.candidate_work) return {change, {}};
  return {{},
          "not gated: the sides did not do the same work, " + format_count(counts.baseline_work) + " and " +
              format_plural(counts.candidate_work, counts.work_unit) +
              "; record both with the same --iterations"};
}

std::optional<std::string> failure_of(const std::optional<double>& floor,
                                      const std::optional<double>& change) {
  // 1010 of 1000 are 1 % more, which as a double is a little more than that.
  constexpr double kRounding = 1e-9;
  if (!floor || !change || *change <= *floor * (1 + kRounding)) return std::nullopt;
  return "executes " + format_exact_change(*change) + " machine instructions, exactly; the floor is " +
         format_setting(*floor);
}

void add(GatedInstructions& gated, const std::string& workload, const Known& known,
         const std::optional<std::string>& failure) {
  if (known.change) {
    ++gated.known;
  } else {
    gated.unknown.push_back(base::display(workload) + " is " + known.why_not);
  }
  if (failure) gated.failures.push_back(base::display(workload) + " " + *failure);
}

}  // namespace

std::optional<double> instruction_change(const ReportedWorkload& workload) {
  if (!workload.code || !workload.code->instructions) return std::nullopt;
  return workload.code->instructions->machine_change();
}

std::optional<double> instruction_change(const UnpairedBenchmark& benchmark) {
  if (!benchmark.exact || !benchmark.exact->counts) return std::nullopt;
  const CountComparison& counts = *benchmark.exact->counts;
  if (counts.machine.baseline == 0) return std::nullopt;
  const auto per_work = [](uint64_t count, uint64_t work) {
    return static_cast<double>(count) / static_cast<double>(work);
  };
  return per_work(counts.machine.candidate, counts.candidate_work) /
             per_work(counts.machine.baseline, counts.baseline_work) -
         1;
}

void set_instruction_gate(Report& report, double floor) {
  report.instruction_floor = floor;
  for (const std::string& sentence : gate_instructions(report).unknown) report.remarks.push_back(sentence);
}

void set_instruction_gate(UnpairedReport& report, double floor) {
  report.instruction_floor = floor;
  for (UnpairedBenchmark& benchmark : report.benchmarks) {
    if (Known of = known(benchmark); !of.change) benchmark.reasons.push_back(std::move(of.why_not));
  }
}

std::optional<std::string> instruction_failure(const Report& report, const ReportedWorkload& workload) {
  return failure_of(report.instruction_floor, known(workload).change);
}

std::optional<std::string> instruction_failure(const UnpairedReport& report,
                                               const UnpairedBenchmark& benchmark) {
  return failure_of(report.instruction_floor, known(benchmark).change);
}

GatedInstructions& GatedInstructions::operator+=(const GatedInstructions& other) {
  failures.insert(failures.end(), other.failures.begin(), other.failures.end());
  unknown.insert(unknown.end(), other.unknown.begin(), other.unknown.end());
  known += other.known;
  return *this;
}

GatedInstructions gate_instructions(const Report& report) {
  GatedInstructions gated;
  for (const ReportedWorkload& workload : report.workloads) {
    add(gated, report.experiment.workloads[workload.workload].id, known(workload),
        instruction_failure(report, workload));
  }
  return gated;
}

GatedInstructions gate_instructions(const UnpairedReport& report) {
  GatedInstructions gated;
  for (const UnpairedBenchmark& benchmark : report.benchmarks)
    add(gated, benchmark.name, known(benchmark), instruction_failure(report, benchmark));
  return gated;
}

}  // namespace wago::diff
