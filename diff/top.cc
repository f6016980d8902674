#include "diff/top.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"
#include "base/vocabulary.h"
#include "diff/quantity.h"

namespace wago::diff {

namespace {

using capture::Manifest;

std::string machine_of(const Manifest& manifest) {
  return manifest.cpu_model + ", " + manifest.os_version + ", " +
         format_plural(manifest.logical_cpus, "logical core");
}

std::string settings_of(const capture::EffectiveSettings& settings) {
  std::string text = "bounds " + std::string(base::spelling(settings.engine.bounds)) + ", level " +
                     std::to_string(settings.engine.level);
  if (settings.engine.interruptible) text += ", interruptible";
  if (settings.reload_artifact) text += ", reloaded";
  if (settings.spill_everything) text += ", spill everything";
  if (settings.code_offset > 0) text += ", code offset " + std::to_string(settings.code_offset);
  return text;
}

std::string sentence_about_samples(const Evidence& evidence) {
  const base::Backend backend = evidence.manifest.backend;
  if (!evidence.samples) {
    return "no native samples are available: backend " + std::string(base::spelling(backend)) +
           (backend == base::Backend::None     ? " measures elapsed time only"
            : backend == base::Backend::Samply ? " keeps samply's own document, of all of the process"
            : evidence.counts                  ? " counts instead, exactly"
                                               : " took none");
  }
  const capture::Samples& samples = *evidence.samples;
  const uint64_t weight = capture::total_weight(samples);
  if (weight == 0) return kNotOneSample;
  std::string text = format_plural(samples.samples.size(), "sample") + ", " +
                     format_weight(static_cast<double>(weight), samples.unit) + " in all";
  if (evidence.manifest.phase_isolation != "phase") {
    text += ", of the whole process and not of the measured phase alone: no cost per unit of work follows";
  }
  return text;
}

void add_hot_spots(const Evidence& evidence, const TopOptions& options, Top& top) {
  if (!evidence.samples || capture::total_weight(*evidence.samples) == 0) return;
  top.hot_spots = hot_spots(evidence, options.by);
  top.work_behind_samples = work_behind_samples(evidence.manifest);
  top.hot_spot_count = top.hot_spots->rows.size();
  if (top.hot_spot_count > options.limit) top.hot_spots->rows.resize(options.limit);
  if (top.hot_spots->truncated_stacks > 0) {
    top.notes.push_back(truncated_stacks_sentence(top.hot_spots->truncated_stacks) +
                        ": what called them lacks it in its total");
  }
  if (!evidence.manifest.effective_settings.source_maps && options.by != Grouping::Kind) {
    top.notes.push_back(
        "recorded without --source-maps: inlined functions are counted with the ones that hold their code, "
        "and "
        "lines and emitted sites are not known");
  }
}

void add_executed(const Evidence& evidence, const TopOptions& options, Top& top) {
  if (!evidence.counts || !expect_counts(evidence, options.by)) return;
  top.executed = executed(evidence, options.by, options.disassemble);
  top.work = work_behind_samples(evidence.manifest);
  top.executed_count = top.executed->rows.size();
  if (top.executed_count > options.limit) top.executed->rows.resize(options.limit);
}

void add_losses(const capture::Losses& losses, std::vector<std::string>& notes) {
  auto add = [&](uint64_t count, const char* what) {
    if (count > 0) notes.push_back(format_plural(count, what) + (count == 1 ? " was lost" : " were lost"));
  };
  add(losses.samples, "sample");
  add(losses.spans, "span");
  add(losses.journal_records, "journal record");
}

// What the workload says an iteration processes, over the measured time.
double rate(uint64_t per_iteration, const Manifest& manifest) {
  if (manifest.execution_duration_ns == 0) return 0;
  double total = static_cast<double>(per_iteration) * static_cast<double>(manifest.completed_iterations);
  return total * 1e9 / static_cast<double>(manifest.execution_duration_ns);
}

void add_functions(const capture::Images& images, size_t limit, Top& top) {
  std::set<std::pair<std::string, base::Digest>> seen;
  for (const capture::Image& image : images.images) {
    if (image.kind != capture::ImageKind::Module || !seen.insert({image.name, image.sha256}).second) continue;
    for (const capture::Function& function : image.functions) {
      ++top.function_count;
      top.unnamed_functions += function.name == "func[" + std::to_string(function.index) + "]" ? 1 : 0;
      top.code_bytes += function.size;
      top.functions.push_back({function.index, function.name, function.signature, function.size,
                               function.wasm_size, function.statistics});
    }
  }
  std::stable_sort(top.functions.begin(), top.functions.end(),
                   [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  if (top.functions.size() > limit) top.functions.resize(limit);
}

}  // namespace

Top top_of(const Evidence& evidence, const TopOptions& options) {
  const Manifest& manifest = evidence.manifest;
  Top top;
  top.capture = evidence.path;
  top.workload = manifest.workload;
  top.module_name = manifest.module_name;
  top.revision = manifest.revision;
  top.dirty = base::to_string(manifest.dirty);
  top.backend = base::spelling(manifest.backend);
  top.mode = base::spelling(manifest.invocation_mode);
  top.measured_phase = base::spelling(manifest.capture_phase);
  top.machine = machine_of(manifest);
  top.settings = settings_of(manifest.effective_settings);
  top.samples = sentence_about_samples(evidence);
  top.warmup_iterations = manifest.warmup_iterations;
  const capture::PhaseRecord* measured = manifest.measured_phase();
  for (const capture::PhaseRecord& phase : manifest.phases) {
    PhaseTime time = {std::string(base::spelling(phase.phase)),
                      &phase == measured,
                      phase.elapsed_ns,
                      {},
                      phase.completed_work,
                      phase.work_unit};
    if (time.measured) time.timed_ns = manifest.execution_duration_ns;
    top.phases.push_back(std::move(time));
  }
  top.elapsed = elapsed_of(evidence);
  top.items_per_second = rate(manifest.items_per_iteration, manifest);
  top.bytes_per_second = rate(manifest.bytes_per_iteration, manifest);
  add_functions(evidence.images, options.limit, top);
  top.notes = manifest.diagnostics;
  if (top.unnamed_functions > 0) {
    top.notes.push_back(format_count(top.unnamed_functions) + " of " +
                        format_plural(top.function_count, "function") + " have no names; " +
                        base::kKeepFunctionNames);
  }
  add_losses(manifest.losses, top.notes);
  add_hot_spots(evidence, options, top);
  add_executed(evidence, options, top);
  return top;
}

}  // namespace wago::diff
