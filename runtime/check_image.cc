// check_image() of artifact.h: nothing is taken for granted of an image that a file holds.
#include <cstring>

#include "runtime/abi.h"
#include "runtime/artifact.h"

namespace wago::runtime {

namespace {

constexpr uint32_t kCodeAlignment = 64;

class ImageCheck {
 public:
  ImageCheck(const CodeImage& image, const Module* module) : image_(image), module_(module) {}

  const char* run() const {
    if (image_.bytes.size() >= kMaxCodeBytes) return "its code is larger than code can be";
    if (!regions()) return "its regions do not tile its code";
    if (module_ ? !functions() : !adapters()) return "its functions are not where its regions are";
    if (!inline_sites()) return "its inline sites do not form trees";
    if (!trap_sites()) return "its trap sites do not fit its code";
    if (!positions()) return "its source positions do not fit its code";
    if (!marks(image_.emitted_sites, &EmittedSite::kind, SiteKind::Frame)) {
      return "its emitted sites do not fit its code";
    }
    if (!decisions() || !origins()) return "its decisions are not about its functions";
    if (!marks(image_.unwind_rows, &UnwindRow::rule, UnwindRule::Adapter)) {
      return "its unwind rows do not fit its code";
    }
    if (!fixups()) return "its relocations do not fit its code";
    return nullptr;
  }

 private:
  bool is_defined(uint32_t function) const {
    return module_ && function >= module_->imported_functions && function < module_->function_count();
  }
  const FunctionBody& body(uint32_t function) const {
    return module_->bodies[function - module_->imported_functions];
  }

  bool regions() const {
    uint64_t end = 0;
    for (const CodeRegion& region : image_.regions) {
      if (region.begin != end || region.size == 0) return false;
      end += region.size;
      switch (region.kind) {
        case RegionKind::Body:
          if (!is_defined(region.function)) return false;
          break;
        case RegionKind::EntryAdapter:
        case RegionKind::HostAdapter:
          if (module_ || region.function != ~0u) return false;
          break;
        case RegionKind::TrapStubs:
        case RegionKind::Literals:
          if (module_ ? !is_defined(region.function) : region.function != ~0u) return false;
          break;
        case RegionKind::Padding:
          if (region.function != ~0u) return false;
          break;
        default:
          return false;
      }
    }
    return end == image_.bytes.size();
  }

  // Every function's body begins its extent, and all bodies belong to one.
  bool functions() const {
    if (image_.entry_adapter != 0 || image_.host_adapter != 0) return false;
    if (image_.functions.size() != module_->bodies.size()) return false;
    auto region = image_.regions.begin();
    uint64_t end = 0;
    for (size_t i = 0; i < image_.functions.size(); ++i) {
      const CompiledFunction& function = image_.functions[i];
      if (function.function != module_->imported_functions + i) return false;
      if (function.wasm_begin != module_->bodies[i].begin) return false;
      if (function.begin < end || function.begin % kCodeAlignment != 0) return false;
      end = uint64_t{function.begin} + function.size;
      for (bool first = true; region != image_.regions.end() && region->begin < end; ++region) {
        if (region->kind == RegionKind::Padding) continue;
        if (region->function != function.function || region->begin < function.begin) return false;
        if (uint64_t{region->begin} + region->size > end) return false;
        if (first != (region->kind == RegionKind::Body)) return false;
        if (first && region->begin != function.begin) return false;
        first = false;
      }
      if (end > image_.bytes.size() || function.size == 0) return false;
    }
    for (; region != image_.regions.end(); ++region) {
      if (region->kind != RegionKind::Padding) return false;
    }
    return true;
  }

  bool adapters() const {
    auto begins = [&](RegionKind kind, uint32_t offset) {
      for (const CodeRegion& region : image_.regions) {
        if (region.kind == kind && region.begin == offset) return true;
      }
      return false;
    };
    return image_.functions.empty() && begins(RegionKind::EntryAdapter, image_.entry_adapter) &&
           begins(RegionKind::HostAdapter, image_.host_adapter);
  }

