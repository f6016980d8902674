# What find_package() says of components, and that declaring workloads needs no compiler and no library.
include("${CMAKE_CURRENT_LIST_DIR}/check.cmake")

file(REMOVE_RECURSE "${WORK}")
install_package("${WORK}/prefix")

# Configures a project with these lines, and sets `output`.
function(configure_lines name wanted_code lines)
  file(MAKE_DIRECTORY "${WORK}/${name}")
  file(COPY_FILE "${SOURCE}/corpora/fib.wasm" "${WORK}/${name}/fib.wasm")
  file(WRITE "${WORK}/${name}/CMakeLists.txt" "cmake_minimum_required(VERSION 3.25)\n${lines}\n")
  run_failing(${wanted_code} ${name} "${CMAKE_COMMAND}" -G Ninja -S "${WORK}/${name}" -B "${WORK}/${name}/build"
    "-DCMAKE_PREFIX_PATH=${WORK}/prefix" ${ARGN})
  string(REGEX REPLACE "[ \n]+" " " output "${output}")
  set(output "${output}" PARENT_SCOPE)
endfunction()

configure_lines(no-language 0 "project(p NONE)
enable_testing()
find_package(WagoProfile REQUIRED)
wago_add_workload(fib MODULE fib.wasm EXPORT fib ARGS 20 WANT 6765 ITERATIONS 10)
wago_add_comparison(same BASELINE $<TARGET_FILE:WagoProfile::wago-profile> PAIRS 1 FAIL_ON never)
wago_add_regression_report(release COMPARISONS same OUTPUT_DIRECTORY report RELEASE 2 BASELINE_RELEASE 1)")
run(ctest "${CTEST}" --test-dir "${WORK}/no-language/build" --output-on-failure -L profile)
expect_captures("${WORK}/no-language/build/profile" 1 default/fib)
file(READ "${WORK}/no-language/build/report/same.default.md" report)
expect_text("${report}" "^## release 2 against 1: 1 same code\n")

configure_lines(library-without-language 1 "project(p NONE)\nfind_package(WagoProfile REQUIRED COMPONENTS benchmark)")
expect_text("${output}" "component benchmark cannot be used: the project has no language")

configure_lines(unknown 1 "project(p CXX)\nfind_package(WagoProfile REQUIRED COMPONENTS base nonsense)")
expect_text("${output}" "\"nonsense\" is not a component; base, runtime")

# Without LLVM, what does not need it is there, and what does is refused with a cure.
set(no_llvm -DCMAKE_DISABLE_FIND_PACKAGE_LLVM=ON)
configure_lines(no-llvm 0 "project(p CXX)
find_package(WagoProfile REQUIRED COMPONENTS diff)
if(TARGET WagoProfile::codegen OR NOT TARGET WagoProfile::diff OR NOT TARGET WagoProfile::wago)
  message(FATAL_ERROR \"wrong targets\")
endif()" ${no_llvm})
configure_lines(llvm-wanted 1 "project(p CXX)\nfind_package(WagoProfile REQUIRED COMPONENTS codegen)" ${no_llvm})
expect_text("${output}" "component codegen cannot be used: LLVM 19.1 was not found [(]Debian: llvm-19-dev")

configure_lines(benchmark-not-asked 1 "project(p CXX)
find_package(WagoProfile REQUIRED)
wago_add_workload(fib MODULE fib.wasm EXPORT fib ARGS 20 WANT 6765)
wago_add_benchmark(bench)")
expect_text("${output}" "find_package[(]WagoProfile COMPONENTS benchmark[)]")

# A 0.x release promises nothing to those who ask for another minor version.
configure_lines(version 1 "project(p CXX)\nfind_package(WagoProfile 0.999 REQUIRED)")
expect_text("${output}" "WagoProfileConfig.cmake, version: 0")
