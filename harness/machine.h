// Where a capture was recorded: what its manifest says of processor, kernel and program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace wago::harness {

struct Machine {
  std::string target;      // "x86_64-linux-gnu"
  std::string cpu_model;   // as the kernel names it, or "unknown"
  std::string os_version;  // "Linux 6.1.0-18-amd64"
  uint64_t logical_cpus = 0;
};

const Machine& machine();

// "build-id:..." of this program as the linker stamped it, else "sha256:..." of its file. Programs that agree
// in it run the same runtime helpers.
const std::string& runner_id();

// The build id, in hexadecimal digits, among the ELF notes of one segment; empty: there is none.
std::string build_id_in(const char* notes, size_t bytes);

}  // namespace wago::harness