  bool inline_sites() const {
    for (size_t i = 0; i < image_.inline_sites.size(); ++i) {
      const InlineSite& site = image_.inline_sites[i];
      if (!is_defined(site.callee)) return false;
      if (site.parent != ~0u && site.parent >= i) return false;
    }
    return true;
  }

  bool trap_sites() const {
    uint64_t next = 0;
    for (const TrapSite& site : image_.trap_sites) {
      if (site.offset < next || site.offset >= image_.bytes.size()) return false;
      next = uint64_t{site.offset} + 1;
      if (site.code > base::TrapCode::Host) return false;
    }
    return true;
  }

  bool positions() const {
    uint32_t last = 0;
    size_t begun = 0;  // functions that begin at or before the position
    for (const SourcePosition& position : image_.positions) {
      if (position.offset < last || position.offset >= image_.bytes.size()) return false;
      last = position.offset;
      while (begun < image_.functions.size() && image_.functions[begun].begin <= position.offset) ++begun;
      if (module_ && begun == 0) return false;
      if (position.inline_site != ~0u) {
        if (position.inline_site >= image_.inline_sites.size()) return false;
        if (position.wasm_pc > body(image_.inline_sites[position.inline_site].callee).size) return false;
      } else if (module_ && position.wasm_pc > module_->bodies[begun - 1].size) {
        return false;
      }
    }
    return true;
  }

  // Sorted, inside the code, with a kind up to `last_kind`. One may lie at the end of the code: it is about
  // none.
  template <class Mark, class Kind>
  bool marks(const std::vector<Mark>& marks, Kind Mark::*kind, Kind last_kind) const {
    uint32_t last = 0;
    for (const Mark& mark : marks) {
      if (mark.offset < last || mark.offset > image_.bytes.size() || mark.*kind > last_kind) return false;
      last = mark.offset;
    }
    return true;
  }

  bool decisions() const {
    const size_t kinds = base::spellings<base::DecisionKind>().size();
    const Decision* previous = nullptr;
    for (const Decision& decision : image_.decisions) {
      if (!is_defined(decision.function) || static_cast<size_t>(decision.kind) >= kinds) return false;
      const bool inlined = decision.inline_site != ~0u;
      if (inlined && decision.inline_site >= image_.inline_sites.size()) return false;
      const uint32_t in = inlined ? image_.inline_sites[decision.inline_site].callee : decision.function;
      if (decision.wasm_pc > body(in).size) return false;
      if (decision.callee != ~0u && decision.callee >= module_->function_count()) return false;
      if (previous && decided_before(decision, *previous)) return false;
      previous = &decision;
    }
    return true;
  }

  bool origins() const {
    for (size_t i = 0; i < image_.origins.size(); ++i) {
      if (!is_defined(image_.origins[i].function)) return false;
      if (i > 0 && image_.origins[i].function <= image_.origins[i - 1].function) return false;
    }
    return true;
  }

  // Each is four bytes of code of its own, which hold an offset in the thread's state.
  bool fixups() const {
    uint64_t next = 0;
    for (const TlsFixup& fixup : image_.tls_fixups) {
      const uint64_t end = uint64_t{fixup.offset} + 4;
      if (fixup.offset < next || end > image_.bytes.size()) return false;
      next = end;
      int32_t field;
      std::memcpy(&field, image_.bytes.data() + fixup.offset, 4);
      if (field < 0 || static_cast<size_t>(field) + 8 > sizeof(ThreadState)) return false;
    }
    return true;
  }

  const CodeImage& image_;
  const Module* module_;
};

}  // namespace

std::optional<std::string> check_image(const CodeImage& image, const Module* module) {
  const char* wrong = ImageCheck(image, module).run();
  return wrong ? std::optional<std::string>(wrong) : std::nullopt;
}

}  // namespace wago::runtime
