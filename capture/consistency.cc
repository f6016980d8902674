#include "capture/consistency.h"

#include <set>
#include <string>

#include "base/plural.h"
#include "capture/capture.h"

namespace wago::capture {

namespace {

using Verdict = base::Result<void>;

base::Error damaged(const std::string& what) {
  return base::usage_error("damaged capture: " + what);
}

std::string named(std::string_view member, uint64_t value) {
  return std::string(member) + " is " + std::to_string(value);
}

// Sums and products of what a stranger wrote.
class Amount {
 public:
  Amount(uint64_t value) : value_(value) {}
  Amount& operator+=(uint64_t other) {
    overflowed_ |= __builtin_add_overflow(value_, other, &value_);
    return *this;
  }
  Amount& operator*=(uint64_t other) {
    overflowed_ |= __builtin_mul_overflow(value_, other, &value_);
    return *this;
  }
  bool is(uint64_t wanted) const { return !overflowed_ && value_ == wanted; }
  bool above(uint64_t limit) const { return overflowed_ || value_ > limit; }
  std::string text() const { return overflowed_ ? "more than 64 bits hold" : std::to_string(value_); }

 private:
  uint64_t value_;
  bool overflowed_ = false;
};

Verdict check_digest(std::string_view member, const std::string& hex) {
  if (base::parse_digest(hex)) return {};
  return damaged(std::string(member) + " is not 64 hexadecimal digits");
}

// Of a phase that was gone through `times` times.
Verdict check_work(const Manifest& m, const PhaseRecord& record, uint64_t times) {
  const std::string name = "completed_work of phase " + std::string(base::spelling(record.phase));
  if (record.phase == base::Phase::Reload) {
    // Bytes of an artifact, whose size nothing else tells.
    if (record.completed_work > 0 && record.completed_work % times == 0) return {};
    return damaged(named(name, record.completed_work) + ", which " + std::to_string(times) +
                   " equal artifacts cannot add up to");
  }
  Amount work = times;
  if (record.phase == base::Phase::Compile) work *= m.module_bytes;
  if (record.phase == base::Phase::Execute) work *= m.calls_per_iteration;
  if (work.is(record.completed_work)) return {};
  return damaged(named(name, record.completed_work) + ", but the work of " + base::plural(times, "time") +
                 " through it is " + work.text());
}

Verdict check_phases(const Manifest& m) {
  std::set<base::Phase> seen;
  for (const PhaseRecord& record : m.phases) {
    const std::string name(base::spelling(record.phase));
    if (!seen.insert(record.phase).second) return damaged("phase " + name + " is listed twice");
    if (record.work_unit != work_unit(record.phase)) {
      return damaged("the work of phase " + name + " is counted in " + std::string(work_unit(record.phase)) +
                     ", not in what its work_unit says");
    }
    // The parts of a lifecycle are gone through as often as the whole.
    bool repeated = record.phase == m.capture_phase || m.capture_phase == base::Phase::All;
    if (auto work = check_work(m, record, repeated ? m.completed_iterations : 1); !work) return work;
  }
  if (m.measured_phase()) return {};
  return damaged("the measured phase, " + std::string(base::spelling(m.capture_phase)) +
                 ", is not among its phases");
}

Verdict check_invocations(const Manifest& m) {
  Amount calls = m.completed_iterations;
  bool calls_exports = m.capture_phase == base::Phase::Execute || m.capture_phase == base::Phase::All;
  calls *= calls_exports ? m.calls_per_iteration : 0;
  if (calls.is(m.completed_invocations)) return {};
  return damaged(named("completed_invocations", m.completed_invocations) + ", but " +
                 std::to_string(m.completed_iterations) + " iterations make " + calls.text());
}

Verdict check_requested(const Manifest& m, const PhaseRecord& measured) {
  if ((m.requested_iterations == 0) == (m.requested_duration_ns == 0)) {
    return damaged("either requested_iterations or requested_duration_ns must say what was asked for");
  }
  if (m.requested_iterations && m.completed_iterations != m.requested_iterations) {
    return damaged(named("completed_iterations", m.completed_iterations) + ", but " +
                   std::to_string(m.requested_iterations) + " were requested");
  }
  if (measured.elapsed_ns < m.requested_duration_ns) {
    return damaged("the measured phase took " + std::to_string(measured.elapsed_ns) + " ns, but " +
                   std::to_string(m.requested_duration_ns) + " were requested");
  }
  return {};
}

Verdict check_amounts(const Manifest& m) {
  if (m.completed_iterations == 0) return damaged("completed_iterations is 0, and it is complete");
  if (auto phases = check_phases(m); !phases) return phases;
  if (auto invocations = check_invocations(m); !invocations) return invocations;
  const PhaseRecord& measured = *m.measured_phase();
  if (m.execution_duration_ns == 0 || m.execution_duration_ns > measured.elapsed_ns) {
    return damaged(named("execution_duration_ns", m.execution_duration_ns) +
                   ", but the measured phase took " + std::to_string(measured.elapsed_ns) + " ns");
  }
  return check_requested(m, measured);
}

Verdict check_losses(const Manifest& m) {
  if (m.losses.samples && m.backend == base::Backend::None) {
    return damaged(named("losses.samples", m.losses.samples) + ", but backend none takes no samples");
  }
  if (m.losses.spans && !m.effective_settings.timeline) {
    return damaged(named("losses.spans", m.losses.spans) + ", but no timeline was recorded");
  }
  return {};
}

Verdict check_files(const Manifest& m) {
  std::set<std::string> contents;  // names without .gz
  for (const FileRecord& file : m.files) {
    std::string content = file.name;
    if (content.ends_with(".gz")) content.resize(content.size() - 3);
    if (content == kManifestFile) return damaged("its manifest lists itself");
    if (!contents.insert(content).second) return damaged("its manifest lists " + content + " twice");
  }
  for (const char* wanted : {kImagesFile, kIterationsFile}) {
    if (!contents.contains(wanted)) return damaged("its manifest does not list " + std::string(wanted));
  }
  return {};
}

Verdict check_code(const Manifest& m, const Images& images) {
  for (const auto& [member, hex] :
       {std::pair("module_sha256", &m.module_sha256), std::pair("contract_sha256", &m.contract_sha256),
        std::pair("code_sha256", &m.code_sha256)}) {
    if (auto digest = check_digest(member, *hex); !digest) return digest;
  }
  if (std::string seen = base::to_hex(code_sha256(images)); seen != m.code_sha256) {
    return damaged("code_sha256 is " + m.code_sha256 + ", but the code in images.json has " + seen);
  }
  std::set<uint32_t> loaded;
  for (const JournalEntry& entry : images.journal) {
    if (entry.action == JournalAction::Load) loaded.insert(entry.image);
  }
  if (m.losses.journal_records || loaded.size() == images.images.size()) return {};
  return damaged("the journal of images.json loads " + std::to_string(loaded.size()) + " of " +
                 std::to_string(images.images.size()) + " images, and no record of it was lost");
}

Verdict check_iterations(const Manifest& m, std::span<const IterationBatch> batches) {
  Amount iterations = 0, wall = 0, cpu = 0, now = 0;
  for (const IterationBatch& batch : batches) {
    if (now.above(batch.start_ns)) return damaged("batches in iterations.bin overlap");
    now = batch.start_ns;
    now += batch.wall_ns;
    iterations += batch.iterations;
    wall += batch.wall_ns;
    cpu += batch.cpu_ns;
  }
  auto sum = [](const char* member, uint64_t told, const Amount& added) -> Verdict {
    if (added.is(told)) return {};
    return damaged(named(member, told) + ", but the batches in iterations.bin add up to " + added.text());
  };
  if (auto same = sum("completed_iterations", m.completed_iterations, iterations); !same) return same;
  if (auto same = sum("execution_duration_ns", m.execution_duration_ns, wall); !same) return same;
  if (auto same = sum("execution_cpu_ns", m.execution_cpu_ns, cpu); !same) return same;
  if (!now.above(m.measured_phase()->elapsed_ns)) return {};
  return damaged("batches in iterations.bin end after the measured phase");
}

// What the measured phase's outermost spans took together.
Amount timed_by(const Spans& spans) {
  Amount timed_ns = 0;
  for (const Span& span : spans.spans) {
    if (span.parent == kNoParent && in_measured_phase(spans, span)) timed_ns += span.elapsed_ns;
  }
  return timed_ns;
}

}  // namespace

base::Result<void> check(const Manifest& m, const std::optional<Spans>& spans) {
  const EffectiveSettings& settings = m.effective_settings;
  if (spans.has_value() != settings.timeline) {
    return damaged(spans ? "it has spans.json, but no timeline was recorded"
                         : "a timeline was recorded, but it has no spans.json");
  }
  if (!spans) return {};
  if (spans->spans.size() > settings.max_spans) {
    return damaged("spans.json holds " + std::to_string(spans->spans.size()) + " spans, but max_spans is " +
                   std::to_string(settings.max_spans));
  }
  if (spans->lost != m.losses.spans) {
    return damaged(named("losses.spans", m.losses.spans) + ", but spans.json says " +
                   std::to_string(spans->lost));
  }
  if (spans->phase_elapsed_ns > m.measured_phase()->elapsed_ns) {
    return damaged("the measured phase took " + std::to_string(m.measured_phase()->elapsed_ns) +
                   " ns, but in spans.json " + std::to_string(spans->phase_elapsed_ns));
  }
  if (const Amount timed_ns = timed_by(*spans); timed_ns.above(m.execution_duration_ns)) {
    return damaged(named("execution_duration_ns", m.execution_duration_ns) +
                   ", but the spans of the measured phase took " + timed_ns.text());
  }
  return {};
}

base::Result<void> check(const Manifest& manifest, const Images& images,
                         std::span<const IterationBatch> iterations) {
  WAGO_CHECK(manifest.finished());
  if (auto amounts = check_amounts(manifest); !amounts) return amounts;
  if (auto losses = check_losses(manifest); !losses) return losses;
  if (auto files = check_files(manifest); !files) return files;
  if (auto code = check_code(manifest, images); !code) return code;
  return check_iterations(manifest, iterations);
}

}  // namespace wago::capture
