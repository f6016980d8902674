// DWARF in a module's custom sections -> source frames, through LLVM's DebugInfoDWARF.
//
// Addresses in WebAssembly's DWARF count from the contents of the code section. Addresses of code that was
// dropped by the linker are 0 or beyond the section, and are left out.
//
// The sections come from strangers. LLVM's reader does not trust them, but some of what it does is not
// bounded by their size: many entries may share one list, and a count may announce entries without bytes. So
// what is handed to it is checked first (line_header.h, debug_entries.h), what it returns is counted against
// a budget, and its recursive look-up of inlined frames is replaced by one over a flat index. Beyond a limit
// the module has no lines.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <wago/wago.h>

#include "runtime/module.h"

namespace wago::codegen {

// Sections larger than this, together, are not read.
constexpr uint64_t kMaxDebugBytes = uint64_t{256} << 20;
// Inlined in one another at one instruction; what is further out is dropped.
constexpr uint32_t kMaxInlineDepth = 256;
// Bytes of a function's or a file's name.
constexpr uint32_t kMaxSourceNameBytes = 4096;

// Of one module, which must outlive it. Any number of threads may ask at once. Without a virtual function,
// since this folder's code has no run-time type information for those of others to check.
class LineReader {
 public:
  explicit LineReader(const runtime::Module& module);  // reads nothing yet
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  // As runtime::SourceLines::at().
  std::vector<SourceFrame> at(uint32_t module_offset) const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace wago::codegen
