// samples.json: where threads were when a collector looked, each time with its whole stack.
//
// Stacks are a tree and shared: a stack is a frame and the stack of its caller. Guest code is named by image
// and offset, which hold for as long as the capture does; native code by symbols that were looked up while
// the process still was what it had been.
//
// Invariants, checked by the reader: a stack's caller comes before it; frames name existing symbols; samples
// name existing stacks and threads; times never fall.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "capture/code_metadata.h"
#include "capture/images.h"
#include "capture/schema.h"

namespace wago::capture {

// Whose time it is. The module's own functions, the runtime's part in running them, and the host's functions
// are kept apart everywhere.
enum class Side : uint8_t {
  Guest,    // functions of the module
  Helper,   // of the runtime: memory.grow, table operations, traps, adapters, and what they call
  Host,     // host functions and the program around them
  Kernel,   // time in the kernel, which a collector of user time cannot see inside
  Unknown,  // an address that no code was known for
};
std::string_view spelling(Side side);  // "guest", "helper", "host", "kernel", "unknown"

// A native function, or what is known of an address that has none.
struct Symbol {
  std::string name;    // raw; "[kernel]", "0x7f..." where there is none
  std::string binary;  // file name without its folder; empty: not known
  bool operator==(const Symbol&) const = default;
};

struct Frame {
  Side side = Side::Unknown;
  uint32_t image = kNone;   // of Images::images: Guest, and Helper for adapters
  uint32_t offset = 0;      // in the image: of the instruction, of a caller of the last byte of its call
  uint32_t symbol = kNone;  // of Samples::symbols where there is no image
  bool operator==(const Frame&) const = default;
};

struct Stack {
  uint32_t frame = 0;       // the innermost
  uint32_t caller = kNone;  // a stack; kNone: the frame is the root
  bool operator==(const Stack&) const = default;
};

struct SampledThread {
  uint64_t id = 0;   // the kernel's
  std::string name;  // "recorder", "compile worker 2"
  bool operator==(const SampledThread&) const = default;
};

struct Sample {
  uint64_t monotonic_ns = 0;
  uint64_t weight = 0;  // in Samples::unit
  uint32_t thread = 0;
  uint32_t stack = 0;
  bool operator==(const Sample&) const = default;
};

struct Samples {
  std::string unit = "nanoseconds";  // of weights: CPU time; or "cycles", by the event
  uint64_t period_ns = 0;            // mean time between samples as asked for; 0: not by time
  uint64_t truncated_stacks = 0;     // samples whose stack does not reach its root
  std::vector<SampledThread> threads;
  std::vector<Symbol> symbols;
  std::vector<Frame> frames;
  std::vector<Stack> stacks;
  std::vector<Sample> samples;
  bool operator==(const Samples&) const = default;
};

// Builds the tables of `samples`, each frame and each stack once.
class StackTable {
 public:
  explicit StackTable(Samples& samples);
  ~StackTable();
  uint32_t symbol(std::string_view name, std::string_view binary);
  // `root_first`: frames from the root to the innermost; not empty.
  uint32_t stack(std::span<const Frame> root_first);

 private:
  struct Maps;
  Samples& samples_;
  std::unique_ptr<Maps> maps_;
};

// Sum of the weights.
uint64_t total_weight(const Samples& samples);
// Frames of a stack, innermost first.
std::vector<Frame> frames_of(const Samples& samples, uint32_t stack);

std::string to_json_text(const Samples& samples);
// `images` are those of the same capture.
base::Result<Samples> parse_samples(std::string_view text, const std::string& file, const Images& images,
                                    const Limits& limits = {});

}  // namespace wago::capture
