// images.json: the code that existed while the workload ran, in the order in which it came and went.
//
// Invariants, checked by the reader: regions tile their image (sorted, from 0 to its size, without gaps);
// functions lie inside their image, sorted by index; the journal names existing images, its times never fall,
// an image that is loaded somewhere is not loaded there again before it was retired there, and retired only
// where it was loaded.
//
// Nothing here knows the engine; harness/images_from_engine converts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/sha256.h"
#include "capture/code_metadata.h"
#include "capture/schema.h"

namespace wago::capture {

enum class ImageKind : uint8_t { Module, Adapter };
enum class RegionKind : uint8_t { Body, EntryAdapter, HostAdapter, TrapStubs, Literals, Padding };
std::string_view spelling(ImageKind kind);  // "module", "adapter"
std::string_view spelling(
    RegionKind kind);  // "body", "entry-adapter", "host-adapter", "trap-stubs", "literals", "padding"

inline constexpr uint32_t kNoFunction = ~0u;

struct Region {
  RegionKind kind = RegionKind::Padding;
  uint32_t begin = 0;  // offset in the image
  uint32_t size = 0;
  uint32_t function = kNoFunction;
  bool operator==(const Region&) const = default;
};

// What the compiler counted while it emitted a function. Static: says nothing about what ran.
struct FunctionStatistics {
  uint32_t machine_instructions = 0;
  uint32_t frame_bytes = 0;
  uint32_t spills = 0;
  uint32_t reloads = 0;
  uint32_t rematerialized = 0;
  uint32_t moves = 0;
  uint32_t bounds_checks = 0;
  uint32_t stack_checks = 0;
  uint32_t interrupt_checks = 0;
  uint32_t calls = 0;
  uint32_t indirect_calls = 0;
  uint32_t helper_calls = 0;
  uint32_t ir_instructions = 0;
  uint32_t blocks = 0;
  bool operator==(const FunctionStatistics&) const = default;
};

// The members of FunctionStatistics under their names in files, in order: one table for writer, reader and
// views.
struct StatisticField {
  std::string_view name;
  uint32_t FunctionStatistics::*member;
};
std::span<const StatisticField> statistic_fields();

struct Function {
  uint32_t index = 0;       // wasm function index
  std::string name;         // display name, raw (not demangled)
  std::string signature;    // "(i32) -> (i32)"
  uint32_t begin = 0;       // offset in the image
  uint32_t size = 0;        // bytes of body, trap stubs and literals
  uint32_t wasm_begin = 0;  // offset in the module of the body's local declarations
  uint32_t wasm_size = 0;   // bytes of the body
  base::Digest sha256{};    // of the code with relocated fields masked; equal means equal instructions
  FunctionStatistics statistics;
  bool operator==(const Function&) const = default;
};

// A name under which a module exports one of its functions, where that is not how the function is shown.
struct ExportedName {
  uint32_t function = 0;
  std::string name;
  bool operator==(const ExportedName&) const = default;
};

struct Image {
  ImageKind kind = ImageKind::Module;
  std::string name;       // module: its name or file name; adapter: the signature it serves
  uint32_t size = 0;      // bytes
  base::Digest sha256{};  // of the whole image, relocations masked
  std::vector<Region> regions;
  std::vector<Function> functions;    // empty for adapters
  std::vector<ExportedName> exports;  // by function
  CodeMetadata metadata;
  bool operator==(const Image&) const = default;
};

enum class JournalAction : uint8_t { Load, Retire };

struct JournalEntry {
  JournalAction action = JournalAction::Load;
  uint32_t image = 0;  // index into Images::images
  uint64_t monotonic_ns = 0;
  uint64_t address = 0;  // where the image was mapped; 0: not recorded
  bool operator==(const JournalEntry&) const = default;
};

struct Images {
  std::vector<Image> images;
  std::vector<JournalEntry> journal;
  bool operator==(const Images&) const = default;
};

// One sentence for the first broken invariant.
base::Result<void> check(const Images& images);

std::string to_json_text(const Images& images);
base::Result<Images> parse_images(std::string_view text, const std::string& file, const Limits& limits = {});

// Over all functions of all module images and over all adapters: equal means that equal machine code ran.
base::Digest code_sha256(const Images& images);

}  // namespace wago::capture
