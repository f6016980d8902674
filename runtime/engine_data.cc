#include "runtime/engine_data.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/check.h"
#include "runtime/artifact.h"
#include "runtime/boundary_hooks.h"
#include "runtime/fork_lock.h"
#include "runtime/interrupt.h"
#include "runtime/stack.h"

namespace wago::runtime {

namespace {

// One for all engines.
std::mutex& adapters_mutex() {
  return fork_lock<EngineData>();
}

}  // namespace

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

base::Result<std::shared_ptr<const MappedAdapters>> EngineData::adapters(
    const std::shared_ptr<const CanonicalType>& type, std::shared_ptr<const CodeImage> image) {
  if (auto known = known_adapters(*type)) return known;
  // Compiled, mapped and let go without the lock; of two threads that do it at once, one does it in vain.
  auto mapped = map_adapters(type, std::move(image));
  if (!mapped) return mapped.error();
  std::shared_ptr<const MappedAdapters> made = *std::move(mapped), kept_before;
  std::lock_guard lock(adapters_mutex());
  std::weak_ptr<const MappedAdapters>& known = adapters_[type->id];
  if (auto other = known.lock()) return other;
  known = made;
  kept_before = std::exchange(kept_[next_kept_], made);
  next_kept_ = (next_kept_ + 1) % kAdaptersKept;
  if (adapters_.size() >= sweep_at_) {
    std::erase_if(adapters_, [](const auto& entry) { return entry.second.expired(); });
    sweep_at_ = 2 * std::max(adapters_.size(), kAdaptersKept);
  }
  return made;
}

base::Result<std::shared_ptr<MappedAdapters>> EngineData::map_adapters(
    const std::shared_ptr<const CanonicalType>& type, std::shared_ptr<const CodeImage> image) const {
  const FuncType& signature = type->type;
  if (!image) {
    auto compiled = compiler_->compile_adapters(signature);
    if (!compiled) return compiled.error();
    image = *std::move(compiled);
  }
  auto code = MappedCode::map_adapters(image, {type, &signature});
  if (!code) return code.error();
  const uint8_t* base = (*code)->base();
  auto made = std::make_shared<MappedAdapters>();
  Adapters& adapters = *made;
  adapters.code = reinterpret_cast<EnterFn>(reinterpret_cast<uintptr_t>(base) + image->entry_adapter);
  adapters.guest_stack_bytes = settings_.limits.guest_stack_bytes;
  adapters.enter = adapters.guest_stack_bytes == kGuestStackBytes ? adapters.code : enter_with_own_limit;
  adapters.prepare = prepare_entry;
  adapters.host = base + image->host_adapter;
  adapters.param_slots = slots_of(signature.params);
  adapters.result_slots = slots_of(signature.results);
  adapters.passes_functions = std::find(signature.params.begin(), signature.params.end(),
                                        ValueType::FuncRef) != signature.params.end();
  adapters.unobserved = adapters.enter;
  if (boundary_hooks_) adapters.enter = boundary_hooks_->enter;
  adapters.unguarded = adapters.enter;
  made->interruptible = adapters;
  made->interruptible.enter = enter_guarded;
  adapters.guarded = &made->interruptible;
  made->mapped = *std::move(code);
  return made;
}

std::shared_ptr<const MappedAdapters> EngineData::known_adapters(const CanonicalType& type) {
  std::lock_guard lock(adapters_mutex());
  auto known = adapters_.find(type.id);
  return known == adapters_.end() ? nullptr : known->second.lock();
}

base::Result<std::shared_ptr<ModuleData>> ModuleData::deserialize(std::shared_ptr<EngineData> engine,
                                                                  std::span<const uint8_t> bytes) {
  auto artifact =
      read_artifact(bytes, engine->compile_settings(), engine->compiler().target(), engine->decode_options());
  if (!artifact) return artifact.error();
  std::vector<std::shared_ptr<const MappedAdapters>> adapters;  // held until create() has found them
  for (const AdapterImage& adapter : artifact->adapters) {
    auto known = engine->adapters(canonical_type(artifact->module->types[adapter.type_index]), adapter.image);
    if (!known) return known.error();
    adapters.push_back(*std::move(known));
  }
  const uint32_t code_offset = engine->settings().code_offset;
  return create(std::move(engine), artifact->module, artifact->image, code_offset);
}

std::vector<uint8_t> ModuleData::serialize() const {
  Artifact artifact{module_, code_->shared_image(), {}};
  for (uint32_t i = 0; i < adapters_.size(); ++i) {
    if (adapters_[i]) artifact.adapters.push_back({i, adapters_[i]->mapped->shared_image()});
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
  data->types_.reserve(module->types.size());
  for (const FuncType& type : module->types) data->types_.push_back(canonical_type(type));
  data->adapters_.resize(module->types.size());

  std::vector<uint32_t> called;
  for (const Export& exported : module->exports) {
    if (exported.kind == ExternKind::Function) called.push_back(exported.index);
  }
  if (module->start) called.push_back(*module->start);
  for (uint32_t function : called) {
    const uint32_t type_index = module->function_types[function];
    if (data->adapters_[type_index]) continue;
    auto adapters = engine->adapters(data->types_[type_index]);
    if (!adapters) return adapters.error();
    data->adapters_[type_index] = *std::move(adapters);
  }
  data->engine_ = std::move(engine);
  data->module_ = std::move(module);
  return data;
}

}  // namespace wago::runtime
