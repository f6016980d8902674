// Modules whose code was assembled by hand, for tests of the runtime without a code generator: every byte
// that runs is written out in the test, so that a fault can be put exactly where it is wanted.
//
// All signatures take up to two i32 and give up to one; AssembledCompiler's adapters know no others.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include <wago/wago.h>

#include "runtime/compiler.h"
#include "runtime/engine_data.h"
#include "runtime/module.h"

namespace wago::runtime::testing {

FuncType binary();   // (i32, i32) -> (i32)
FuncType unary();    // (i32) -> (i32)
FuncType nullary();  // () -> ()

// Gives adapters; has no modules to compile.
class AssembledCompiler final : public Compiler {
 public:
  const CodeTarget& target() const override;
  base::Result<std::shared_ptr<const CodeImage>> compile(const Module&,
                                                         const CompileSettings&) const override;
  base::Result<std::shared_ptr<const CodeImage>> compile_adapters(const FuncType& type) const override;
};

Engine assembled_engine(const EngineSettings& settings = {});

// Builds a module and its code together. Imports first, then functions in index order.
class AssembledModule {
 public:
  AssembledModule();

  Module& module() { return *module_; }
  CodeImage& image() { return *image_; }
  uint32_t type(const FuncType& type);

  uint32_t import_function(std::string module, std::string name, const FuncType& type);
  // Starts a function; what follows is its code. Exported if it has a name.
  uint32_t function(const FuncType& type, std::string export_name = "");
  AssembledModule& code(std::initializer_list<uint8_t> bytes);
  // The next instruction may fault, which means this trap at this wasm pc.
  AssembledModule& trap_site(base::TrapCode code, uint32_t wasm_pc);
  // Code from here on belongs to this wasm pc.
  AssembledModule& position(uint32_t wasm_pc, uint32_t inline_site = ~0u);
  // The last four bytes are an offset from the thread pointer to the guest's stack limit.
  AssembledModule& tls_fixup();
  void add_export(std::string name, ExternKind kind, uint32_t index);

  wago::Module build(const Engine& engine, uint32_t code_offset = 0);

  // Whole functions.
  void add_function_add(std::string name);   // (a, b) -> a + b
  void add_function_load(std::string name);  // (address, _) -> 32 bits at it, trapping at wasm pc 7
  void add_function_trap(std::string name);  // () -> () unreachable at wasm pc 1
  void add_function_wild(std::string name);  // () -> () ud2 that is no trap site
  void add_function_recurse(
      std::string name);  // () -> () calls itself for ever, checking the stack, from wasm pc 3
  void add_function_call_import(std::string name, const FuncType& type,
                                uint32_t import);  // passes its arguments on

 private:
  std::shared_ptr<Module> module_;
  std::shared_ptr<CodeImage> image_;
};

// Calls with slots in a list; the trap must not occur.
Slot call(const Function& function, std::initializer_list<Slot> args);
// Calls a () -> () or other function that must trap.
Trap call_trapping(const Function& function, std::initializer_list<Slot> args);

}  // namespace wago::runtime::testing
