#include "codegen/compile.h"

#include <malloc.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/parallel.h"
#include "codegen/allocate/allocate.h"
#include "codegen/build/build.h"
#include "codegen/counted.h"
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
      : module_(module), settings_(settings), counts_(settings.counted) {
    settings_.counted = false;
  }

  base::Result<void> compile(uint32_t body, FunctionCode& out, StageDump* dump = nullptr) {
    // What a stage allocated serves the next function. But of a large one it is much, for that one only, and
    // the next stage needs as much.
    constexpr uint32_t kLargeBytes = 8 << 10;
    const bool is_large = module_.bodies[body].size >= kLargeBytes;
    if (auto built = builder_->build(module_, body, settings_, ir_); !built) return built;
    if (is_large) builder_.emplace();
    if (dump) dump->built = print(ir_);
    passes_->run(module_, settings_, ir_);
    if (is_large) passes_.emplace();
    if (dump) dump->optimized = print(ir_);
    selector_->select(module_, settings_, ir_, mach_);
    const uint32_t ir_instructions = count_instructions();
    name_inline_sites(ir_, out);
    name_decisions(out);
    if (is_large && !counts_) {
      selector_.emplace();
      ir_ = IrFunction();
    }
    if (dump) dump->selected = print(mach_);
    allocate(mach_);
    if (is_large) allocator_.emplace();
    if (dump) dump->allocated = print(mach_);
    emitter_.emit(mach_, FrameStyle::Standard, settings_.source_maps, out, nullptr,
                  counts_ ? &report_ : nullptr);
    if (is_large) mach_ = MachFunction();
    out.statistics.ir_instructions = ir_instructions;
    out.hash = identity_hash(out);
    if (counts_) return compile_counted(body, out);
    return {};
  }

 private:
  // The function that was just compiled once more, with counters.
  base::Result<void> compile_counted(uint32_t body, FunctionCode& out) {
    runtime::CompileSettings settings = settings_;
    settings.counted = true;
    if (auto built = builder_->build(module_, body, settings, counted_ir_); !built) return built;
    passes_->run(module_, settings, counted_ir_);
    if (counted_ir_.executed.over_limit()) {
      return base::failed("function " + module_.function_name(ir_.function) +
                          " is too large to be counted: its branches lead past more than " +
                          std::to_string(ExecutedRanges::kMaxRanges) +
                          " stretches of code; split it into smaller functions");
    }
    selector_->select(module_, settings, counted_ir_, mach_);
    allocate(mach_);
    out.counted = std::make_shared<CountedFunction>();
    BlockReport report;
    bool agrees = counting_.plan(ir_, counted_ir_, report_);
    if (agrees) {
      emitter_.emit(mach_, FrameStyle::Standard, settings_.source_maps, out.counted->code,
                    &counting_.counters(), &report);
      name_inline_sites(counted_ir_, out.counted->code);
      agrees = counting_.describe(report, *out.counted);
    }
    WAGO_CHECK_MSG(agrees, module_.function_name(ir_.function).c_str());
    return {};
  }

  static void name_inline_sites(const IrFunction& ir, FunctionCode& out) {
    out.inline_sites.clear();
    for (const IrInlineSite& site : ir.inline_sites) {
      out.inline_sites.push_back({site.callee, site.call_pc, site.parent});
    }
  }

  void name_decisions(FunctionCode& out) const {
    out.decisions.clear();
    out.origin.clear();
    if (!ir_.decisions.keeps()) return;
    for (const DecisionLog* log : {&ir_.decisions, &mach_.decisions}) {
      for (const Decision& d : log->decisions()) {
        out.decisions.push_back({ir_.function, d.kind, d.wasm_pc, d.inline_site, d.callee});
      }
    }
    std::stable_sort(out.decisions.begin(), out.decisions.end(), runtime::decided_before);
    out.origin.push_back({ir_.function, ir_.decisions.built_instructions, ir_.decisions.placed_instructions});
  }

  void allocate(MachFunction& mach) {
    std::optional<MachFunction> before;
    if (settings_.check_allocation) {
      check_clean(mach, verify(mach, false), "selection");
      before = mach;
    }
    if (settings_.spill_everything) {
      allocator_->spill_everything(mach);
    } else {
      allocator_->allocate(mach);
    }
    if (before) {
      check_clean(mach, verify(mach, true), "allocation");
      check_clean(mach, check_allocation(*before, mach), "allocation");
    }
  }

  void check_clean(const MachFunction& mach, const std::string& problem, const char* stage) {
    if (problem.empty()) return;
    std::fprintf(stderr, "after %s of %s: %s\n%s", stage, module_.function_name(mach.function).c_str(),
                 problem.c_str(), print(mach).c_str());
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
  runtime::CompileSettings settings_;  // of the code that does not count
  bool counts_;
  // Never empty: renewed to give back what they hold.
  std::optional<IrBuilder> builder_{std::in_place};
  std::optional<PassPipeline> passes_{std::in_place};
  std::optional<Selector> selector_{std::in_place};
  std::optional<Allocator> allocator_{std::in_place};
  Emitter emitter_;
  IrFunction ir_;
  MachFunction mach_;
  // Of functions that are counted.
  BlockReport report_;
  IrFunction counted_ir_;
  Counting counting_;
};

