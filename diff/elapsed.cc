#include "diff/elapsed.h"

#include <algorithm>

namespace wago::diff {

namespace {

std::string singular(const std::string& unit) {
  return unit.ends_with('s') ? unit.substr(0, unit.size() - 1) : unit;
}

}  // namespace

Elapsed elapsed_of(const Evidence& evidence) {
  const capture::Manifest& manifest = evidence.manifest;
  Elapsed elapsed;
  elapsed.iterations = manifest.completed_iterations;
  const capture::PhaseRecord* phase = manifest.measured_phase();
  elapsed.unit = singular(std::string(phase ? phase->work_unit : capture::work_unit(manifest.capture_phase)));
  elapsed.completed_work = phase ? phase->completed_work : 0;
  if (elapsed.completed_work == 0 || elapsed.iterations == 0) return elapsed;
  auto work = static_cast<double>(elapsed.completed_work);
  elapsed.total_ns = static_cast<double>(manifest.execution_duration_ns) / work;
  double work_per_iteration = work / static_cast<double>(elapsed.iterations);
  std::vector<double> wall, cpu;
  for (const capture::IterationBatch& batch : evidence.iterations) {
    if (batch.iterations == 0) continue;
    double units = static_cast<double>(batch.iterations) * work_per_iteration;
    wall.push_back(static_cast<double>(batch.wall_ns) / units);
    if (batch.cpu_ns > 0) cpu.push_back(static_cast<double>(batch.cpu_ns) / units);
  }
  elapsed.wall_ns = summarize(std::move(wall));
  if (!cpu.empty()) elapsed.cpu_ns = summarize(std::move(cpu));
  return elapsed;
}

}  // namespace wago::diff
