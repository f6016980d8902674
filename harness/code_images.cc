#include "harness/code_images.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

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

std::vector<capture::ExportedName> exported_names(const runtime::Module& module) {
  std::vector<capture::ExportedName> names;
  std::set<std::pair<uint32_t, std::string>> seen;  // names that only their ends tell apart are cut alike
  for (const runtime::Export& exported : module.exports) {
    if (exported.kind != ExternKind::Function || exported.index < module.imported_functions) continue;
    if (exported.name == module.function_name(exported.index)) continue;
    std::string name = capture::within_limit(exported.name);
    if (seen.emplace(exported.index, name).second) names.push_back({exported.index, std::move(name)});
  }
  std::ranges::stable_sort(names, {}, &capture::ExportedName::function);
  return names;
}

// But for its metadata.
capture::Image module_image(const runtime::Module& module, const runtime::CodeImage& code,
                            const std::string& name) {
  capture::Image image;
  image.kind = capture::ImageKind::Module;
  image.name = capture::within_limit(module.name.empty() ? name : module.name);
  image.size = static_cast<uint32_t>(code.bytes.size());
  image.regions = convert(code.regions);
  base::Sha256 whole;
  for (const runtime::CompiledFunction& function : code.functions) {
    const runtime::FunctionBody& body = module.bodies[function.function - module.imported_functions];
    whole.update(function.hash);
    image.functions.push_back(
        {.index = function.function,
         .name = capture::within_limit(module.function_name(function.function)),
         .signature = capture::within_limit(to_string(module.type_of_function(function.function))),
         .begin = function.begin,
         .size = function.size,
         .wasm_begin = body.begin,
         .wasm_size = body.size,
         .sha256 = function.hash,
         .statistics = convert(function.statistics)});
  }
  image.exports = exported_names(module);
  image.sha256 = whole.finish();
  return image;
}

capture::Image adapter_image(const RecordSettings& settings, const std::string& name,
                             const runtime::CodeImage& code) {
  capture::Image image;
  image.kind = capture::ImageKind::Adapter;
  image.name = capture::within_limit(name);
  image.size = static_cast<uint32_t>(code.bytes.size());
  image.sha256 = base::sha256(masked_bytes(code));
  image.regions = convert(code.regions);
  image.metadata = describe_metadata(code, settings);
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

// The image that describes code of the journal: one that is there, or another.
uint32_t image_of(const Subject& subject, const HeldCode& code, DescribedCode& described) {
  const auto kind = code.signature ? capture::ImageKind::Adapter : capture::ImageKind::Module;
  const std::string name = code.signature ? to_string(*code.signature) : "";
  for (uint32_t i = 0; i < described.codes.size(); ++i) {
    const capture::Image& image = described.images.images[i];
    if (image.kind != kind || described.codes[i]->bytes != code.image->bytes) continue;
    if (!code.signature || image.name == name) return i;
  }
  // Code that nobody knows a module for is of the runtime's own making.
  described.images.images.push_back(code.module ? module_image(*code.module, *code.image, "another module")
                                                : adapter_image(subject.settings(), name, *code.image));
  described.codes.push_back(code.image);
  return static_cast<uint32_t>(described.codes.size() - 1);
}

capture::JournalEntry as_entry(const JournalRecord& record, uint32_t image) {
  return {record.load ? capture::JournalAction::Load : capture::JournalAction::Retire, image,
          record.monotonic_ns, record.address};
}

void add_history(const Subject& subject, const CodeJournal& journal, uint64_t loaded_ns,
                 DescribedCode& described) {
  for (const HeldCode& code : journal.codes()) {
    described.image_of.push_back(image_of(subject, code, described));
  }
  std::vector<bool> loaded(described.codes.size());
  for (const JournalRecord& record : journal.records()) loaded[described.image_of[record.code]] = true;
  for (uint32_t i = 0; i < loaded.size(); ++i) {
    if (!loaded[i]) described.images.journal.push_back({capture::JournalAction::Load, i, loaded_ns, 0});
  }
  for (const JournalRecord& record : journal.records()) {
    described.images.journal.push_back(as_entry(record, described.image_of[record.code]));
  }
  std::stable_sort(described.images.journal.begin(), described.images.journal.end(),
                   [](const auto& a, const auto& b) { return a.monotonic_ns < b.monotonic_ns; });
}

}  // namespace

base::Result<DescribedCode> describe_code(const Subject& subject, uint64_t loaded_ns,
                                          const CodeJournal* journal) {
  const runtime::Module& module = subject.reference().decoded();
  const runtime::MappedCode& mapped = subject.reference().data()->code();
  DescribedCode described;
  capture::Images& images = described.images;
  const auto code_of_module = subject.ordinary_code();
  images.images.push_back(module_image(module, *code_of_module,
                                       base::printable(base::base_name(subject.workload().module_path))));
  images.images.back().metadata = describe_metadata(subject);
  described.codes.push_back(code_of_module);
  for (const auto& [name, type] : adapted_signatures(module)) {
    // Compiled again: it is cheap, and the same signature gives the same bytes.
    auto code = subject.engine().data()->compiler().compile_adapters(*type);
    if (!code) return code.error();
    images.images.push_back(adapter_image(subject.settings(), name, **code));
    described.codes.push_back(*std::move(code));
  }
  if (journal) {
    add_history(subject, *journal, loaded_ns, described);
    return described;
  }
  // Code that counts is there in the place of what is described.
  const auto address = mapped.image().counted ? 0 : reinterpret_cast<uint64_t>(mapped.base());
  for (uint32_t i = 0; i < images.images.size(); ++i) {
    images.journal.push_back({capture::JournalAction::Load, i, loaded_ns, i == 0 ? address : 0});
  }
  return described;
}

DescribedCode describe_code(const CodeJournal& journal, const std::string& name,
                            const RecordSettings& settings) {
  DescribedCode described;
  for (const HeldCode& code : journal.codes()) {
    described.image_of.push_back(static_cast<uint32_t>(described.codes.size()));
    described.codes.push_back(code.image);
    std::vector<capture::Image>& images = described.images.images;
    if (code.module) {
      images.push_back(module_image(*code.module, *code.image, name));
      images.back().metadata = describe_metadata(*code.module, *code.image, code.debug_info.get(), settings);
    } else {
      images.push_back(
          adapter_image(settings, code.signature ? to_string(*code.signature) : "", *code.image));
    }
  }
  for (const JournalRecord& record : journal.records()) {
    described.images.journal.push_back(as_entry(record, record.code));
  }
  return described;
}

std::vector<uint8_t> code_bytes(const DescribedCode& code) {
  std::vector<uint8_t> bytes;
  for (const auto& image : code.codes) {
    const std::vector<uint8_t> masked = masked_bytes(*image);
    bytes.insert(bytes.end(), masked.begin(), masked.end());
  }
  return bytes;
}

}  // namespace wago::harness
