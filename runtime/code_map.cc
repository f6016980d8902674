#include "runtime/code_map.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "base/check.h"
#include "runtime/abi.h"
#include "runtime/regions.h"

namespace wago::runtime {

namespace {

struct Entry {
  uint64_t begin = 0;
  uint64_t end = 0;
  const MappedCode* code = nullptr;  // atomic once published; null: unmapped since
};
using Snapshot = std::vector<Entry>;  // sorted by begin

// What handlers touch: plain atomics with static storage, so that no initialisation order or guard is
// involved.
constinit std::atomic<Snapshot*> published{nullptr};
constinit std::atomic<uint64_t> readers{0};
static_assert(std::atomic<Snapshot*>::is_always_lock_free &&
              std::atomic_ref<const MappedCode*>::is_always_lock_free &&
              std::atomic<uint64_t>::is_always_lock_free);

constinit std::atomic<CodeObserver*> observer{nullptr};
constinit std::atomic<uint64_t> observer_calls{0};  // that may be running

template <class Tell>
void tell_observer(Tell tell) {
  // As find_code() counts readers: whoever replaces the observer sees this count, or this load the successor.
  observer_calls.fetch_add(1);
  if (CodeObserver* current = observer.load()) tell(*current);
  observer_calls.fetch_sub(1);
}

class Registry {
 public:
  static Registry& instance() {
    static Registry& registry = *new Registry;  // never destroyed: code may be unmapped by static destructors
    return registry;
  }

  void add(const MappedCode* code, uint64_t begin, uint64_t end) {
    std::lock_guard lock(mutex_);
    Snapshot* old = published.load();
    auto next = std::make_unique<Snapshot>();
    next->reserve((old ? old->size() : 0) + 1);
    retired_.reserve(retired_.size() + 1);
    bool added = false;
    auto add_here = [&] {
      next->push_back({begin, end, code});
      added = true;
    };
    for (size_t i = 0; old && i < old->size(); ++i) {
      const Entry& entry = (*old)[i];
      if (!entry.code) continue;
      if (!added && entry.begin > begin) add_here();
      next->push_back(entry);
    }
    if (!added) add_here();
    published.store(next.release());
    if (old) retired_.emplace_back(old);
    if (readers.load() == 0) retired_.clear();
  }

  void observe(CodeObserver* next) {
    {
      std::lock_guard lock(mutex_);
      observer.store(next);
      const Snapshot* present = published.load();
      for (size_t i = 0; next && present && i < present->size(); ++i) {
        if (const MappedCode* code = (*present)[i].code) next->loaded(*code);
      }
    }
    while (observer_calls.load() != 0) sched_yield();
  }

  // Needs no memory: what is let go must be, most of all where there is none.
  void remove(const MappedCode* code) {
    std::lock_guard lock(mutex_);
    for (Entry& entry : *published.load()) {
      if (entry.code == code) std::atomic_ref(entry.code).store(nullptr);
    }
  }