// Puts together what the workers compile, in the order of the module. All of it may be called from any thread
// but finish().
class Collector {
 public:
  Collector(const runtime::Module& module, const runtime::CompileSettings& settings)
      : module_(module),
        max_code_bytes_(settings.max_code_bytes),
        linker_(module.imported_functions, static_cast<uint32_t>(module.bodies.size()), wasm_bytes(module)) {
    if (settings.counted) counted_linker_.emplace(module, wasm_bytes(module));
  }

  // `code` may be used again.
  void add(uint32_t body, FunctionCode& code) {
    std::lock_guard lock(mutex_);
    code_bytes_ += code.bytes.size() + kFunctionAlignment;
    if (error_ || code_bytes_ > max_code_bytes_) return;
    if (body != next_) {
      // A copy is as large as what it holds; what grew while it was filled is twice that.
      code.block_offsets.clear();
      waiting_.emplace(body, code);
      return;
    }
    append(code);
    for (auto first = waiting_.begin(); first != waiting_.end() && first->first == next_;) {
      append(first->second);
      first = waiting_.erase(first);
    }
  }

  void refuse(uint32_t body, const base::Error& error) {
    std::lock_guard lock(mutex_);
    if (error_ && refused_ < body) return;
    refused_ = body;
    error_ = error;
  }

  // The error of the first function that has one, whoever came to it first.
  base::Result<std::shared_ptr<const runtime::CodeImage>> finish() {
    if (error_) return *std::move(error_);
    if (code_bytes_ > max_code_bytes_) {
      return base::failed("the module's machine code takes " + std::to_string(code_bytes_) +
                          " bytes, more than the limit of " + std::to_string(max_code_bytes_) +
                          " code bytes; raise EngineLimits::code_bytes");
    }
    if (counted_linker_) return std::move(*counted_linker_).finish(std::move(linker_).finish());
    return std::make_shared<const runtime::CodeImage>(std::move(linker_).finish());
  }

 private:
  static uint64_t wasm_bytes(const runtime::Module& module) {
    uint64_t bytes = 0;
    for (const runtime::FunctionBody& body : module.bodies) bytes += body.size;
    return bytes;
  }

  void append(const FunctionCode& code) {
    const uint32_t begin = linker_.append(code, module_.bodies[next_++].begin);
    if (counted_linker_) counted_linker_->append(*code.counted, begin);
  }

  const runtime::Module& module_;
  const uint64_t max_code_bytes_;
  std::mutex mutex_;
  ImageLinker linker_;
  std::optional<CountedLinker> counted_linker_;
  uint32_t next_ = 0;                         // the first body that is not in the image
  std::map<uint32_t, FunctionCode> waiting_;  // for an earlier one
  uint64_t code_bytes_ = 0;
  std::optional<base::Error> error_;
  uint32_t refused_ = 0;
};

// What the workers had is free, but malloc keeps it resident; the executable copy of the code, which comes
// next, would be on top of it. Of small modules it is too little to ask the kernel for its pages again.
void give_scratch_back(const runtime::Module& module) {
  constexpr size_t kWorthGivingBack = size_t{256} << 10;  // bytes of module
  if (module.bytes.size() >= kWorthGivingBack) malloc_trim(0);
}

class ParallelCompiler : public runtime::Compiler {
 public:
  const runtime::CodeTarget& target() const override {
    static const runtime::CodeTarget target{"x86_64-linux", "x86-64-v3"};
    return target;
  }

  base::Result<std::shared_ptr<const runtime::CodeImage>> compile(
      const runtime::Module& module, const runtime::CompileSettings& settings) const override {
    const uint32_t count = static_cast<uint32_t>(module.bodies.size());
    Collector collector(module, settings);
    const unsigned threads =
        settings.workers ? settings.workers : std::max(1u, std::thread::hardware_concurrency());
    std::vector<std::unique_ptr<Worker>> workers(threads);
    std::vector<FunctionCode> drafts(threads);
    // Functions are handed out in small runs; the collector has them in order, so the order of work never
    // shows.
    constexpr size_t kRun = 4;
    auto work = [&](unsigned thread, size_t begin, size_t end) {
      std::unique_ptr<Worker>& worker = workers[thread];
      if (!worker) worker = std::make_unique<Worker>(module, settings);
      FunctionCode& code = drafts[thread];
      for (uint32_t i = static_cast<uint32_t>(begin); i < end; ++i) {
        if (auto done = worker->compile(i, code); !done) {
          collector.refuse(i, done.error());
        } else {
          collector.add(i, code);
        }
      }
    };
    base::parallel_for(threads, count, kRun, work, "compile worker");
    workers.clear();
    drafts.clear();
    give_scratch_back(module);
    return collector.finish();
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
