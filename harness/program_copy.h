// Copies of programs to run. Where the pages of a file lie in physical memory is luck that stays for as long
// as the file is cached, and it may cost a program several percent of its speed: two files alike to the byte
// differ, in every process that is started from them. The pages of a copy in memory lie elsewhere each time.
#pragma once

#include <string>

#include "base/process.h"
#include "base/result.h"

namespace wago::harness {

// A copy that nothing but its descriptor keeps (base::SpawnOptions::program_fd), without the symbols and
// debug information at the end of a program that has a build id. Errors, without the path: the file cannot be
// read or may not be run; it is no ELF file, whose interpreter would not find it; there is no memory.
base::Result<base::Fd> copy_program(const std::string& path);

}  // namespace wago::harness
