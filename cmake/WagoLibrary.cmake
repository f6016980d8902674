# How the project's own folders declare what they build. Private to this build; users get WagoProfile.cmake.
#
#   wago_library(<folder> SOURCES <file>... [LINKS <target>...] [PRIVATE_LINKS <target>...]
#                [TESTS <foo_test.cc>...] [TEST_LINKS <target>...])
#
# declares the static library `wago_<folder>` with the alias `WagoProfile::<folder>`, and, where tests are built, one
# GoogleTest executable `<folder>_test` whose cases become CTest entries `<folder>.<Suite>.<Case>`, label `unit`.
#
#   wago_program(<name> SOURCES <file>... LINKS <target>...)
#
# declares an executable in build/<preset>/bin with the alias `WagoProfile::<name>`. What of all this is installed is said in
# WagoInstall.cmake.

include_guard(GLOBAL)
include(CheckLinkerFlag)
include(GNUInstallDirs)

add_library(wago_options INTERFACE)
# Inside other projects no -Werror: a compiler we do not know may warn of something, and that must not be their problem.
target_compile_options(wago_options INTERFACE -Wall -Wextra $<$<BOOL:${PROJECT_IS_TOP_LEVEL}>:-Werror> -Wshadow
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor> -Wno-missing-field-initializers -fno-omit-frame-pointer)
# GCC 12 warns falsely about std::string concatenation (GCC bug 105651).
target_compile_options(wago_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
if(WAGO_SANITIZE)
  # -O1: the suite runs in minutes, frames stay small enough for the guest stack tests.
  target_compile_options(wago_options INTERFACE -O1 -fsanitize=address,undefined -fno-sanitize-recover=all)
  # Instrumented code makes GCC see uninitialized values where there are none.
  target_compile_options(wago_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_link_options(wago_options INTERFACE -fsanitize=address,undefined)
endif()
if(WAGO_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "WAGO_FUZZ needs clang: configure with -DCMAKE_CXX_COMPILER=clang++-14")
  endif()
  target_compile_options(wago_options INTERFACE -Wno-unknown-attributes -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all)
  target_link_options(wago_options INTERFACE -fsanitize=address,undefined)
endif()

function(_wago_tests name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINKS")
  add_executable(${name}_test ${arg_SOURCES})
  target_link_libraries(${name}_test PRIVATE ${arg_LINKS} wago_options GTest::gtest GTest::gtest_main)
  gtest_discover_tests(${name}_test TEST_PREFIX ${name}. DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS unit TIMEOUT 300)
endfunction()

function(wago_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINKS;PRIVATE_LINKS;TESTS;TEST_LINKS")
  add_library(wago_${name} STATIC ${arg_SOURCES})
  add_library(WagoProfile::${name} ALIAS wago_${name})
  set_target_properties(wago_${name} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(wago_${name} PUBLIC cxx_std_20)
  target_include_directories(wago_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/wagoprofile>)
  target_link_libraries(wago_${name} PUBLIC ${arg_LINKS}
    PRIVATE ${arg_PRIVATE_LINKS} $<BUILD_INTERFACE:wago_options>)
  if(WAGO_BUILD_TESTS AND arg_TESTS)
    _wago_tests(${name} SOURCES ${arg_TESTS} LINKS wago_${name} ${arg_TEST_LINKS})
  endif()
endfunction()

# LLVM's tables hold 50,000 pointers, which the dynamic linker adjusts when a program starts: their list is a tenth of the
# program, or next to nothing in this form (glibc 2.36).
check_linker_flag(CXX LINKER:-z,pack-relative-relocs WAGO_HAS_PACKED_RELOCATIONS)

function(wago_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINKS")
  add_executable(${name} ${arg_SOURCES})
  if(WAGO_HAS_PACKED_RELOCATIONS)
    target_link_options(${name} PRIVATE LINKER:-z,pack-relative-relocs)
  endif()
  add_executable(WagoProfile::${name} ALIAS ${name})
  target_link_libraries(${name} PRIVATE ${arg_LINKS} wago_options)
endfunction()
