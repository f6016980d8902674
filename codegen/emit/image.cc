#include "codegen/emit/image.h"

#include <algorithm>
#include <cstring>

#include "runtime/types.h"

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
  for (runtime::Decision decision : code.decisions) {
    if (decision.inline_site != ~0u) decision.inline_site += first_inline_site;
    image.decisions.push_back(decision);
  }
  image.origins.insert(image.origins.end(), code.origin.begin(), code.origin.end());
  for (runtime::SourcePosition p : code.positions) {
    p.offset += origin;
    if (p.inline_site != ~0u) p.inline_site += first_inline_site;
    image.positions.push_back(p);
  }
  return origin;
}

ImageLinker::ImageLinker(uint32_t first_function, uint32_t count, uint64_t wasm_bytes)
    : first_function_(first_function) {
  // Growing would hold everything twice. These are a little more than code has; what is reserved and not used
  // is never touched.
  image_.bytes.reserve(std::min(2 * wasm_bytes + uint64_t{count} * kFunctionAlignment, kMaxCodeBytes));
  image_.trap_sites.reserve(wasm_bytes / 8);
  image_.positions.reserve(wasm_bytes / 8);
  image_.regions.reserve(size_t{count} * 3);
  image_.functions.reserve(count);
  image_.unwind_rows.reserve(size_t{count} * 4);
  image_.inline_sites.reserve(wasm_bytes / 64);
  image_.tls_fixups.reserve(count);
  calls_.reserve(wasm_bytes / 16);
}

uint32_t ImageLinker::append(const FunctionCode& code, uint32_t wasm_begin) {
  runtime::CompiledFunction f;
  f.function = first_function_ + static_cast<uint32_t>(image_.functions.size());
  f.begin = append_code(image_, code, runtime::RegionKind::Body, f.function);
  f.size = static_cast<uint32_t>(code.bytes.size());
  f.wasm_begin = wasm_begin;
  f.hash = code.hash;
  f.statistics = code.statistics;
  image_.functions.push_back(f);
  for (const CallFixup& call : code.calls) calls_.push_back({f.begin + call.offset, call.function});
  return f.begin;
}

runtime::CodeImage ImageLinker::finish() && {
  for (const CallFixup& call : calls_) {
    const uint32_t callee = call.function - first_function_;
    WAGO_CHECK(call.function >= first_function_ && callee < image_.functions.size());
    const int32_t distance =
        static_cast<int32_t>(image_.functions[callee].begin) - static_cast<int32_t>(call.offset + 4);
    std::memcpy(image_.bytes.data() + call.offset, &distance, 4);
  }
  return std::move(image_);
}

}  // namespace wago::codegen
