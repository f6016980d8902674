#include "codegen/emit/image.h"

#include <cstring>

namespace wago::codegen {

namespace {

void append_region(runtime::CodeImage& image, runtime::RegionKind kind, uint32_t begin, uint32_t end,
                   uint32_t function) {
  if (end > begin) image.regions.push_back({kind, begin, end - begin, function});
}

}  // namespace

uint32_t append_code(runtime::CodeImage& image, const FunctionCode& code, runtime::RegionKind kind,
                     uint32_t function) {
  uint32_t end = static_cast<uint32_t>(image.bytes.size());
  uint32_t origin = (end + kFunctionAlignment - 1) & ~(kFunctionAlignment - 1);
  WAGO_CHECK(uint64_t{origin} + code.bytes.size() < (uint64_t{1} << 31));
  append_region(image, runtime::RegionKind::Padding, end, origin, ~0u);
  image.bytes.resize(origin, 0xcc);
  image.bytes.insert(image.bytes.end(), code.bytes.begin(), code.bytes.end());

  append_region(image, kind, origin, origin + code.stubs_begin, function);
  append_region(image, runtime::RegionKind::TrapStubs, origin + code.stubs_begin,
                origin + code.literals_begin, function);
  append_region(image, runtime::RegionKind::Literals, origin + code.literals_begin,
                origin + static_cast<uint32_t>(code.bytes.size()), function);
  for (uint32_t field : code.tls_fields) image.tls_fixups.push_back({origin + field});
  for (runtime::TrapSite site : code.trap_sites) {
    site.offset += origin;
    image.trap_sites.push_back(site);
  }
  for (runtime::EmittedSite site : code.emitted_sites) {
    site.offset += origin;
    image.emitted_sites.push_back(site);
  }
  for (runtime::UnwindRow row : code.unwind_rows) {
    row.offset += origin;
    image.unwind_rows.push_back(row);
  }
  uint32_t first_inline_site = static_cast<uint32_t>(image.inline_sites.size());
  for (runtime::InlineSite site : code.inline_sites) {
    if (site.parent != ~0u) site.parent += first_inline_site;
    image.inline_sites.push_back(site);
  }
  for (runtime::SourcePosition p : code.positions) {
    p.offset += origin;
    if (p.inline_site != ~0u) p.inline_site += first_inline_site;
    image.positions.push_back(p);
  }
  return origin;
}

void link_image(runtime::CodeImage& image, std::span<FunctionCode> codes, uint32_t first_function,
                std::span<const uint32_t> wasm_begin) {
  size_t bytes = 0, trap_sites = 0, positions = 0, inline_sites = 0, tls_fields = 0;
  for (const FunctionCode& code : codes) {
    bytes += code.bytes.size() + kFunctionAlignment;
    trap_sites += code.trap_sites.size();
    positions += code.positions.size();
    inline_sites += code.inline_sites.size();
    tls_fields += code.tls_fields.size();
  }
  image.bytes.reserve(bytes);
  image.trap_sites.reserve(trap_sites);
  image.positions.reserve(positions);
  image.inline_sites.reserve(inline_sites);
  image.tls_fixups.reserve(tls_fields);
  image.functions.reserve(codes.size());
  std::vector<std::vector<CallFixup>> calls(codes.size());
  for (size_t i = 0; i < codes.size(); ++i) {
    runtime::CompiledFunction f;
    f.function = first_function + static_cast<uint32_t>(i);
    f.begin = append_code(image, codes[i], runtime::RegionKind::Body, f.function);
    f.size = static_cast<uint32_t>(codes[i].bytes.size());
    f.wasm_begin = wasm_begin[i];
    f.hash = codes[i].hash;
    f.statistics = codes[i].statistics;
    image.functions.push_back(f);
    calls[i] = std::move(codes[i].calls);
    codes[i] = FunctionCode();
  }
  for (size_t i = 0; i < codes.size(); ++i) {
    for (const CallFixup& call : calls[i]) {
      WAGO_CHECK(call.function >= first_function && call.function - first_function < codes.size());
      uint32_t field = image.functions[i].begin + call.offset;
      int32_t distance = static_cast<int32_t>(image.functions[call.function - first_function].begin) -
                         static_cast<int32_t>(field + 4);
      std::memcpy(image.bytes.data() + field, &distance, 4);
    }
  }
}

}  // namespace wago::codegen
