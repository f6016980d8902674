#include "harness/code_journal.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "runtime/code_image.h"

namespace wago::harness {

CodeJournal::CodeJournal(const JournalLimits& limits, runtime::CodeObserver* also)
    : limits_(limits), also_(also) {
  runtime::observe_code(this);
  observing_ = true;
}

CodeJournal::~CodeJournal() {
  stop();
}

void CodeJournal::stop() {
  if (observing_) runtime::observe_code(nullptr);
  observing_ = false;
}

std::optional<uint32_t> CodeJournal::number_of(const runtime::MappedCode& code) {
  const uint64_t bytes = code.image().bytes.size();
  HeldCode held = hold(code);
  const size_t hash = hash_of(held);
  auto [at, end] = codes_by_hash_.equal_range(hash);
  for (; at != end; ++at) {
    if (is_same_code(codes_[at->second], held)) return at->second;
  }
  if (bytes > limits_.code_bytes - code_bytes_) return std::nullopt;
  const auto number = static_cast<uint32_t>(codes_.size());
  codes_.push_back(std::move(held));
  codes_by_hash_.emplace(hash, number);
  code_bytes_ += bytes;
  largest_ = std::max(largest_, bytes);
  return number;
}

void CodeJournal::retire(Life& life, uint64_t now, uint64_t address) {
  life.retired_ns = now;  // recorded or not, the address has another meaning from now on
  if (full()) {
    ++lost_;
  } else {
    records_.push_back({false, life.code, now, address});
  }
}

void CodeJournal::loaded(const runtime::MappedCode& code) {
  record_load(code);
  if (also_) also_->loaded(code);
}

void CodeJournal::retired(const runtime::MappedCode& code) {
  record_retirement(code);
  if (also_) also_->retired(code);
}

void CodeJournal::record_load(const runtime::MappedCode& code) {
  const auto address = reinterpret_cast<uint64_t>(code.base());
  std::lock_guard lock(mutex_);
  // Under the lock, so that records are in the order of their times.
  const uint64_t now = base::monotonic_ns();
  const auto known = lives_.find(address);
  if (known != lives_.end() && known->second.back().retired_ns == UINT64_MAX) {
    // Told twice (see observe_code), or its retirement fell into the moment before the journal began.
    Life& last = known->second.back();
    if (is_same_code(codes_[last.code], hold(code))) return;
    retire(last, now, address);
  }
  const auto number = full() ? std::nullopt : number_of(code);
  if (!number) {
    ++lost_;
    return;
  }
  records_.push_back({true, *number, now, address});
  lives_[address].push_back({*number, now});
}

void CodeJournal::record_retirement(const runtime::MappedCode& code) {
  const auto address = reinterpret_cast<uint64_t>(code.base());
  std::lock_guard lock(mutex_);
  const auto known = lives_.find(address);
  // Code whose load was lost is not known, and its loss was counted.
  if (known == lives_.end() || known->second.back().retired_ns != UINT64_MAX) return;
  retire(known->second.back(), base::monotonic_ns(), address);
}

std::optional<CodeJournal::Found> CodeJournal::find(uint64_t address, uint64_t monotonic_ns) const {
  for (auto at = lives_.upper_bound(address); at != lives_.begin();) {
    --at;
    const uint64_t offset = address - at->first;
    if (offset >= largest_) break;
    auto after = std::upper_bound(at->second.begin(), at->second.end(), monotonic_ns,
                                  [](uint64_t time, const Life& life) { return time < life.loaded_ns; });
    if (after == at->second.begin()) continue;
    const Life& life = *(after - 1);
    if (monotonic_ns >= life.retired_ns || offset >= codes_[life.code].image->bytes.size()) continue;
    return Found{life.code, static_cast<uint32_t>(offset)};
  }
  return std::nullopt;
}

}  // namespace wago::harness
