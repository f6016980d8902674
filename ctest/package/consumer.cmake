# Uses WagoProfile from a project of its own, found at a path with spaces. Run as
#
#   cmake -DSOURCE=<root> -DBUILD=<build> -DCONFIG=<type> -DWORK=<dir> -DHOW=installed|subdirectory -P consumer.cmake
#
# HOW=installed installs the build, moves what was installed, and finds it there; HOW=subdirectory builds WagoProfile inside
# the consumer.
include("${CMAKE_CURRENT_LIST_DIR}/check.cmake")

file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}")
set(project "${WORK}/a consumer")
file(COPY "${CMAKE_CURRENT_LIST_DIR}/consumer/" DESTINATION "${project}")
file(COPY "${SOURCE}/docs/examples" DESTINATION "${project}")
file(COPY_FILE "${SOURCE}/corpora/fib.wasm" "${project}/fib.wasm")
file(COPY_FILE "${SOURCE}/corpora/fib.wasm" "${project}/my fib.wasm")

if(HOW STREQUAL "installed")
  install_package("${WORK}/a prefix")
  set(options "-DCMAKE_PREFIX_PATH=${WORK}/a prefix")
else()
  set(options "-DWAGO_SOURCE=${SOURCE}")
endif()
# As quick to build as it gets; what is compiled is tested elsewhere, here it has to fit together.
list(APPEND options -DCMAKE_BUILD_TYPE=Debug "-DCMAKE_CXX_FLAGS_DEBUG=-O0")

run(configure "${CMAKE_COMMAND}" -G Ninja -S "${project}" -B "${project}/build" ${options})
run(build "${CMAKE_COMMAND}" --build "${project}/build")

# Every workload is recorded, and what it leaves is a complete capture that reads back.
run(ctest "${CTEST}" --test-dir "${project}/build" --output-on-failure)
set(workloads default/fib quick/built quick/explicit)
expect_captures("${project}/build/profile" 1 ${workloads})

# Another wanted result: that test fails, says what was wanted and what was seen, and no other does.
run(reconfigure "${CMAKE_COMMAND}" -DWANTED=56 "${project}/build")
run_failing(8 ctest "${CTEST}" --test-dir "${project}/build" --output-on-failure -L profile)
expect_text("${output}" "1 tests failed out of 4" "The following tests FAILED:[^:]*profile[.]quick[.]built [(]Failed[)]\n"
  "wanted[^\n]*56[^\n]*55|seen[^\n]*55[^\n]*56")
# In a run of its own, and the first is as it was.
expect_captures("${project}/build/profile" 2 default/fib quick/explicit)
