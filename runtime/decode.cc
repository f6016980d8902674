#include <algorithm>
#include <utility>

#include "runtime/decode_limits.h"
#include "runtime/decoder.h"

namespace wago::runtime {

namespace {

enum SectionId : uint8_t {
  kCustom,
  kType,
  kImport,
  kFunction,
  kTable,
  kMemory,
  kGlobal,
  kExport,
  kStart,
  kElement,
  kCode,
  kData,
  kDataCount,
};

struct SectionInfo {
  const char* name;
  int rank;  // sections come in the order of their rank (section 5.5.2)
};
constexpr SectionInfo kSections[] = {
    {"custom section", 0},      {"type section", 1},    {"import section", 2}, {"function section", 3},
    {"table section", 4},       {"memory section", 5},  {"global section", 6}, {"export section", 7},
    {"start section", 8},       {"element section", 9}, {"code section", 11},  {"data section", 12},
    {"data count section", 10},
};
constexpr uint8_t kSectionIds = sizeof kSections / sizeof kSections[0];

}  // namespace

bool Decoder::run() {
  CheckedCursor in(module_.bytes, 0, static_cast<uint32_t>(module_.bytes.size()), &errors_);
  if (!header(in)) return false;
  while (!in.at_end()) {
    if (!section(in)) return false;
  }
  if (!missing_sections(in.offset())) return false;
  number_references();
  if (names_) read_names(module_, names_->begin, names_->begin + names_->size);
  return true;
}

void Decoder::number_references() {
  declared_.resize(module_.function_count());
  if (module_.start) declared_[*module_.start] = true;
  module_.reference_indices.assign(module_.function_count(), Module::kNotReferenced);
  for (uint32_t i = 0; i < module_.function_count(); ++i) {
    if (declared_[i]) module_.reference_indices[i] = module_.reference_count++;
  }
}

bool Decoder::header(CheckedCursor& in) {
  constexpr uint32_t kMagic = 0x6d736100;  // "\0asm"
  errors_.enter_section("header");
  if (in.at_end()) return errors_.module_empty();
  const uint32_t magic = in.fixed32();
  if (in.failed()) return false;
  if (magic != kMagic) return errors_.magic_missing(0);
  const uint32_t at = in.offset();
  const uint32_t version = in.fixed32();
  if (in.failed()) return false;
  return version == 1 || errors_.unknown_version(at, version);
}

bool Decoder::section(CheckedCursor& in) {
  errors_.enter_section("section header");
  const uint32_t at = in.offset();
  const uint8_t id = in.byte();
  if (id >= kSectionIds) return errors_.malformed_section_id(at, id);
  const uint32_t size_at = in.offset();
  const uint32_t size = in.u32();
  if (in.failed()) return false;
  if (size > in.remaining()) return errors_.length_out_of_bounds(size_at, size, in.remaining());
  if (!in_order(at, id)) return false;
  errors_.enter_section(kSections[id].name);
  CheckedCursor contents(module_.bytes, in.offset(), in.offset() + size, &errors_);
  in.bytes(size);
  if (!section_contents(id, contents)) return false;
  return contents.at_end() || errors_.section_size_mismatch(contents.offset(), contents.remaining());
}

bool Decoder::in_order(uint32_t at, uint8_t id) {
  if (id == kCustom) return true;
  const SectionInfo& section = kSections[id];
  if (section.rank <= last_rank_) {
    return errors_.section_out_of_order(at, section.name, section.rank == last_rank_);
  }
  last_rank_ = section.rank;
  return true;
}

bool Decoder::section_contents(uint8_t id, CheckedCursor& in) {
  switch (id) {
    case kCustom:
      return custom_section(in);
    case kType:
      return type_section(in);
    case kImport:
      return import_section(in);
    case kFunction:
      return function_section(in);
    case kTable:
      return table_section(in);
    case kMemory:
      return memory_section(in);
    case kGlobal:
      return global_section(in);
    case kExport:
      return export_section(in);
    case kStart:
      return start_section(in);
    case kElement:
      return element_section(in);
    case kCode:
      return code_section(in);
    case kData:
      return data_section(in);
    case kDataCount:
      return data_count_section(in);
  }
  WAGO_UNREACHABLE("section id");
}

bool Decoder::custom_section(CheckedCursor& in) {
  if (module_.customs.size() == kMaxCustomSections) {
    return errors_.over_limit(in.offset(), "custom sections", kMaxCustomSections + uint64_t{1},
                              kMaxCustomSections);
  }
  const std::string_view name = in.name("a custom section's name");
  if (in.failed()) return false;
  module_.customs.push_back({std::string(name), in.offset(), in.remaining()});
  if (name == "name" && !names_) names_ = module_.customs.back();
  in.bytes(in.remaining());
  return true;
}

// What other sections announced must have come.
bool Decoder::missing_sections(uint32_t at) {
  errors_.enter_section("module");
  const uint32_t functions = module_.function_count() - module_.imported_functions;
  const size_t bodies = module_.bodies.size();
  if (bodies != functions) return errors_.inconsistent_code_count(at, functions, bodies);
  if (!has_data_ && data_count_.value_or(0) != 0) return errors_.inconsistent_data_count(at, *data_count_, 0);
  return true;
}

bool Decoder::count(CheckedCursor& in, std::string_view what, uint64_t already, uint64_t limit,
                    uint32_t& count) {
  const uint32_t at = in.offset();
  count = in.u32();
  if (in.failed()) return false;
  return already + count <= limit || errors_.over_limit(at, what, already + count, limit);
}

base::Result<std::shared_ptr<const Module>> decode_module(std::vector<uint8_t> bytes,
                                                          const DecodeOptions& options) {
  DecodeErrors errors;
  // Offsets within a module are 32-bit.
  const uint64_t limit = std::min<uint64_t>(options.max_module_bytes, UINT32_MAX);
  if (bytes.size() > limit) {
    errors.enter_section("module");
    errors.over_limit(0, "bytes in the module", bytes.size(), limit);
    return errors.take();
  }
  auto module = std::make_shared<Module>();
  module->bytes = std::move(bytes);
  if (!Decoder(*module, options, errors).run()) return errors.take();
  return std::shared_ptr<const Module>(std::move(module));
}

}  // namespace wago::runtime
