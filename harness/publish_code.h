// For collectors that are started outside: compiled code named in a file while the program runs. A program
// that embeds the engine and links the harness opens one before it compiles and keeps it while guests run:
//
//     auto published = wago::harness::publish_code(wago::harness::CodeFile::PerfMap);
//
// The file stays when it is closed, since perf reads it afterwards. One at a time in a process, and not while
// a recording is made.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"

namespace wago::harness {

enum class CodeFile {
  PerfMap,  // read by `perf report` (see perf_map.h)
  JitDump,  // read by `perf inject --jit`, after `perf record --clockid mono` (see jitdump.h)
};

class PublishedCodeFile {
 public:
  virtual ~PublishedCodeFile() = default;
  virtual const std::string& path() const = 0;
  // Of a jitdump: maps it once more, for a collector that may have missed that it is there. Else nothing.
  virtual base::Result<void> show_again() = 0;
  // Everything is in the file; an error says what could not be written.
  virtual base::Result<void> close() = 0;
};

// `file`: empty for the place where perf looks, /tmp/perf-PID.map, or jit-PID.dump in the working directory.
// Of a jitdump it is the folder, or ends in that name, by which perf finds it. Code that there is already is
// in it, too. Errors (Usage): a file that exists or cannot be created, and names that perf would not find.
base::Result<std::unique_ptr<PublishedCodeFile>> publish_code(CodeFile kind, const std::string& file = {});

}  // namespace wago::harness
