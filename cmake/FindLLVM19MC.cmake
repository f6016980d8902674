# Finds LLVM 19.1's static libraries for machine code and DWARF and defines the interface target LLVM19MC. Only codegen/llvm
# links it; it is installed with the package because whoever links a static library links what it was built on.
#
# LLVM's own package file is used for locating it only: its component targets would drag in the whole library list.

# It also looks for libraries that MC does not use, and reports each.
set(_wago_log_level "${CMAKE_MESSAGE_LOG_LEVEL}")
set(CMAKE_MESSAGE_LOG_LEVEL WARNING)
find_package(LLVM 19.1 QUIET CONFIG HINTS /usr/lib/llvm-19)
set(CMAKE_MESSAGE_LOG_LEVEL "${_wago_log_level}")
unset(_wago_log_level)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LLVM19MC REQUIRED_VARS LLVM_LIBRARY_DIRS LLVM_INCLUDE_DIRS VERSION_VAR LLVM_PACKAGE_VERSION
  REASON_FAILURE_MESSAGE "install llvm-19-dev and libzstd-dev (scripts/install-deps.sh does), or set LLVM_DIR")

if(LLVM19MC_FOUND AND NOT TARGET LLVM19MC)
  add_library(LLVM19MC INTERFACE IMPORTED GLOBAL)
  target_include_directories(LLVM19MC SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
  target_link_libraries(LLVM19MC INTERFACE LLVMX86Disassembler LLVMX86Desc LLVMX86Info LLVMMCDisassembler LLVMMC
    LLVMDebugInfoDWARF)
  # The reader of DWARF knows the readers of object files, which know those of bitcode, and so on: 7 MB that nobody calls.
  target_link_options(LLVM19MC INTERFACE LINKER:--gc-sections)
endif()
