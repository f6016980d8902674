// Compiled modules as bytes: what Module::serialize() gives and Module::deserialize() takes.
//
//   header, 56 bytes   "WAGOART\n", format version, ABI version, whole size, SHA-256 of all that follows
//   origin             program version, target, processor features, compile settings
//   module             the WebAssembly binary
//   code               the module's image, then an adapter image for every signature C++ may call
//
// Integers are little-endian, of 32 bits but for the size; lists and texts begin with their length. The bytes
// are a function of module, settings and program: neither the number of compile threads nor where anything
// was mapped shows.
//
// What reading promises: whatever the bytes, the result is a sentence or an artifact whose every offset,
// index and order is as the compiler would have made it (check_image()), with a module that was decoded and
// validated anew. What it cannot promise is that the machine code does what the module says, or anything
// else: running an artifact is running a program. Load only what you, or somebody you trust, has serialised.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/code_image.h"
#include "runtime/compiler.h"
#include "runtime/module.h"

namespace wago::runtime {

class EngineData;
class ModuleData;

constexpr uint32_t kArtifactVersion = 4;

struct AdapterImage {
  uint32_t type_index = 0;  // in Module::types
  std::shared_ptr<const CodeImage> image;
};

struct Artifact {
  std::shared_ptr<const Module> module;
  std::shared_ptr<const CodeImage> image;
  std::vector<AdapterImage> adapters;  // ascending by type
};

std::vector<uint8_t> write_artifact(const Artifact& artifact, const CompileSettings& settings,
                                    const CodeTarget& target);

// Errors (Failed): not an artifact; of another format, program, target, processor or settings; damaged,
// truncated, or inconsistent; over a limit of decoding, or `settings.max_code_bytes`.
base::Result<Artifact> read_artifact(std::span<const uint8_t> bytes, const CompileSettings& settings,
                                     const CodeTarget& target, const DecodeOptions& options = {});

// The first invariant of code_image.h that the image of `module` breaks, or nothing. `module` is null for
// adapters.
std::optional<std::string> check_image(const CodeImage& image, const Module* module);

}  // namespace wago::runtime
