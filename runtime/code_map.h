// Executable memory: a code image mapped, and the process-wide registry by which the signal handler finds it.
//
// Pages are written first and made executable afterwards, never both at once. A mapped image is registered
// until it is destroyed; nothing may then be executing in it.
//
// The registry is read by signal handlers on any thread at any time, so it is a sorted array behind
// one atomic pointer. Who maps (load time only) builds a new array under a lock, publishes it, and retires
// the old one; who unmaps empties his entry where it is. Readers count themselves in and out around each
// look-up; a retired array is freed by the first writer that sees the count at zero after having published
// the successor, because whoever counts himself in later can only see the successor. A reader therefore never
// waits, never allocates, and never touches an array that is freed under it. fork() takes the lock around
// itself and resets the count in the child, where no other thread's reader exists.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "base/result.h"
#include "runtime/code_image.h"
#include "runtime/module.h"

namespace wago::runtime {

class SourceLines;

class MappedCode {
 public:
  // `module` names the functions in traps; null for adapters. `code_offset` moves the whole image inside its
  // first cache line: 0, 16, 32 or 48 bytes. `debug_info` is the module's, or null. Errors: the kernel
  // refused the memory.
  static base::Result<std::unique_ptr<MappedCode>> map(
      std::shared_ptr<const CodeImage> image, std::shared_ptr<const Module> module, uint32_t code_offset = 0,
      std::shared_ptr<const SourceLines> debug_info = nullptr);
  // The adapters of a signature.
  static base::Result<std::unique_ptr<MappedCode>> map_adapters(std::shared_ptr<const CodeImage> image,
                                                                std::shared_ptr<const FuncType> signature);
  ~MappedCode();
  MappedCode(const MappedCode&) = delete;
  MappedCode& operator=(const MappedCode&) = delete;

  const uint8_t* base() const { return base_; }  // where byte 0 of the image is
  const CodeImage& image() const { return *image_; }
  const std::shared_ptr<const CodeImage>& shared_image() const { return image_; }
  const Module* module() const { return module_.get(); }
  const std::shared_ptr<const Module>& shared_module() const { return module_; }
  const std::shared_ptr<const FuncType>& signature() const { return signature_; }  // null for modules
  const std::shared_ptr<const SourceLines>& debug_info() const { return debug_info_; }
  bool contains(uint64_t pc) const { return pc - reinterpret_cast<uint64_t>(base_) < image_->bytes.size(); }
  // A frame of the image that is left for good where it stands: `site` is the trap site or the address that a
  // call would have returned to. Counted, if the image counts. Safe in a signal handler.
  void leave(uint64_t site) const;
  // How often, by CountedCode::exits.
  std::span<std::atomic<uint64_t>> exit_counts() const { return {exit_counts_.get(), exit_count_}; }
  // The trap site at exactly this address, or nullptr. Safe in a signal handler.
  const TrapSite* trap_site(uint64_t pc) const;

 private:
  MappedCode() = default;
  // Maps, registers and tells the observer.
  static base::Result<std::unique_ptr<MappedCode>> publish(std::unique_ptr<MappedCode> code,
                                                           uint32_t code_offset);

  std::shared_ptr<const CodeImage> image_;
  std::shared_ptr<const Module> module_;
  std::shared_ptr<const FuncType> signature_;
  std::shared_ptr<const SourceLines> debug_info_;
  void* mapping_ = nullptr;
  size_t mapping_bytes_ = 0;
  uint8_t* base_ = nullptr;
  bool registered_ = false;
  std::unique_ptr<std::atomic<uint64_t>[]> exit_counts_;
  size_t exit_count_ = 0;
};

// Somebody who follows what code there is: a profiler. Ordinary programs have none.
//
// Called on the thread that maps or unmaps, while it holds no lock of the runtime: `loaded` before anything
// of the code runs, `retired` when nothing of it does any more and before its addresses are free.
class CodeObserver {
 public:
  virtual ~CodeObserver() = default;
  virtual void loaded(const MappedCode& code) = 0;
  virtual void retired(const MappedCode& code) = 0;
};

// Makes `observer` the one; null: none. It is told first of the code that is mapped already, under the
// registry's lock, and may be told of code twice that another thread maps meanwhile. When this returns,
// nobody calls the observer before. A forked child has none. Load time only.
void observe_code(CodeObserver* observer);

// The live image that contains `pc`, or nullptr. Safe in a signal handler. The result stays valid while code
// of the image is on a stack.
const MappedCode* find_code(uint64_t pc);

// Whether any image that counts was ever mapped: otherwise nobody need walk stacks for it.
bool counted_code_exists();

}  // namespace wago::runtime
