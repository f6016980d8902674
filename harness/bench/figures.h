// The project's figures, each measured with both of its sides in one run. See docs/figures.md for what each
// means and for the values found.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "harness/bench/ratio.h"

namespace wago::harness::bench {

struct FigureOptions {
  std::vector<std::string> catalogs;  // corpus
  std::string node = "node";
  std::string node_script;     // node_side.mjs
  std::string wago;            // the program `wago`, for whole-process figures
  std::string module;          // a real module for the compile rate; empty: one is built from the corpus
  std::string startup_module;  // exports fib
  bool quick = false;          // a tenth of the pairs: says little, runs everywhere
};

// A prepared call of add(i32, i32) against a minimal adapter written by hand.
base::Result<std::vector<Figure>> call_figures(const FigureOptions& options);
// A typed host function called from guest code, against the bare C++ function behind the same adapter, and
// what a timeline adds to it.
base::Result<std::vector<Figure>> host_call_figures(const FigureOptions& options);
// What a recording costs per iteration beyond the call itself.
base::Result<std::vector<Figure>> recorder_figures(const FigureOptions& options);
// A call that traps, until the host has the trap, against a signal whose handler goes on at once.
base::Result<std::vector<Figure>> trap_figures(const FigureOptions& options);
// Instances that come and go against the memory they are made of, and what a thousand of them hold beyond
// their memories.
base::Result<std::vector<Figure>> instance_figures(const FigureOptions& options);
constexpr uint32_t kInstances = 1000;
// What one of kInstances of this module holds beyond its memories: resident pages and the kernel's tables. To
// be asked for in a fresh process, as which wago_figures runs with this flag.
constexpr const char* kCountInstancesFlag = "--count-instances=";
base::Result<double> bytes_per_instance(const std::string& module);
// Compile rate and its linearity, and the peak of memory.
base::Result<std::vector<Figure>> compile_figures(const FigureOptions& options);
// The resident peak of a process that reads, decodes and compiles this module, less what it had with its
// engine open. The program's own pages that compiling touches first are in it. To be asked for in a fresh
// process, as which wago_figures runs with this flag.
constexpr const char* kCompilePeakFlag = "--compile-peak=";
base::Result<double> compile_peak_bytes(const std::string& module);
// That peak for each byte of the module.
base::Result<Figure> compile_peak_figure(const std::vector<uint8_t>& module, const std::string& what,
                                         size_t repetitions);
// The largest file among the modules of the catalogs.
base::Result<std::string> largest_corpus_module(const FigureOptions& options);
// Execution against V8's optimising tier in Node. Without node: one figure that says so.
base::Result<std::vector<Figure>> corpus_figures(const FigureOptions& options);
// Execution of interruptible code against the same without checks in its loops.
base::Result<std::vector<Figure>> interruption_figures(const FigureOptions& options);
// Execution of code that counts its blocks against the same without counters.
base::Result<std::vector<Figure>> counted_figures(const FigureOptions& options);
// What sampling and files for collectors outside cost, and what samples say of a module of known composition.
base::Result<std::vector<Figure>> collector_figures(const FigureOptions& options);
// `wago run` as a whole process against `node`.
base::Result<std::vector<Figure>> startup_figures(const FigureOptions& options);

}  // namespace wago::harness::bench
