#include "harness/code_sink.h"

#include <iterator>

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
  const PublishedCode published = {hold(code), reinterpret_cast<uint64_t>(code.base()), base::monotonic_ns()};
  std::lock_guard lock(mutex_);
  if (sink_) {
    tell(published);
  } else {
    held_.push_back(published);
  }
}

void CodePublisher::release(CodeSink& sink) {
  std::lock_guard lock(mutex_);
  sink_ = &sink;
  for (const PublishedCode& code : held_) tell(code);
  held_.clear();
}

bool CodePublisher::is_told(const PublishedCode& code) const {
  const auto last = told_.find(code.address);
  return last != told_.end() && is_same_code(last->second, code);
}

void CodePublisher::tell(const PublishedCode& code) {
  if (!outcome_ || is_told(code)) return;
  // What was where it is now is gone.
  auto overlapped = told_.lower_bound(code.address);
  if (overlapped != told_.begin()) {
    const auto before = std::prev(overlapped);
    if (before->first + before->second.image->bytes.size() > code.address) overlapped = before;
  }
  const uint64_t end = code.address + code.image->bytes.size();
  while (overlapped != told_.end() && overlapped->first < end) overlapped = told_.erase(overlapped);
  told_.emplace(code.address, code);
  if (auto written = sink_->write(code); !written) outcome_ = written.error();
}

base::Result<void> CodePublisher::finish() {
  std::lock_guard lock(mutex_);
  auto closed = sink_->close();
  return outcome_ ? closed : outcome_;
}

}  // namespace wago::harness