 private:
  Registry() {
    pthread_atfork([] { instance().mutex_.lock(); }, [] { instance().mutex_.unlock(); },
                   [] {
                     readers.store(0);
                     observer_calls.store(0);
                     observer.store(nullptr);
                     instance().mutex_.unlock();
                   });
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<const Snapshot>> retired_;
};

std::atomic<bool> any_counted{false};

}  // namespace

bool counted_code_exists() {
  return any_counted.load(std::memory_order_relaxed);
}

const MappedCode* find_code(uint64_t pc) {
  // Sequentially consistent on both sides: either the writer sees this count, or this load sees the new
  // array.
  readers.fetch_add(1);
  const MappedCode* found = nullptr;
  if (Snapshot* snapshot = published.load()) {
    auto after = std::upper_bound(snapshot->begin(), snapshot->end(), pc,
                                  [](uint64_t value, const Entry& entry) { return value < entry.begin; });
    if (after != snapshot->begin() && pc < (after - 1)->end)
      found = std::atomic_ref((after - 1)->code).load();
  }
  readers.fetch_sub(1);
  return found;
}

base::Result<std::unique_ptr<MappedCode>> MappedCode::map(std::shared_ptr<const CodeImage> image,
                                                          std::shared_ptr<const Module> module,
                                                          uint32_t code_offset,
                                                          std::shared_ptr<const SourceLines> debug_info) {
  std::unique_ptr<MappedCode> code(new MappedCode);
  code->image_ = std::move(image);
  code->module_ = std::move(module);
  code->debug_info_ = std::move(debug_info);
  return publish(std::move(code), code_offset);
}

base::Result<std::unique_ptr<MappedCode>> MappedCode::map_adapters(
    std::shared_ptr<const CodeImage> image, std::shared_ptr<const FuncType> signature) {
  std::unique_ptr<MappedCode> code(new MappedCode);
  code->image_ = std::move(image);
  code->signature_ = std::move(signature);
  return publish(std::move(code), 0);
}

base::Result<std::unique_ptr<MappedCode>> MappedCode::publish(std::unique_ptr<MappedCode> code,
                                                              uint32_t code_offset) {
  WAGO_CHECK(code_offset < 64 && code_offset % 16 == 0);
  const size_t page_bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t used = code_offset + code->image_->bytes.size();
  const size_t mapping_bytes = std::max(page_bytes, (used + page_bytes - 1) / page_bytes * page_bytes);

  void* mapping = map_in_region(Region::Code, mapping_bytes, PROT_READ | PROT_WRITE);
  if (mapping == MAP_FAILED) {
    return base::failed("cannot map " + std::to_string(mapping_bytes) +
                        " bytes for code: " + std::strerror(errno));
  }
  code->mapping_ = mapping;
  code->mapping_bytes_ = mapping_bytes;
  code->base_ = static_cast<uint8_t*>(mapping) + code_offset;

  const CodeImage& source = *code->image_;
  if (source.counted) {
    code->exit_count_ = source.counted->exits.size();
    code->exit_counts_ = std::make_unique<std::atomic<uint64_t>[]>(code->exit_count_);
    any_counted = true;
  }
  std::memset(mapping, 0xcc, mapping_bytes);  // int3 around the image: a stray jump stops at once
  if (!source.bytes.empty()) std::memcpy(code->base_, source.bytes.data(), source.bytes.size());
  for (const TlsFixup& fixup : source.tls_fixups) {
    WAGO_CHECK(source.bytes.size() >= 4 && fixup.offset <= source.bytes.size() - 4);
    int32_t field;
    std::memcpy(&field, code->base_ + fixup.offset, 4);
    field += thread_state_tp_offset();
    std::memcpy(code->base_ + fixup.offset, &field, 4);
  }
  if (mprotect(mapping, mapping_bytes, PROT_READ | PROT_EXEC) != 0) {
    return base::failed(std::string("cannot make code executable: ") + std::strerror(errno));
  }
  const uint64_t begin = reinterpret_cast<uint64_t>(code->base_);
  Registry::instance().add(code.get(), begin, begin + source.bytes.size());
  code->registered_ = true;
  tell_observer([&](CodeObserver& told) { told.loaded(*code); });
  return code;
}

void observe_code(CodeObserver* next) {
  Registry::instance().observe(next);
}

MappedCode::~MappedCode() {
  if (registered_) {
    tell_observer([&](CodeObserver& told) { told.retired(*this); });
    Registry::instance().remove(this);
  }
  if (mapping_) unmap_in_region(Region::Code, mapping_, mapping_bytes_);
}

void MappedCode::leave(uint64_t site) const {
  if (!image_->counted) return;
  const uint64_t offset = site - reinterpret_cast<uint64_t>(base_);
  const auto& exits = image_->counted->exits;
  auto at = std::lower_bound(exits.begin(), exits.end(), offset,
                             [](const CountedExit& exit, uint64_t wanted) { return exit.site < wanted; });
  if (at == exits.end() || at->site != offset) return;
  exit_counts_[static_cast<size_t>(at - exits.begin())].fetch_add(1, std::memory_order_relaxed);
}

const TrapSite* MappedCode::trap_site(uint64_t pc) const {
  const uint64_t offset = pc - reinterpret_cast<uint64_t>(base_);
  const auto& sites = image_->trap_sites;
  auto at = std::lower_bound(sites.begin(), sites.end(), offset,
                             [](const TrapSite& site, uint64_t wanted) { return site.offset < wanted; });
  return at != sites.end() && at->offset == offset ? &*at : nullptr;
}

}  // namespace wago::runtime
