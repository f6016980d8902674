// The one interface through which the runtime receives compiled code. `codegen` implements it; tests may hand
// in others.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "base/vocabulary.h"
#include "runtime/code_image.h"
#include "runtime/module.h"

namespace wago::runtime {

// Part of a capture's measurement contract. Two equal settings give equal bytes for one module.
struct CompileSettings {
  base::Bounds bounds = base::Bounds::Signals;
  int level = 1;                  // 0: no passes; 1: all of them
  bool interruptible = false;     // every loop looks whether it is to stop
  bool spill_everything = false;  // the second allocator configuration, for tests
  bool check_allocation =
      false;                 // run the allocation checker on every function; a failure is our own mistake
  bool verify_ir = false;    // run the IR verifier after every pass
  bool source_maps = false;  // more positions; the same bytes
  bool counted = false;      // counters in every block: other code, and beside it the code without them
  unsigned workers = 1;      // threads; never changes the bytes
  uint64_t max_code_bytes = kMaxCodeBytes;   // of all functions together
  uint32_t max_function_values = 2'000'000;  // of one function; see EngineLimits
  uint32_t max_merge_arguments = 600'000;
};

// What compiled code runs on.
struct CodeTarget {
  std::string name;      // "x86_64-linux"
  std::string features;  // of the processor, that the code may use
};

class SourceLines;

class Compiler {
 public:
  virtual ~Compiler() = default;

  virtual const CodeTarget& target() const = 0;

  // All functions the module defines. Errors: a limit exceeded, named with the function.
  virtual base::Result<std::shared_ptr<const CodeImage>> compile(const Module& module,
                                                                 const CompileSettings& settings) const = 0;

  // The pair of adapters of one signature, in an image of its own (see runtime/abi.h): the entry
  // adapter and the host adapter.
  virtual base::Result<std::shared_ptr<const CodeImage>> compile_adapters(const FuncType& type) const = 0;

  // What reads the module's debug information, or null if there is none. Cheap: nothing is read yet.
  virtual std::shared_ptr<const SourceLines> source_lines(std::shared_ptr<const Module> module) const;
};

}  // namespace wago::runtime
