#include "diff/hot_spots.h"

#include <algorithm>
#include <tuple>

#include "diff/quantity.h"

namespace wago::diff {

namespace {

using capture::kNone;
using capture::Samples;
using capture::Stack;

struct Weight {
  uint64_t weight = 0;
  uint64_t samples = 0;
};

// The labels of frames, all kept: each frame is met once as the innermost and once as a caller.
class FrameLabels {
 public:
  FrameLabels(const Samples& samples, Labels& labels, bool callers) : starts_{0} {
    for (const capture::Frame& frame : samples.frames) {
      const auto own = labels.of(frame, callers);
      labels_.insert(labels_.end(), own.begin(), own.end());
      starts_.push_back(static_cast<uint32_t>(labels_.size()));
    }
  }
  std::span<const uint32_t> of(uint32_t frame) const {
    return std::span(labels_).subspan(starts_[frame], starts_[frame + 1] - starts_[frame]);
  }

 private:
  std::vector<uint32_t> labels_;
  std::vector<uint32_t> starts_;
};

// Adds up weights over the tree of stacks.
class Adder {
 public:
  Adder(const Samples& samples, Labels& labels)
      : samples_(samples),
        innermost_(samples, labels, false),
        callers_(samples, labels, true),
        self_(labels.size()),
        total_(labels.size()),
        open_(labels.size()) {}

  void run() {
    own_.resize(samples_.stacks.size());
    for (const capture::Sample& sample : samples_.samples) {
      own_[sample.stack].weight += sample.weight;
      ++own_[sample.stack].samples;
    }
    link();
    for (uint32_t stack = 0; stack < samples_.stacks.size(); ++stack) {
      if (samples_.stacks[stack].caller == kNone) walk(stack);
    }
  }
  const Weight& self(uint32_t label) const { return self_[label]; }
  uint64_t total(uint32_t label) const { return total_[label]; }

 private:
  // A stack's callees, and the weight of those alone. Callers come before callees.
  void link() {
    const size_t count = samples_.stacks.size();
    first_callee_.assign(count, kNone);
    next_.assign(count, kNone);
    below_.assign(count, 0);
    for (size_t i = count; i-- > 0;) {
      const uint32_t caller = samples_.stacks[i].caller;
      if (caller == kNone) continue;
      below_[caller] += below_[i] + own_[i].weight;
      next_[i] = first_callee_[caller];
      first_callee_[caller] = static_cast<uint32_t>(i);
    }
  }

  // Depth first without recursion: stacks are as deep as a stranger makes them.
  void walk(uint32_t root) {
    uint32_t at = root;
    while (true) {
      enter(at);
      if (first_callee_[at] != kNone) {
        at = first_callee_[at];
        continue;
      }
      while (true) {
        leave(at);
        if (at == root) return;
        if (next_[at] != kNone) break;
        at = samples_.stacks[at].caller;
      }
      at = next_[at];
    }
  }

  void enter(uint32_t stack) {
    const uint32_t frame = samples_.stacks[stack].frame;
    if (own_[stack].samples > 0) {
      const auto labels = innermost_.of(frame);
      self_[labels.front()].weight += own_[stack].weight;
      self_[labels.front()].samples += own_[stack].samples;
      open(labels, own_[stack].weight);
      close(labels);
    }
    open(callers_.of(frame), below_[stack]);
  }
  void leave(uint32_t stack) { close(callers_.of(samples_.stacks[stack].frame)); }

  // Only the outermost occurrence of a label counts what is below it.
  void open(std::span<const uint32_t> labels, uint64_t weight) {
    for (const uint32_t label : labels) {
      if (open_[label]++ == 0) total_[label] += weight;
    }
  }
  void close(std::span<const uint32_t> labels) {
    for (const uint32_t label : labels) --open_[label];
  }

  const Samples& samples_;
  FrameLabels innermost_;
  FrameLabels callers_;
  std::vector<Weight> own_;             // by stack
  std::vector<uint64_t> below_;         // by stack: of its callees and theirs
  std::vector<uint32_t> first_callee_;  // by stack
  std::vector<uint32_t> next_;          // by stack: of the same caller
  std::vector<Weight> self_;            // by label
  std::vector<uint64_t> total_;         // by label
  std::vector<uint32_t> open_;          // by label: occurrences on the way from the root
};

}  // namespace

HotSpots hot_spots(const Evidence& evidence, Grouping grouping) {
  const Samples& samples = *evidence.samples;
  Labels labels(evidence, grouping);
  Adder adder(samples, labels);
  adder.run();
  HotSpots spots;
  spots.grouping = grouping;
  spots.unit = samples.unit;
  spots.period_ns = samples.period_ns;
  spots.samples = samples.samples.size();
  spots.weight = capture::total_weight(samples);
  spots.truncated_stacks = samples.truncated_stacks;
  for (uint32_t label = 0; label < labels.size(); ++label) {
    const Weight& self = adder.self(label);
    const auto side = static_cast<size_t>(labels[label].side);
    spots.by_side[side] += self.weight;
    spots.samples_by_side[side] += self.samples;
    if (self.samples == 0 && adder.total(label) == 0) continue;
    spots.rows.push_back({labels[label], self.weight, adder.total(label), self.samples});
  }
  std::sort(spots.rows.begin(), spots.rows.end(), [](const HotSpot& a, const HotSpot& b) {
    return std::tie(b.self, b.total, a.label.name, a.label.detail, a.label.function) <
           std::tie(a.self, a.total, b.label.name, b.label.detail, b.label.function);
  });
  return spots;
}

std::string truncated_stacks_sentence(uint64_t samples) {
  return "the stacks of " + format_plural(samples, "sample") + " do not reach their root";
}

base::Result<void> expect_samples(const Evidence& evidence) {
  if (!evidence.samples) {
    return base::usage_error("has no samples: record with a backend that samples", {.file = evidence.path});
  }
  if (capture::total_weight(*evidence.samples) == 0) {
    return base::usage_error(kNotOneSample, {.file = evidence.path});
  }
  return {};
}

std::optional<uint64_t> work_behind_samples(const capture::Manifest& manifest) {
  const capture::PhaseRecord* phase = manifest.measured_phase();
  if (manifest.phase_isolation != "phase" || !phase || phase->completed_work == 0) return std::nullopt;
  return phase->completed_work;
}

}  // namespace wago::diff
