#include "harness/sampled_stacks.h"

#include <algorithm>
#include <unordered_map>

#include "base/duration.h"
#include "base/plural.h"
#include "harness/stack_sides.h"
#include "harness/symbols.h"
#include "runtime/code_image.h"

namespace wago::harness {

namespace {

using capture::Frame;
using capture::Side;

class Describer {
 public:
  Describer(const Sampler& sampler, const CodeJournal& journal, const DescribedCode& code,
            capture::Samples& samples)
      : journal_(journal), code_(code), samples_(samples), stacks_(samples), symbols_(sampler.native()) {}

  void add(const RawSample& raw, const TimedWindows& windows) {
    // The kernel's share ended when the sample could be taken, which may be after the window that it is of.
    const uint64_t kernel_ns = windows.share_of(raw.kernel_ns, raw.monotonic_ns);
    const bool timed = windows.contains(raw.monotonic_ns);
    if (kernel_ns == 0 && !timed) return;
    std::vector<Frame> frames;
    frames.reserve(raw.addresses.size());
    for (size_t i = raw.addresses.size(); i > 0; --i) {
      frames.push_back(frame_at(raw.addresses[i - 1], raw.monotonic_ns));
    }
    put_on_sides(frames, raw.complete, code_.images);
    if (kernel_ns > 0) {
      // Where in the sample's period it was is not known: below the root, and nothing nearer.
      std::vector<Frame> kernel;
      if (raw.complete) kernel.push_back(frames.front());
      kernel.push_back({.side = Side::Kernel, .symbol = stacks_.symbol("[kernel]", "")});
      samples_.samples.push_back({raw.monotonic_ns, kernel_ns, raw.thread, stacks_.stack(kernel)});
    }
    if (!timed) return;
    samples_.samples.push_back({raw.monotonic_ns, raw.cpu_ns, raw.thread, stacks_.stack(frames)});
    samples_.truncated_stacks += !raw.complete;
  }

 private:
  Frame frame_at(uint64_t address, uint64_t monotonic_ns) {
    if (auto found = journal_.find(address, monotonic_ns)) {
      return {.image = code_.image_of[found->code], .offset = found->offset};
    }
    auto [at, added] = symbol_of_.try_emplace(address);
    if (added) {
      const capture::Symbol symbol = symbols_.at(address);
      at->second = {stacks_.symbol(symbol.name, symbol.binary), !symbol.binary.empty()};
    }
    return {.side = at->second.known ? Side::Host : Side::Unknown, .symbol = at->second.number};
  }

  struct NamedSymbol {
    uint32_t number = 0;
    bool known = false;
  };
  const CodeJournal& journal_;
  const DescribedCode& code_;
  capture::Samples& samples_;
  capture::StackTable stacks_;
  Symbols symbols_;
  std::unordered_map<uint64_t, NamedSymbol> symbol_of_;  // by address
};

}  // namespace

capture::Samples describe_samples(const Sampler& sampler, const CodeJournal& journal,
                                  const DescribedCode& code, const TimedWindows& windows) {
  capture::Samples samples;
  samples.period_ns = sampler.period_ns();
  for (const RawThread& thread : sampler.threads()) samples.threads.push_back({thread.id, thread.name});
  Describer describer(sampler, journal, code, samples);
  for (const RawSample& raw : sampler.samples()) describer.add(raw, windows);
  return samples;
}

const char* sampled_event(const Sampler& sampler) {
  return sampler.clock() == SampleClock::PerfEvent ? "cpu-clock:u" : "thread-cpu-timer";
}

std::vector<std::string> sampling_diagnostics(const Sampler& sampler, const capture::Samples& samples) {
  const uint64_t rate_hz = (1'000'000'000 + samples.period_ns / 2) / samples.period_ns;
  std::vector<std::string> sentences;
  if (sampler.clock() == SampleClock::ThreadTimer) {
    sentences.push_back(
        "the kernel refused the perf clock (" + sampler.clock_refusal() +
        "): the thread's CPU timer ticked instead, which charges the kernel's time to its caller");
  }
  const uint64_t cpu_ns = sampler.sampled_cpu_ns();
  if (samples.samples.empty() && !sampler.samples().empty()) {
    sentences.push_back("of " + base::plural(sampler.samples().size(), "sample") +
                        " none was taken while iterations were timed");
    return sentences;
  }
  if (samples.samples.empty()) {
    sentences.push_back("no samples were taken in " + base::format_measured_ns(static_cast<double>(cpu_ns)) +
                        " of CPU time: " + std::to_string(rate_hz) + " Hz look every " +
                        base::format_measured_ns(static_cast<double>(samples.period_ns)));
    return sentences;
  }
  // Ticks that fell into the kernel were reached too.
  uint64_t ticks = 0;
  for (const RawSample& raw : sampler.samples()) {
    ticks += std::max<uint64_t>((raw.cpu_ns + raw.kernel_ns + samples.period_ns / 2) / samples.period_ns, 1);
  }
  const uint64_t taken = sampler.clock() == SampleClock::PerfEvent ? ticks : sampler.samples().size();
  const double reached_hz =
      static_cast<double>(taken) * 1e9 / static_cast<double>(std::max<uint64_t>(cpu_ns, 1));
  if (reached_hz < 0.8 * static_cast<double>(rate_hz) && cpu_ns > 10 * samples.period_ns) {
    sentences.push_back("sampling reached " + std::to_string(static_cast<uint64_t>(reached_hz + 0.5)) +
                        " Hz of the " + std::to_string(rate_hz) + " Hz that were asked for");
  }
  if (const uint64_t lost = sampler.lost_samples()) {
    sentences.push_back(base::plural(lost, "sample") + " did not fit into memory and " +
                        (lost == 1 ? "was" : "were") + " lost");
  }
  return sentences;
}

}  // namespace wago::harness
