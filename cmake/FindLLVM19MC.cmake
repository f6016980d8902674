# Finds LLVM 19.1's static MC libraries and defines the interface target LLVM19MC. Only codegen/llvm links it.
#
# LLVM's own package file is used for locating it only: its component targets would drag in the whole library list.

find_package(LLVM 19.1 QUIET CONFIG HINTS /usr/lib/llvm-19)
if(NOT LLVM_FOUND)
  message(FATAL_ERROR "LLVM 19.1 was not found: install llvm-19-dev (scripts/install-deps.sh does), or set LLVM_DIR")
endif()

if(NOT TARGET LLVM19MC)
  add_library(LLVM19MC INTERFACE IMPORTED GLOBAL)
  target_include_directories(LLVM19MC SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
  target_link_libraries(LLVM19MC INTERFACE LLVMX86Disassembler LLVMX86Desc LLVMX86Info LLVMMCDisassembler LLVMMC)
endif()
