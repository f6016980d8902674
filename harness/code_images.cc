#include "harness/code_images.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "harness/code_metadata.h"
#include "runtime/code_image.h"
#include "runtime/engine_data.h"
#include "runtime/module.h"

namespace wago::harness {

namespace {

// The two enumerations list the same kinds in the same order.
static_assert(
    static_cast<int>(runtime::RegionKind::Body) == static_cast<int>(capture::RegionKind::Body) &&
    static_cast<int>(runtime::RegionKind::EntryAdapter) ==
        static_cast<int>(capture::RegionKind::EntryAdapter) &&
    static_cast<int>(runtime::RegionKind::HostAdapter) ==
        static_cast<int>(capture::RegionKind::HostAdapter) &&
    static_cast<int>(runtime::RegionKind::TrapStubs) == static_cast<int>(capture::RegionKind::TrapStubs) &&
    static_cast<int>(runtime::RegionKind::Literals) == static_cast<int>(capture::RegionKind::Literals) &&
    static_cast<int>(runtime::RegionKind::Padding) == static_cast<int>(capture::RegionKind::Padding));

capture::FunctionStatistics convert(const runtime::FunctionStatistics& from) {
  return {.machine_instructions = from.machine_instructions,
          .frame_bytes = from.frame_bytes,
          .spills = from.spills,
          .reloads = from.reloads,
          .rematerialized = from.rematerialized,
          .moves = from.moves,
          .bounds_checks = from.bounds_checks,
          .stack_checks = from.stack_checks,
          .interrupt_checks = from.interrupt_checks,
          .calls = from.calls,
          .indirect_calls = from.indirect_calls,
          .helper_calls = from.helper_calls,
          .ir_instructions = from.ir_instructions,
          .blocks = from.blocks};
}

std::vector<capture::Region> convert(const std::vector<runtime::CodeRegion>& from) {
  std::vector<capture::Region> regions;
  regions.reserve(from.size());
  for (const runtime::CodeRegion& region : from) {
    regions.push_back(
        {static_cast<capture::RegionKind>(region.kind), region.begin, region.size, region.function});
  }
  return regions;
}

// Fields that depend on where the thread's stack limit lies are zeroed.
std::vector<uint8_t> masked_bytes(const runtime::CodeImage& image) {
  std::vector<uint8_t> bytes = image.bytes;
  for (const runtime::TlsFixup& fixup : image.tls_fixups)
    std::fill_n(bytes.begin() + fixup.offset, 4, uint8_t{0});
  return bytes;
}

capture::Image module_image(const Subject& subject) {
  const runtime::Module& module = subject.reference().decoded();
  const runtime::CodeImage& code = subject.reference().code();
  capture::Image image;
  image.kind = capture::ImageKind::Module;
  image.name =
      module.name.empty() ? base::printable(base::base_name(subject.workload().module_path)) : module.name;
  image.size = static_cast<uint32_t>(code.bytes.size());
  image.regions = convert(code.regions);
  base::Sha256 whole;
  for (const runtime::CompiledFunction& function : code.functions) {
    const runtime::FunctionBody& body = module.bodies[function.function - module.imported_functions];
    whole.update(function.hash);
    image.functions.push_back({.index = function.function,
                               .name = module.function_name(function.function),
                               .signature = to_string(module.type_of_function(function.function)),
                               .begin = function.begin,
                               .size = function.size,
                               .wasm_begin = body.begin,
                               .wasm_size = body.size,
                               .sha256 = function.hash,
                               .statistics = convert(function.statistics)});
  }
  image.sha256 = whole.finish();
  image.metadata = describe_metadata(subject);
  return image;
}

base::Result<capture::Image> adapter_image(const Subject& subject, const std::string& name,
                                           const FuncType& type) {
  // Compiled again: it is cheap, and the same signature gives the same bytes.
  auto code = subject.engine().data()->compiler().compile_adapters(type);
  if (!code) return code.error();
  capture::Image image;
  image.kind = capture::ImageKind::Adapter;
  image.name = name;
  image.size = static_cast<uint32_t>((*code)->bytes.size());
  image.sha256 = base::sha256(masked_bytes(**code));
  image.regions = convert((*code)->regions);
  image.metadata = describe_metadata(**code, subject.settings());
  return image;
}

// By spelling, so that the order depends on nothing else.
std::map<std::string, const FuncType*> adapted_signatures(const runtime::Module& module) {
  std::map<std::string, const FuncType*> types;
  auto add = [&](uint32_t function) {
    const FuncType& type = module.type_of_function(function);
    types.emplace(to_string(type), &type);
  };
  for (uint32_t i = 0; i < module.imported_functions; ++i) add(i);
  for (const runtime::Export& exported : module.exports) {
    if (exported.kind == ExternKind::Function) add(exported.index);
  }
  if (module.start) add(*module.start);
  return types;
}

}  // namespace

base::Result<capture::Images> describe_code(const Subject& subject, uint64_t loaded_ns) {
  capture::Images images;
  images.images.push_back(module_image(subject));
  for (const auto& [name, type] : adapted_signatures(subject.reference().decoded())) {
    auto image = adapter_image(subject, name, *type);
    if (!image) return image.error();
    images.images.push_back(std::move(*image));
  }
  const auto address = reinterpret_cast<uint64_t>(subject.reference().data()->code().base());
  for (uint32_t i = 0; i < images.images.size(); ++i) {
    images.journal.push_back({capture::JournalAction::Load, i, loaded_ns, i == 0 ? address : 0});
  }
  return images;
}

base::Result<std::vector<uint8_t>> code_bytes(const Subject& subject) {
  std::vector<uint8_t> bytes = masked_bytes(subject.reference().code());
  for (const auto& [name, type] : adapted_signatures(subject.reference().decoded())) {
    auto code = subject.engine().data()->compiler().compile_adapters(*type);
    if (!code) return code.error();
    const std::vector<uint8_t> adapter = masked_bytes(**code);
    bytes.insert(bytes.end(), adapter.begin(), adapter.end());
  }
  return bytes;
}

}  // namespace wago::harness
