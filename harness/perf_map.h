// The map file by which perf names code that a program made: one line a function, "START SIZE name", numbers
// hexadecimal. perf reads /tmp/perf-PID.map when it reports, so the file stays after the program.
//
// The file says what is at an address but not since when: of code that came where other code was, the last
// line is what perf takes. The jitdump (see jitdump.h) knows times.
#pragma once

#include <sys/types.h>

#include <cstdio>
#include <memory>
#include <string>

#include "harness/code_sink.h"

namespace wago::harness {

// "/tmp/perf-PID.map", of this process or of another.
std::string perf_map_path();
std::string perf_map_path(pid_t pid);

class PerfMap final : public CodeSink {
 public:
  // A new file. At perf_map_path() one that an earlier process of this number left is replaced; any other
  // file that exists is an error (Usage).
  static base::Result<std::unique_ptr<PerfMap>> create(const std::string& path);
  ~PerfMap() override;
  base::Result<void> write(const PublishedCode& code) override;
  base::Result<void> close() override { return {}; }

 private:
  PerfMap(const std::string& path, FILE* file) : path_(path), file_(file) {}
  const std::string path_;
  FILE* const file_;
};

}  // namespace wago::harness
