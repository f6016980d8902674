#include "runtime/engine_data.h"

#include <algorithm>

#include "base/check.h"
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
  compile.workers = settings_.workers;
  compile.max_code_bytes = settings_.limits.code_bytes;
  return compile;
}

base::Result<const Adapters*> EngineData::adapters(uint32_t type_id) {
  std::lock_guard lock(mutex_);
  if (auto known = adapters_.find(type_id); known != adapters_.end()) return &known->second.adapters;
  const FuncType& type = canonical_type(type_id);
  auto image = compiler_->compile_adapters(type);
  if (!image) return image.error();
  auto code = MappedCode::map(*image, nullptr);
  if (!code) return code.error();
  const uint8_t* base = (*code)->base();
  Adapters adapters;
  adapters.code = reinterpret_cast<EnterFn>(reinterpret_cast<uintptr_t>(base) + (*image)->entry_adapter);
  adapters.guest_stack_bytes = settings_.limits.guest_stack_bytes;
  adapters.enter = adapters.guest_stack_bytes == kGuestStackBytes ? adapters.code : enter_with_own_limit;
  adapters.prepare = prepare_entry;
  adapters.host = base + (*image)->host_adapter;
  adapters.param_slots = slots_of(type.params);
  adapters.result_slots = slots_of(type.results);
  adapters.passes_functions =
      std::find(type.params.begin(), type.params.end(), ValueType::FuncRef) != type.params.end();
  adapters.unguarded = adapters.enter;
  MappedAdapters& mapped = adapters_[type_id];
  mapped.code = std::move(*code);
  mapped.guarded = mapped.adapters = adapters;
  mapped.guarded.enter = enter_guarded;
  mapped.adapters.guarded = &mapped.guarded;
  return &mapped.adapters;
}

base::Result<std::shared_ptr<ModuleData>> ModuleData::create(std::shared_ptr<EngineData> engine,
                                                             std::shared_ptr<const Module> module,
                                                             std::shared_ptr<const CodeImage> image,
                                                             uint32_t code_offset) {
  WAGO_CHECK(image->functions.size() == module->bodies.size());
  auto code = MappedCode::map(std::move(image), module, code_offset);
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
