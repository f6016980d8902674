// Code as it is mapped, told to somebody outside: what is told, to whom, and who follows the runtime.
//
// The runtime tells of code while it is mapped and may hold a lock when it tells of what was there before
// (see observe_code). CodePublisher therefore holds back what it hears until there is a sink, and passes it
// on from then at once, before the code runs. The same code at the same place again is not
// told again: whoever compiles in a loop would fill disks.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "harness/held_code.h"
#include "runtime/code_map.h"

namespace wago::harness {

// Code that is mapped; it may be gone when somebody is told.
struct PublishedCode : HeldCode {
  uint64_t address = 0;  // of the image's first byte
  uint64_t monotonic_ns = 0;
};

// A stretch of the image that a symbol names.
struct CodeSymbol {
  std::string name;  // raw, but without what would break a line
  uint32_t begin = 0;
  uint32_t size = 0;
  uint32_t function = ~0u;  // wasm function index; ~0u: an adapter
};
// Functions with their trap stubs and literals, or adapters; ascending.
std::vector<CodeSymbol> symbols_of(const PublishedCode& code);

class CodeSink {
 public:
  virtual ~CodeSink() = default;
  virtual base::Result<void> write(const PublishedCode& code) = 0;
  // Nothing follows.
  virtual base::Result<void> close() = 0;
};

class CodePublisher final : public runtime::CodeObserver {
 public:
  void loaded(const runtime::MappedCode& code) override;
  void retired(const runtime::MappedCode&) override {}

  // Tells `sink`, which must outlive the publisher, what was held back.
  void release(CodeSink& sink);
  // After the runtime was told to tell nobody; once. The first thing that the sink refused, if there is one.
  // Precondition: there is a sink.
  base::Result<void> finish();

 private:
  void tell(const PublishedCode& code);
  // What the sink was told last of these addresses still holds.
  bool is_told(const PublishedCode& code) const;

  CodeSink* sink_ = nullptr;
  std::mutex mutex_;
  std::vector<PublishedCode> held_;
  std::map<uint64_t, PublishedCode> told_;  // by address; none overlaps another
  base::Result<void> outcome_;
};

}  // namespace wago::harness
