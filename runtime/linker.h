// What a Linker holds, and the matching of imports.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include <wago/wago.h>
#include "runtime/engine_data.h"

namespace wago::runtime {

ExternType type_of(const Module& module, const Import& import);

class LinkerData {
 public:
  explicit LinkerData(std::shared_ptr<EngineData> engine) : engine_(std::move(engine)) {}

  const std::shared_ptr<EngineData>& engine() const { return engine_; }
  void define(std::string module, std::string name, Extern object) {
    objects_.insert_or_assign({std::move(module), std::move(name)}, std::move(object));
  }
  // The object for an import, or a sentence that says how to provide it.
  base::Result<const Extern*> find(const std::string& module, const std::string& name,
                                   const ExternType& wanted) const;
  const std::shared_ptr<InterruptControl>& interrupts() const { return interrupts_; }
  void set_interrupts(std::shared_ptr<InterruptControl> interrupts) { interrupts_ = std::move(interrupts); }

 private:
  std::shared_ptr<EngineData> engine_;
  std::map<std::pair<std::string, std::string>, Extern> objects_;
  std::shared_ptr<InterruptControl> interrupts_;
};

// Whether an object may be what a module imports by this name. `bounds` is what the importing code was
// compiled for. Errors (Usage): wanted and provided type.
base::Result<void> check_import(const std::string& module, const std::string& name, const ExternType& wanted,
                                const Extern& object, base::Bounds bounds);

}  // namespace wago::runtime
