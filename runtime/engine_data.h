// What an Engine and a Module handle hold.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include <wago/wago.h>
#include "base/result.h"
#include "runtime/abi.h"
#include "runtime/code_map.h"
#include "runtime/compiler.h"
#include "runtime/type_registry.h"

namespace wago::runtime {

struct BoundaryHooks;

struct MappedAdapters : Adapters {
  Adapters interruptible;  // `guarded` of these
  std::unique_ptr<MappedCode> mapped;
};

// Shared by any number of threads. Lives at least as long as every module, instance and host function made
// with it.
class EngineData {
 public:
  EngineData(EngineSettings settings, std::unique_ptr<Compiler> compiler)
      : settings_(settings), compiler_(std::move(compiler)) {}

  const EngineSettings& settings() const { return settings_; }
  const Compiler& compiler() const { return *compiler_; }
  CompileSettings compile_settings() const;
  DecodeOptions decode_options() const;

  // Before anything is made with the engine; null: none. They must outlive it.
  void set_boundary_hooks(const BoundaryHooks* hooks) { boundary_hooks_ = hooks; }
  const BoundaryHooks* boundary_hooks() const { return boundary_hooks_; }

  // The adapters of a signature: compiled and mapped when nobody has them. They must be held as long as
  // anything is entered through them, and not longer than the engine. Takes a lock; load time only.
  // `image`, if there is one, takes the place of compiling.
  base::Result<std::shared_ptr<const MappedAdapters>> adapters(
      const std::shared_ptr<const CanonicalType>& type, std::shared_ptr<const CodeImage> image = nullptr);

 private:
  // Of adapters, the ones made last are kept though nobody may hold them, for hosts that make the same
  // functions for every instance they open.
  static constexpr size_t kAdaptersKept = 64;

  std::shared_ptr<const MappedAdapters> known_adapters(const CanonicalType& type);
  base::Result<std::shared_ptr<MappedAdapters>> map_adapters(const std::shared_ptr<const CanonicalType>& type,
                                                             std::shared_ptr<const CodeImage> image) const;

  EngineSettings settings_;
  std::unique_ptr<Compiler> compiler_;
  const BoundaryHooks* boundary_hooks_ = nullptr;
  // What follows is guarded by one lock of all engines. By canonical id, which adapters keep from being given
  // to another signature. Those that nobody holds are removed when there are `sweep_at_`.
  std::unordered_map<uint32_t, std::weak_ptr<const MappedAdapters>> adapters_;
  size_t sweep_at_ = 2 * kAdaptersKept;
  std::array<std::shared_ptr<const MappedAdapters>, kAdaptersKept> kept_;
  size_t next_kept_ = 0;
};

// A compiled module: immutable, shared by its instances on any threads.
class ModuleData {
 public:
  // Maps the code and fetches the adapters of every function that C++ may call by name: exports and the start
  // function. Others get theirs when C++ first holds them; see InstanceData::fetch_adapters.
  static base::Result<std::shared_ptr<ModuleData>> create(std::shared_ptr<EngineData> engine,
                                                          std::shared_ptr<const Module> module,
                                                          std::shared_ptr<const CodeImage> image,
                                                          uint32_t code_offset = 0);

  // As an artifact, and from one. See artifact.h.
  std::vector<uint8_t> serialize() const;
  static base::Result<std::shared_ptr<ModuleData>> deserialize(std::shared_ptr<EngineData> engine,
                                                               std::span<const uint8_t> bytes);

  const std::shared_ptr<EngineData>& engine() const { return engine_; }
  const Module& module() const { return *module_; }
  const MappedCode& code() const { return *code_; }
  const std::shared_ptr<const CanonicalType>& type(uint32_t type_index) const { return types_[type_index]; }
  // Null: not fetched.
  const MappedAdapters* adapters(uint32_t type_index) const { return adapters_[type_index].get(); }
  const uint8_t* entry(uint32_t defined_index) const {
    return code_->base() + code_->image().functions[defined_index].begin;
  }

 private:
  ModuleData() = default;

  std::shared_ptr<EngineData> engine_;
  std::shared_ptr<const Module> module_;
  std::unique_ptr<MappedCode> code_;
  std::vector<std::shared_ptr<const CanonicalType>> types_;      // parallel to Module::types
  std::vector<std::shared_ptr<const MappedAdapters>> adapters_;  // parallel to Module::types
};

}  // namespace wago::runtime
