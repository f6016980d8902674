#include "runtime/engine_data.h"

#include <algorithm>

#include "base/check.h"
#include "runtime/artifact.h"
#include "runtime/boundary_hooks.h"
#include "runtime/interrupt.h"
#include "runtime/stack.h"
#include "runtime/type_registry.h"

namespace wago::runtime {

CompileSettings EngineData::compile_settings() const {
  CompileSettings compile;
  compile.bounds = settings_.bounds;
  compile.level = settings_.level;
  compile.interruptible = settings_.interruptible;
  compile.spill_everything = settings_.spill_everything;
  compile.check_allocation = settings_.check_allocation;
  compile.verify_ir = settings_.verify_ir;
  compile.source_maps = settings_.source_maps;
  compile.counted = settings_.counted;
  compile.workers = settings_.workers;
  compile.max_code_bytes = settings_.limits.code_bytes;
  compile.max_function_values = settings_.limits.function_values;
  compile.max_merge_arguments = settings_.limits.function_merge_arguments;
  return compile;
}

DecodeOptions EngineData::decode_options() const {
  DecodeOptions options;
  options.workers = settings_.workers;
  options.max_functions = settings_.limits.functions;
  return options;
}

base::Result<const Adapters*> EngineData::adapters(uint32_t type_id, std::shared_ptr<const CodeImage> image) {
  if (const Adapters* known = known_adapters(type_id)) return known;
  // Compiled and mapped without the lock; of two threads that do it at once, one does it in vain.
  const FuncType& type = canonical_type(type_id);
  if (!image) {
    auto compiled = compiler_->compile_adapters(type);
    if (!compiled) return compiled.error();
    image = *std::move(compiled);
  }
  auto code = MappedCode::map_adapters(image, type);
  if (!code) return code.error();
  const uint8_t* base = (*code)->base();
  Adapters adapters;
  adapters.code = reinterpret_cast<EnterFn>(reinterpret_cast<uintptr_t>(base) + image->entry_adapter);
  adapters.guest_stack_bytes = settings_.limits.guest_stack_bytes;
  adapters.enter = adapters.guest_stack_bytes == kGuestStackBytes ? adapters.code : enter_with_own_limit;
  adapters.prepare = prepare_entry;
  adapters.host = base + image->host_adapter;
  adapters.param_slots = slots_of(type.params);
  adapters.result_slots = slots_of(type.results);
  adapters.passes_functions =
      std::find(type.params.begin(), type.params.end(), ValueType::FuncRef) != type.params.end();
  adapters.unobserved = adapters.enter;
  if (boundary_hooks_) adapters.enter = boundary_hooks_->enter;
  adapters.unguarded = adapters.enter;
  std::lock_guard lock(mutex_);
  auto [at, added] = adapters_.try_emplace(type_id);
  MappedAdapters& mapped = at->second;
  if (!added) return &mapped.adapters;
  mapped.code = std::move(*code);
  mapped.guarded = mapped.adapters = adapters;
  mapped.guarded.enter = enter_guarded;
  mapped.adapters.guarded = &mapped.guarded;
  return &mapped.adapters;
}

const Adapters* EngineData::known_adapters(uint32_t type_id) {
  std::lock_guard lock(mutex_);
  auto known = adapters_.find(type_id);
  return known == adapters_.end() ? nullptr : &known->second.adapters;
}

std::shared_ptr<const CodeImage> EngineData::adapter_image(uint32_t type_id) {
  std::lock_guard lock(mutex_);
  auto known = adapters_.find(type_id);
  return known == adapters_.end() ? nullptr : known->second.code->shared_image();
}

base::Result<std::shared_ptr<ModuleData>> ModuleData::deserialize(std::shared_ptr<EngineData> engine,
                                                                  std::span<const uint8_t> bytes) {
  auto artifact =
      read_artifact(bytes, engine->compile_settings(), engine->compiler().target(), engine->decode_options());
  if (!artifact) return artifact.error();
  for (const AdapterImage& adapter : artifact->adapters) {
    const uint32_t type_id = canonical_type_id(artifact->module->types[adapter.type_index]);
    if (auto known = engine->adapters(type_id, adapter.image); !known) return known.error();
  }
  const uint32_t code_offset = engine->settings().code_offset;
  return create(std::move(engine), artifact->module, artifact->image, code_offset);
}

std::vector<uint8_t> ModuleData::serialize() const {
  Artifact artifact{module_, code_->shared_image(), {}};
  for (uint32_t i = 0; i < adapters_.size(); ++i) {
    if (adapters_[i]) artifact.adapters.push_back({i, engine_->adapter_image(type_ids_[i])});
  }
  return write_artifact(artifact, engine_->compile_settings(), engine_->compiler().target());
}

base::Result<std::shared_ptr<ModuleData>> ModuleData::create(std::shared_ptr<EngineData> engine,
                                                             std::shared_ptr<const Module> module,
                                                             std::shared_ptr<const CodeImage> image,
                                                             uint32_t code_offset) {
  WAGO_CHECK(image->functions.size() == module->bodies.size());
  auto code = MappedCode::map(std::move(image), module, code_offset, engine->compiler().source_lines(module));
  if (!code) return code.error();
  std::shared_ptr<ModuleData> data(new ModuleData);
  data->code_ = std::move(*code);
  data->type_ids_.reserve(module->types.size());
  for (const FuncType& type : module->types) data->type_ids_.push_back(canonical_type_id(type));
  data->adapters_.resize(module->types.size());

  std::vector<uint32_t> called;
  for (const Export& exported : module->exports) {
    if (exported.kind == ExternKind::Function) called.push_back(exported.index);
  }
  if (module->start) called.push_back(*module->start);
  for (uint32_t function : called) {
    const uint32_t type_index = module->function_types[function];
    if (data->adapters_[type_index]) continue;
    auto adapters = engine->adapters(data->type_ids_[type_index]);
    if (!adapters) return adapters.error();
    data->adapters_[type_index] = *adapters;
  }
  data->engine_ = std::move(engine);
  data->module_ = std::move(module);
  return data;
}

}  // namespace wago::runtime
