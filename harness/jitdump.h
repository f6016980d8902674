// The file by which `perf inject --jit` learns what code a program made and when: names, bytes, source lines
// and unwind rules of every function, each with the time at which it was mapped. Format: jitdump version 1,
// tools/perf/Documentation/jitdump-specification.txt in the sources of Linux.
//
// perf finds the file through a mapping of it that is executable, of which it is told when it is made or
// finds it when it attaches; the file's name must be jit-PID.dump. Times are CLOCK_MONOTONIC's, so perf must
// record with `--clockid mono`. Lines are there for code of engines with EngineSettings::source_maps whose
// module has debug information.
//
// perf's own files, jitted-PID-N.so, go into the dump's folder, one a function.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "harness/code_sink.h"

namespace wago::harness {

// "jit-PID.dump", of this process.
std::string jitdump_name();

class JitDump final : public CodeSink {
 public:
  // A new file of that name in `directory`; must not exist (Usage).
  static base::Result<std::unique_ptr<JitDump>> create(const std::string& directory);
  ~JitDump() override;
  base::Result<void> write(const PublishedCode& code) override;
  base::Result<void> close() override;
  // The mapping, once more: for a perf that attached before but was not listening.
  base::Result<void> map_again();

 private:
  JitDump(const std::string& path, FILE* file) : path_(path), file_(file) {}
  base::Result<void> write_header();
  void write_lines(const PublishedCode& code, const CodeSymbol& symbol);
  void write_frames(const PublishedCode& code, const CodeSymbol& symbol);
  void write_code(const PublishedCode& code, const CodeSymbol& symbol);
  base::Result<void> flush();

  const std::string path_;
  FILE* const file_;
  void* marker_ = nullptr;
  uint64_t functions_ = 0;
};

}  // namespace wago::harness
