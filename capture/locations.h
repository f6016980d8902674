// From an address of a capture to what people call it: the function that holds the machine code, the wasm
// functions that were inlined there, the wasm instruction, the source line, and what the compiler emitted the
// code for.
//
// Nothing is ever assigned to a neighbour. What the capture does not know stays unknown and is shown as that:
// a guest frame that lies in no function is of side Unknown, an instruction without a position has no wasm
// pc. Without source maps positions are only those of calls and of instructions that may trap, so that they
// hold for a caller's frame and at their very offset, and nowhere between.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capture/images.h"
#include "capture/samples.h"

namespace wago::capture {

// Inlining deeper than this is not followed, in whatever a stranger's capture says.
inline constexpr size_t kMaxInlineDepth = 256;

// A wasm function and the place in it.
struct WasmPlace {
  uint32_t function = kNoFunction;  // index in the module
  uint32_t wasm_pc = kNone;         // kNone: not known
  bool operator==(const WasmPlace&) const = default;
};

// A place in the sources. Views are into the capture; empty and 0 are not known.
struct SourcePlace {
  std::string_view function;
  std::string_view file;
  uint32_t line = 0;
  bool operator==(const SourcePlace&) const = default;
};
// "fib.c:12", "fib.c", empty.
std::string to_string(const SourcePlace& place);

struct Location {
  Side side = Side::Unknown;
  uint32_t image = kNone;
  uint32_t offset = 0;               // in the image
  const Region* region = nullptr;    // of the image; nullptr: native, or none known
  const Function* holder = nullptr;  // whose machine code it is; nullptr: not a module's function
  std::vector<WasmPlace> places;     // innermost first, the holder's last; empty without a holder
  std::optional<SiteKind> site;      // nothing: an instruction of the module, or not known
  const Symbol* symbol = nullptr;    // native
};

class Locations {
 public:
  // `source_maps`: the capture has them. `images` and `symbols` (of its samples) must outlive this and all
  // locations.
  Locations(const Images& images, std::span<const Symbol> symbols, bool source_maps);

  // `caller`: the frame called the one inside it, so that its offset is the last byte of its call.
  Location locate(const Frame& frame, bool caller) const;
  // Of code in an image.
  Location locate(uint32_t image, uint32_t offset, bool caller = false) const;

  // nullptr: the image has no such function.
  const Function* function(uint32_t image, uint32_t index) const;
  // Its raw name, "func[7]" where the image does not know it.
  std::string function_name(uint32_t image, uint32_t index) const;
  // "i32.add"; empty: not known.
  std::string_view instruction(uint32_t image, const WasmPlace& place) const;
  // With the functions that the guest's own compiler inlined, innermost first; empty: nothing is known.
  std::vector<SourcePlace> source(uint32_t image, const WasmPlace& place) const;
  // The first image that holds the same code: the one by which all of them are counted together.
  uint32_t canonical(uint32_t image) const { return canonical_[image]; }

 private:
  void find_places(const CodeMetadata& metadata, bool caller, Location& location) const;
  void find_site(const CodeMetadata& metadata, Location& location) const;

  const Images& images_;
  std::span<const Symbol> symbols_;
  bool source_maps_ = false;
  std::vector<uint32_t> canonical_;  // by image
};

}  // namespace wago::capture
