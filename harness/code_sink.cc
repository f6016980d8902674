#include "harness/code_sink.h"

#include "base/clock.h"
#include "base/text.h"
#include "runtime/code_image.h"
#include "runtime/module.h"

namespace wago::harness {

std::vector<CodeSymbol> symbols_of(const PublishedCode& code) {
  std::vector<CodeSymbol> symbols;
  if (code.module) {
    for (const runtime::CompiledFunction& function : code.image->functions) {
      symbols.push_back({base::printable(code.module->function_name(function.function)), function.begin,
                         function.size, function.function});
    }
    return symbols;
  }
  for (const runtime::CodeRegion& region : code.image->regions) {
    const bool entry = region.kind == runtime::RegionKind::EntryAdapter;
    if (!entry && region.kind != runtime::RegionKind::HostAdapter) continue;
    symbols.push_back({std::string(entry ? "[entry adapter] " : "[host adapter] ") +
                           (code.signature ? to_string(*code.signature) : ""),
                       region.begin, region.size, ~0u});
  }
  return symbols;
}

void CodePublisher::loaded(const runtime::MappedCode& code) {
  const PublishedCode published = {code.shared_image(),
                                   code.shared_module(),
                                   code.signature(),
                                   code.debug_info(),
                                   reinterpret_cast<uint64_t>(code.base()),
                                   base::monotonic_ns()};
  std::lock_guard lock(mutex_);
  if (holding_) {
    held_.push_back(published);
  } else {
    tell(published);
  }
}

void CodePublisher::release() {
  std::lock_guard lock(mutex_);
  holding_ = false;
  for (const PublishedCode& code : held_) tell(code);
  held_.clear();
}

void CodePublisher::tell(const PublishedCode& code) {
  if (!outcome_) return;
  if (auto written = sink_.write(code); !written) outcome_ = written.error();
}

base::Result<void> CodePublisher::finish() {
  release();
  std::lock_guard lock(mutex_);
  auto closed = sink_.close();
  return outcome_ ? closed : outcome_;
}

}  // namespace wago::harness
