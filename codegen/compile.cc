#include "codegen/compile.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <optional>
#include <thread>
#include <vector>

#include "base/parallel.h"
#include "codegen/allocate/allocate.h"
#include "codegen/build/build.h"
#include "codegen/emit/emit.h"
#include "codegen/emit/image.h"
#include "codegen/emit/x64/adapters.h"
#include "codegen/ir/print.h"
#include "codegen/llvm/disassembler.h"
#include "codegen/passes/passes.h"
#include "codegen/select/select.h"
#include "codegen/source_lines.h"

namespace wago::codegen {

namespace {

// Everything one thread needs to compile function after function.
class Worker {
 public:
  Worker(const runtime::Module& module, const runtime::CompileSettings& settings)
      : module_(module), settings_(settings) {}

  base::Result<void> compile(uint32_t body, FunctionCode& out, StageDump* dump = nullptr) {
    if (auto built = builder_.build(module_, body, settings_, ir_); !built) return built;
    if (dump) dump->built = print(ir_);
    passes_.run(module_, settings_, ir_);
    if (dump) dump->optimized = print(ir_);
    selector_.select(module_, settings_, ir_, mach_);
    if (dump) dump->selected = print(mach_);
    allocate();
    if (dump) dump->allocated = print(mach_);
    emitter_.emit(mach_, FrameStyle::Standard, settings_.source_maps, out);
    out.inline_sites.clear();
    for (const IrInlineSite& site : ir_.inline_sites) {
      out.inline_sites.push_back({site.callee, site.call_pc, site.parent});
    }
    out.statistics.ir_instructions = count_instructions();
    out.hash = identity_hash(out);
    return {};
  }

 private:
  void allocate() {
    std::optional<MachFunction> before;
    if (settings_.check_allocation) {
      check_clean(verify(mach_, false), "selection");
      before = mach_;
    }
    if (settings_.spill_everything) {
      allocator_.spill_everything(mach_);
    } else {
      allocator_.allocate(mach_);
    }
    if (before) {
      check_clean(verify(mach_, true), "allocation");
      check_clean(check_allocation(*before, mach_), "allocation");
    }
  }

  void check_clean(const std::string& problem, const char* stage) {
    if (problem.empty()) return;
    std::fprintf(stderr, "after %s of %s: %s\n%s", stage, module_.function_name(ir_.function).c_str(),
                 problem.c_str(), print(mach_).c_str());
    WAGO_UNREACHABLE("machine code verification failed");
  }

  uint32_t count_instructions() const {
    uint32_t count = 0;
    for (BlockId b : ir_.layout) {
      for (InstId i = ir_.block(b).first; i.valid(); i = ir_.inst(i).next) ++count;
    }
    return count;
  }

  const runtime::Module& module_;
  const runtime::CompileSettings& settings_;
  IrBuilder builder_;
  PassPipeline passes_;
  Selector selector_;
  Allocator allocator_;
  Emitter emitter_;
  IrFunction ir_;
  MachFunction mach_;
};

class ParallelCompiler : public runtime::Compiler {
 public:
  const runtime::CodeTarget& target() const override {
    static const runtime::CodeTarget target{"x86_64-linux", "x86-64-v3"};
    return target;
  }

  base::Result<std::shared_ptr<const runtime::CodeImage>> compile(
      const runtime::Module& module, const runtime::CompileSettings& settings) const override {
    const uint32_t count = static_cast<uint32_t>(module.bodies.size());
    std::vector<FunctionCode> codes(count);
    std::vector<std::optional<base::Error>> errors(count);
    std::atomic<uint32_t> next{0};
    // Functions are handed out in small runs; each result has its own place, so the order of work never
    // shows.
    auto work = [&] {
      constexpr uint32_t kRun = 4;
      std::optional<Worker> worker;
      FunctionCode code;
      for (uint32_t begin; (begin = next.fetch_add(kRun)) < count;) {
        if (!worker) worker.emplace(module, settings);
        for (uint32_t i = begin; i < std::min(begin + kRun, count); ++i) {
          if (auto done = worker->compile(i, code); !done) {
            errors[i] = done.error();
            continue;
          }
          // A copy is as large as what it holds; what grew while it was filled is twice that.
          code.block_offsets.clear();
          codes[i] = code;
        }
      }
    };
    unsigned workers =
        settings.workers ? settings.workers : std::max(1u, std::thread::hardware_concurrency());
    std::vector<std::thread> threads;
    for (unsigned i = 1; i < std::min(workers, (count + 3) / 4); ++i) {
      threads.emplace_back([&work, i] { base::run_worker("compile worker", i, work); });
    }
    work();
    for (std::thread& thread : threads) thread.join();
    for (std::optional<base::Error>& error : errors) {
      if (error) return std::move(*error);
    }

    uint64_t code_bytes = 0;
    for (const FunctionCode& code : codes) code_bytes += code.bytes.size() + kFunctionAlignment;
    if (code_bytes > settings.max_code_bytes) {
      return base::failed("the module's machine code takes " + std::to_string(code_bytes) +
                          " bytes, more than the limit of " + std::to_string(settings.max_code_bytes) +
                          " code bytes; raise EngineLimits::code_bytes");
    }
    std::vector<uint32_t> wasm_begin;
    for (const runtime::FunctionBody& body : module.bodies) wasm_begin.push_back(body.begin);
    auto image = std::make_shared<runtime::CodeImage>();
    link_image(*image, codes, module.imported_functions, wasm_begin);
    return std::shared_ptr<const runtime::CodeImage>(std::move(image));
  }

  base::Result<std::shared_ptr<const runtime::CodeImage>> compile_adapters(
      const FuncType& type) const override {
    Emitter emitter;
    return emit_adapters(emitter, type);
  }

  std::shared_ptr<const runtime::SourceLines> source_lines(
      std::shared_ptr<const runtime::Module> module) const override {
    return open_source_lines(std::move(module));
  }
};

std::string disassembly(const FunctionCode& code) {
  std::string text;
  char line[256];
  Disassembler disassembler;
  std::span<const uint8_t> instructions(code.bytes.data(), code.literals_begin);
  for (const Disassembled& d : disassembler.disassemble(instructions)) {
    std::snprintf(line, sizeof line, "%6x  %s\n", d.offset, d.text.c_str());
    text += line;
  }
  return text;
}

}  // namespace

std::unique_ptr<runtime::Compiler> make_compiler() {
  return std::make_unique<ParallelCompiler>();
}

base::Result<StageDump> dump_stages(const runtime::Module& module, uint32_t function,
                                    const runtime::CompileSettings& settings) {
  if (function < module.imported_functions || function >= module.function_count()) {
    return base::usage_error("func[" + std::to_string(function) + "] is not a function the module defines");
  }
  Worker worker(module, settings);
  FunctionCode code;
  StageDump dump;
  if (auto done = worker.compile(function - module.imported_functions, code, &dump); !done)
    return done.error();
  dump.assembly = disassembly(code);
  return dump;
}

}  // namespace wago::codegen
