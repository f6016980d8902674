// What exporters show of a frame: the functions at its place, named, with their source lines. One table for
// all formats.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capture/locations.h"
#include "capture/manifest.h"

namespace wago::capture {

// What a document says of the recording as a whole.
struct ExportContext {
  std::string workload;
  std::string program;         // "wago 0.1.0"
  std::string event;           // "cpu-clock:u"
  uint64_t start_unix_ns = 0;  // of the measured phase
  uint64_t duration_ns = 0;
  uint64_t start_monotonic_ns = 0;  // the same moment in the samples' clock; 0: their first one's
  uint64_t logical_cpus = 0;
  bool source_maps = false;
};
ExportContext export_context(const Manifest& manifest);

struct ExportLine {
  std::string name;   // as people write it
  std::string raw;    // as the binary has it
  std::string file;   // of the sources; empty: not known
  uint32_t line = 0;  // 0: not known
  bool operator==(const ExportLine&) const = default;
};

struct ExportFrame {
  Side side = Side::Unknown;
  // Innermost first: functions that were inlined, by our compiler or the guest's own, then the one that holds
  // the code. Never empty.
  std::vector<ExportLine> lines;
  std::string binary;     // module or object; empty: not known
  bool is_wasm = false;   // the binary is a module, and
  uint64_t address = 0;   // the place is this offset in it: of the instruction, or of the function's body
                          // where the instruction is not known
  std::string_view site;  // what the compiler added the code for; empty: nothing, or not known
};

class ExportLines {
 public:
  // `images` and `samples` must outlive this.
  ExportLines(const Images& images, const Samples& samples, bool source_maps)
      : images_(images), samples_(samples), locations_(images, samples.symbols, source_maps) {}

  // Of a frame of the samples; `caller`: it called the one inside it. Described once.
  const ExportFrame& of(uint32_t frame, bool caller);

 private:
  ExportFrame describe(const Frame& frame, bool caller) const;
  void describe_guest(const Location& location, ExportFrame& frame) const;

  const Images& images_;
  const Samples& samples_;
  Locations locations_;
  std::map<std::pair<uint32_t, bool>, ExportFrame> known_;
};

}  // namespace wago::capture
