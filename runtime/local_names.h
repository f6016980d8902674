// Names of parameters and locals, from the name section.
//
// They are for tools: decoding a module only remembers where they are, and who wants them reads them all at
// once, in time and memory proportional to their bytes. Like the other names they are a courtesy: names of
// what the module does not have are left out, and so is what stands behind damage. Raw, not demangled; UTF-8.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace wago::runtime {

class Module;

class LocalNames {
 public:
  // The names are views into the module's bytes.
  explicit LocalNames(const Module& module);

  // Empty if it has none. Parameters are the first locals. Logarithmic.
  std::string_view of(uint32_t function, uint32_t local) const;

 private:
  struct Entry {
    uint32_t function, local;
    std::string_view name;
  };
  std::vector<Entry> entries_;  // sorted by function and local
};

}  // namespace wago::runtime
