// What an Engine and a Module handle hold.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include <wago/wago.h>
#include "base/result.h"
#include "runtime/abi.h"
#include "runtime/code_map.h"
#include "runtime/compiler.h"

namespace wago::runtime {

struct BoundaryHooks;

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

  // The adapters of a signature, by canonical id: compiled and mapped on first use. Takes a lock; load time
  // only. The result stays valid as long as the engine.
  // `image`, if there is one, takes the place of compiling.
  base::Result<const Adapters*> adapters(uint32_t type_id, std::shared_ptr<const CodeImage> image = nullptr);
  // Their code, once there are any.
  std::shared_ptr<const CodeImage> adapter_image(uint32_t type_id);

 private:
  const Adapters* known_adapters(uint32_t type_id);

  struct MappedAdapters {
    Adapters adapters, guarded;
    std::unique_ptr<MappedCode> code;
  };

  EngineSettings settings_;
  std::unique_ptr<Compiler> compiler_;
  const BoundaryHooks* boundary_hooks_ = nullptr;
  std::mutex mutex_;
  std::unordered_map<uint32_t, MappedAdapters> adapters_;  // node addresses are stable
};

// A compiled module: immutable, shared by its instances on any threads.
class ModuleData {
 public:
  // Maps the code and fetches the adapters of every function that C++ may call by name: exports and the start
  // function. Others get theirs when C++ first holds them; see Function::from_reference.
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
  uint32_t type_id(uint32_t type_index) const { return type_ids_[type_index]; }
  const Adapters* adapters(uint32_t type_index) const { return adapters_[type_index]; }  // null: not fetched
  const uint8_t* entry(uint32_t defined_index) const {
    return code_->base() + code_->image().functions[defined_index].begin;
  }

 private:
  ModuleData() = default;

  std::shared_ptr<EngineData> engine_;
  std::shared_ptr<const Module> module_;
  std::unique_ptr<MappedCode> code_;
  std::vector<uint32_t> type_ids_;         // parallel to Module::types
  std::vector<const Adapters*> adapters_;  // parallel to Module::types
};

}  // namespace wago::runtime
