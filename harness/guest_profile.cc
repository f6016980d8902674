#include "harness/guest_profile.h"

#include "base/build_info.h"
#include "base/clock.h"
#include "capture/export_firefox.h"
#include "harness/machine.h"
#include "harness/sampled_stacks.h"

namespace wago::harness {

base::Result<std::unique_ptr<GuestProfile>> GuestProfile::start(SamplerSettings settings) {
  auto sampler = Sampler::create(std::move(settings));
  if (!sampler) return sampler.error();
  return std::unique_ptr<GuestProfile>(new GuestProfile(*std::move(sampler)));
}

__attribute__((noinline)) base::Result<void> GuestProfile::run(const std::function<void()>& guest) {
  start_unix_ns_ = base::unix_ns();
  start_monotonic_ns_ = base::monotonic_ns();
  if (auto begun = sampler_->begin_phase(); !begun) return begun;
  guest();
  ended_ = sampler_->end_phase();
  duration_ns_ = base::monotonic_ns() - start_monotonic_ns_;
  return {};
}

base::Result<GuestProfileDocument> GuestProfile::finish(const std::string& name) {
  if (!ended_) return ended_.error();
  journal_.stop();
  const RecordSettings settings{.source_maps = true};
  const DescribedCode code = describe_code(journal_, name, settings);
  const capture::Samples samples = describe_samples(*sampler_, journal_, code);
  capture::ExportContext context;
  context.workload = name;
  context.program = "wago " + base::build_info().version;
  context.event = sampled_event(*sampler_);
  context.start_unix_ns = start_unix_ns_;
  context.duration_ns = duration_ns_;
  context.start_monotonic_ns = start_monotonic_ns_;
  context.logical_cpus = machine().logical_cpus;
  context.source_maps = settings.source_maps;
  return GuestProfileDocument{to_firefox(context, code.images, samples), samples.samples.size(),
                              sampling_diagnostics(*sampler_, samples)};
}

}  // namespace wago::harness
