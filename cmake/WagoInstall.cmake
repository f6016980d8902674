# What `cmake --install` installs, and the package WagoProfile that find_package() finds there:
#
#   bin/                             the two programs
#   lib/libwago_*.a                  the libraries
#   include/wagoprofile/             their headers: <wago/wago.h>, <wasm.h>, "capture/capture.h", ...
#   lib/cmake/WagoProfile/           the package, WagoProfile.cmake with the functions and its parts, and the words it reads
#   share/doc/WagoProfile/           the licence and the users' pages
#
# Libraries are exported in groups, one for each thing that a user must have installed to link them, so that declaring
# workloads needs nothing but the programs, and only users of Google Benchmark need Google Benchmark.

include_guard(GLOBAL)
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/WagoProfile)
set(include_dir ${CMAKE_INSTALL_INCLUDEDIR}/wagoprofile)

function(_wago_export group)
  install(TARGETS ${ARGN} EXPORT WagoProfile${group}
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT WagoProfile${group} NAMESPACE WagoProfile:: DESTINATION ${package_dir}
    FILE WagoProfile${group}Targets.cmake)
endfunction()

_wago_export(Programs wago wago-profile)
_wago_export(Libraries wago_base wago_runtime wago_capture wago_diff)  # zlib
_wago_export(Codegen wago_codegen wago_c_api wago_harness)             # LLVM's MC libraries
if(TARGET wago_benchmark)
  _wago_export(Benchmark wago_benchmark)                               # Google Benchmark
endif()

# The public headers. Of runtime, users see the embedding API; of harness, the profiling API as well as the rest; of codegen, which implements it, the C API.
install(DIRECTORY runtime/include/wago harness/include/wago DESTINATION ${include_dir})
install(FILES runtime/types.h DESTINATION ${include_dir}/runtime)
install(FILES codegen/c_api/include/wasm.h DESTINATION ${include_dir})
foreach(folder base capture diff harness)
  # Of harness, not what speaks of the runtime's own types: collectors' insides.
  install(DIRECTORY ${folder} DESTINATION ${include_dir} FILES_MATCHING
    PATTERN "*.h" PATTERN "*.def" PATTERN "test_*" EXCLUDE PATTERN "bench" EXCLUDE PATTERN "testing" EXCLUDE
    PATTERN "include" EXCLUDE
    PATTERN "history_store.h" EXCLUDE  # the profiling program's own
    REGEX "/harness/(code_images|code_journal|code_metadata|code_sink|frame_section|guest_profile|held_code|jitdump|perf_map|perf_phase|sampled_stacks)[.]h$" EXCLUDE)
endforeach()

configure_package_config_file(cmake/WagoProfileConfig.cmake.in WagoProfileConfig.cmake INSTALL_DESTINATION ${package_dir}
  NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
# Until 1.0 a minor version may change what it likes.
write_basic_package_version_file(WagoProfileConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${CMAKE_CURRENT_BINARY_DIR}/WagoProfileConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/WagoProfileConfigVersion.cmake
  cmake/WagoProfile.cmake cmake/WagoArguments.cmake cmake/WagoComparison.cmake cmake/FindLLVM19MC.cmake base/abilities.def base/reports.def base/vocabulary.def
  DESTINATION ${package_dir})
# What users read away from the source: pages that link to nothing but each other and the examples.
install(FILES LICENSE docs/command-line.md docs/package.md docs/catalog-format.md docs/recording.md docs/collectors.md docs/reading.md docs/experiments.md docs/reports.md docs/ci.md docs/history.md docs/worker-protocol.md docs/capture-format.md
  docs/embedding.md docs/runtime.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
