// Engine, Module and validate() of <wago/wago.h>. Engine::open is codegen's: it injects the compiler.
#include <utility>

#include <wago/wago.h>
#include "runtime/engine_data.h"
#include "runtime/exhaustion.h"
#include "runtime/instance.h"
#include "runtime/linker.h"
#include "runtime/module.h"

namespace wago {

const EngineSettings& Engine::settings() const {
  return data()->settings();
}

Result<Module> Engine::compile(std::vector<uint8_t> bytes) const {
  return runtime::unless_exhausted("compile the module", [&]() -> Result<Module> {
    auto decoded = runtime::decode_module(std::move(bytes), data()->decode_options());
    if (!decoded) return decoded.error();
    auto image = data_->compiler().compile(**decoded, data_->compile_settings());
    if (!image) return image.error();
    auto module = runtime::ModuleData::create(data_, *std::move(decoded), *std::move(image),
                                              data_->settings().code_offset);
    if (!module) return module.error();
    return Module(*std::move(module));
  });
}

std::vector<uint8_t> Module::serialize() const {
  return data()->serialize();
}

Result<Module> Module::deserialize(const Engine& engine, std::span<const uint8_t> artifact) {
  return runtime::unless_exhausted("load the artifact", [&]() -> Result<Module> {
    auto module = runtime::ModuleData::deserialize(engine.data(), artifact);
    if (!module) return module.error();
    return Module(*std::move(module));
  });
}

Result<void> validate(std::vector<uint8_t> bytes) {
  return runtime::unless_exhausted("validate the module", [&]() -> Result<void> {
    auto decoded = runtime::decode_module(std::move(bytes));
    if (!decoded) return decoded.error();
    return {};
  });
}

namespace {

std::string to_string(const Limits& limits) {
  return std::to_string(limits.min) + ".." + (limits.max ? std::to_string(*limits.max) : "");
}

ExternType export_type(const runtime::Module& module, const runtime::Export& exported) {
  ExternType type;
  type.kind = exported.kind;
  switch (exported.kind) {
    case ExternKind::Function:
      type.function = module.type_of_function(exported.index);
      break;
    case ExternKind::Table:
      type.table = module.tables[exported.index];
      break;
    case ExternKind::Memory:
      type.memory = module.memories[exported.index];
      break;
    case ExternKind::Global:
      type.global = module.globals[exported.index].type;
      break;
  }
  return type;
}

}  // namespace

std::string to_string(const ExternType& type) {
  switch (type.kind) {
    case ExternKind::Function:
      return to_string(type.function);
    case ExternKind::Table:
      return std::string("table ") + to_string(type.table.element) + " " + to_string(type.table.limits);
    case ExternKind::Memory:
      return "memory " + to_string(type.memory.limits) + " pages";
    case ExternKind::Global:
      return std::string("global ") + (type.global.mutable_ ? "mut " : "") + to_string(type.global.value);
  }
  return "unknown";
}

std::vector<ImportInfo> imports_of(const runtime::Module& module) {
  std::vector<ImportInfo> imports;
  for (const runtime::Import& import : module.imports) {
    imports.push_back({import.module, import.name, runtime::type_of(module, import)});
  }
  return imports;
}

std::vector<ExportInfo> exports_of(const runtime::Module& module) {
  std::vector<ExportInfo> exports;
  for (const runtime::Export& exported : module.exports) {
    exports.push_back({exported.name, export_type(module, exported)});
  }
  return exports;
}

std::vector<ImportInfo> Module::imports() const {
  return imports_of(decoded());
}

std::vector<ExportInfo> Module::exports() const {
  return exports_of(decoded());
}

const runtime::Module& Module::decoded() const {
  return data()->module();
}
const runtime::CodeImage& Module::code() const {
  return data()->code().image();
}

}  // namespace wago
