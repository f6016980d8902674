// Names of native code, from the symbol tables of the objects that are loaded: hidden and local functions
// too, which dladdr() does not know.
//
// An address has the name of the function whose extent holds it, and otherwise its object's name and its
// offset there ("libc.so.6+0x9d3c0"): never the name of what happens to lie before it. The files are
// strangers': an object whose table cannot be read has offsets only.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "capture/samples.h"
#include "harness/native_unwind.h"

namespace wago::harness {

class Symbols {
 public:
  // `objects` must outlive it.
  explicit Symbols(const NativeUnwinder& objects);

  // Raw name and the object's file name. Loads the object's table on first use.
  capture::Symbol at(uint64_t address);

 private:
  struct Extent {
    uint64_t begin = 0;
    uint64_t end = 0;
    std::string name;
  };
  static std::vector<Extent> read(const LoadedObject& object);

  const NativeUnwinder& objects_;
  std::string program_;
  std::map<const LoadedObject*, std::vector<Extent>> tables_;  // sorted by begin, no two begin at the same
};

}  // namespace wago::harness
