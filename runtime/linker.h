// What a Linker holds, and the matching of imports.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include <wago/wago.h>
#include "runtime/engine_data.h"

namespace wago::runtime {

using Extern = std::variant<Function, Memory, Table, wago::Global>;

// Its type as imports are matched with it: memories and tables by their size now.
ExternType type_of(const Extern& object);
const std::shared_ptr<Store>& store_of(const Extern& object);

ExternType type_of(const Module& module, const Import& import);

class LinkerData {
 public:
  explicit LinkerData(std::shared_ptr<EngineData> engine) : engine_(std::move(engine)) {}

  const std::shared_ptr<EngineData>& engine() const { return engine_; }
  void define(std::string module, std::string name, Extern object) {
    objects_.insert_or_assign({std::move(module), std::move(name)}, std::move(object));
  }
  // The object for an import, or what is wrong with the one there is, or that there is none. `bounds` is what
  // the importing code was compiled for.
  base::Result<const Extern*> resolve(const std::string& module, const std::string& name,
                                      const ExternType& wanted, base::Bounds bounds) const;

 private:
  std::shared_ptr<EngineData> engine_;
  std::map<std::pair<std::string, std::string>, Extern> objects_;
};

}  // namespace wago::runtime
