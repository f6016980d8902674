// What `perf script` printed -> a capture's samples.
//
// perf prints the place of a frame in its file. Of the files that it made of a jitdump the place leads back
// to the address, and the address and the sample's time to the code, by the capture's journal: what perf made
// of it is not asked. Native frames have the names that perf found.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "capture/images.h"
#include "capture/samples.h"
#include "harness/timed_windows.h"

namespace wago::harness {

// -F for `perf script`; with --ns --no-inline --no-demangle --show-lost-events.
inline constexpr const char* kPerfScriptFields = "pid,tid,time,period,ip,sym,dso";

// Where the functions of a jitdump were, by their numbers in it. Damage ends the list.
std::vector<uint64_t> jitdump_addresses(std::string_view dump);

struct PerfScriptSettings {
  int pid = 0;
  uint64_t rate_hz = 0;
  bool raw_stacks =
      false;  // unwound by perf, which points callers at their calls; else at what they return to
  std::string unit = "nanoseconds";
  uint32_t text_offset = 0;         // of the code in jitted-PID-N.so
  std::vector<uint64_t> addresses;  // jitdump_addresses()
  TimedWindows windows;             // what was taken outside is left out
  capture::Limits limits;
};

class PerfScript {
 public:
  // `images` must outlive it.
  PerfScript(PerfScriptSettings settings, const capture::Images& images);
  ~PerfScript();

  // Output as it comes, in pieces of any length. Errors (Failed): not what perf prints, or over a limit.
  base::Result<void> feed(std::string_view text);
  // The end of it.
  base::Result<void> finish();

  uint64_t lost() const { return lost_; }
  uint64_t samples_read() const { return read_; }  // in the windows and outside
  capture::Samples take() { return std::move(samples_); }

 private:
  struct Header {
    uint64_t tid = 0;
    uint64_t monotonic_ns = 0;
    uint64_t period = 0;
  };
  struct Place {
    uint64_t number = 0;  // an address, or the place in the file
    std::string_view symbol, file;
  };
  struct Life {
    uint32_t image = 0;
    uint64_t loaded_ns = 0;
    uint64_t retired_ns = UINT64_MAX;
  };

  base::Result<void> line(std::string_view text);
  base::Result<void> header(std::string_view text);
  static std::optional<Place> place(std::string_view text);
  base::Result<void> end_sample();
  void next_sample();
  capture::Frame frame_of(const Place& place, bool caller);
  std::optional<uint64_t> address_of(const Place& place) const;
  std::optional<capture::Frame> code_at(uint64_t address) const;
  uint32_t thread(uint64_t tid);

  const PerfScriptSettings settings_;
  const capture::Images& images_;
  std::map<uint64_t, std::vector<Life>> lives_;  // by address; in each the lives follow one another
  uint64_t largest_ = 0;                         // bytes of the largest image
  capture::Samples samples_;
  capture::StackTable stacks_;
  std::unordered_map<uint64_t, uint32_t> threads_;
  std::string rest_;                    // a line that has not ended
  std::optional<Header> open_;          // the sample that frames belong to
  std::vector<capture::Frame> frames_;  // innermost first
  std::optional<size_t> root_;          // of `frames_`, the recorder's own
  bool reaches_root_ = false;
  uint64_t read_ = 0;
  uint64_t lost_ = 0;
};

}  // namespace wago::harness
