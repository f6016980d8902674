// What code there was, where and when: the load and retire records of a process, from code that was mapped
// already when the journal began.
//
// It holds the images that it has seen, so that a sample is joined to what its address meant when it was
// taken: an address that is used again never gets the name of what was there before. Equal code that is
// mapped many times (a module compiled again and again) is held once. The journal is bounded by records and
// by bytes of code; what exceeds a bound is counted, and a capture that lost records is not complete.
//
// Recording takes a lock of its own and does no input or output. Reading is for when the journal was stopped.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "harness/held_code.h"
#include "runtime/code_map.h"

namespace wago::harness {

struct JournalLimits {
  uint64_t records = 2'000'000;
  uint64_t code_bytes = uint64_t{1} << 30;  // of images that differ
};

struct JournalRecord {
  bool load = true;  // or retire
  uint32_t code = 0;
  uint64_t monotonic_ns = 0;
  uint64_t address = 0;
};

class CodeJournal final : public runtime::CodeObserver {
 public:
  // Starts. One at a time in a process. `also`, if there is one, is told what the journal is told, since the
  // runtime tells only one; it must outlive the journal.
  explicit CodeJournal(const JournalLimits& limits = {}, runtime::CodeObserver* also = nullptr);
  ~CodeJournal() override;
  CodeJournal(const CodeJournal&) = delete;
  CodeJournal& operator=(const CodeJournal&) = delete;
  void stop();

  void loaded(const runtime::MappedCode& code) override;
  void retired(const runtime::MappedCode& code) override;

  // From here on of a journal that was stopped.
  const std::vector<HeldCode>& codes() const { return codes_; }
  // Times never fall; each retire follows the load of the same code at the same address.
  const std::vector<JournalRecord>& records() const { return records_; }
  uint64_t lost_records() const { return lost_; }

  struct Found {
    uint32_t code = 0;
    uint32_t offset = 0;
  };
  // The code that `address` belonged to at that time.
  std::optional<Found> find(uint64_t address, uint64_t monotonic_ns) const;

 private:
  // Code at one address, from its load to its retirement.
  struct Life {
    uint32_t code = 0;
    uint64_t loaded_ns = 0;
    uint64_t retired_ns = UINT64_MAX;
  };

  std::optional<uint32_t> number_of(const runtime::MappedCode& code);
  void retire(Life& life, uint64_t now, uint64_t address);
  bool full() const { return records_.size() >= limits_.records; }

  void record_load(const runtime::MappedCode& code);
  void record_retirement(const runtime::MappedCode& code);

  const JournalLimits limits_;
  runtime::CodeObserver* const also_;
  bool observing_ = false;
  mutable std::mutex mutex_;
  std::vector<HeldCode> codes_;
  std::unordered_multimap<size_t, uint32_t> codes_by_hash_;
  std::vector<JournalRecord> records_;
  std::map<uint64_t, std::vector<Life>> lives_;  // by address; in each the lives follow one another
  uint64_t largest_ = 0;                         // bytes of the largest image
  uint64_t code_bytes_ = 0;
  uint64_t lost_ = 0;
};

}  // namespace wago::harness
