# Follows docs/ci.md: its CMake is a project, and its shell commands run in it, the release's first. There is no release here that
# could be built in a moment, so scripts/build-profiler.sh is one that hands out this build's program, and pairs are few. Run as:
#   cmake -DSOURCE=<root> -DPROGRAMS=<dir> -DWORK=<dir> -P ci.cmake
cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE "${WORK}")
file(READ "${SOURCE}/docs/ci.md" text)
# The fenced blocks of a language, joined; lists hold no semicolons and single brackets, so these are put aside.
function(blocks_of language result)
  string(REPLACE ";" "<semicolon>" rest "${text}")
  string(REPLACE "[" "<bracket>" rest "${rest}")
  string(REPLACE "]" "<end-bracket>" rest "${rest}")
  string(REGEX MATCHALL "\n```${language}\n[^`]*\n```\n" blocks "${rest}")
  list(LENGTH blocks count)
  set(${result}_count ${count} PARENT_SCOPE)
  list(JOIN blocks "" blocks)
  string(REGEX REPLACE "\n```[a-z]*" "" blocks "${blocks}")
  string(REPLACE "<semicolon>" ";" blocks "${blocks}")
  string(REPLACE "<bracket>" "[" blocks "${blocks}")
  string(REPLACE "<end-bracket>" "]" blocks "${blocks}")
  set(${result} "${blocks}" PARENT_SCOPE)
endfunction()
blocks_of(cmake project)
blocks_of(sh commands)
if(NOT project_count EQUAL 1 OR NOT commands_count EQUAL 3)
  message(FATAL_ERROR "${project_count} blocks of CMake, ${commands_count} of shell")
endif()
string(REPLACE "BUDGET 150" "PAIRS 1" project "${project}")
string(REPLACE "--budget 150s" "--pairs 1" commands "${commands}")
# The program that was kept goes where the project looks for it.
string(REPLACE "--cli\n" "--cli\nmkdir baseline\nmv wago-profile baseline/\n" commands "${commands}")

file(COPY "${SOURCE}/corpora/fib.wasm" DESTINATION "${WORK}")
file(WRITE "${WORK}/CMakeLists.txt" "${project}")
file(WRITE "${WORK}/commands.sh" "set -e\n${commands}")
file(WRITE "${WORK}/catalog.json" "{\"version\": 1, \"workloads\": [{\"id\": \"fib\", \"module\": \"fib.wasm\",
  \"calls\": [{\"export\": \"fib\", \"args\": [20], \"want\": [6765]}]}]}")
file(WRITE "${WORK}/scripts/build-profiler.sh" "#!/bin/sh\ntest \"$2\" = --cli && cp '${PROGRAMS}/wago-profile' \"$1\"\n")
file(CHMOD "${WORK}/scripts/build-profiler.sh" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
# The package, as if this build were installed.
file(WRITE "${WORK}/package/WagoProfileConfig.cmake" "add_executable(WagoProfile::wago-profile IMPORTED GLOBAL)
set_target_properties(WagoProfile::wago-profile PROPERTIES IMPORTED_LOCATION \"${PROGRAMS}/wago-profile\")
include(\"${SOURCE}/cmake/WagoProfile.cmake\")\n")
set(ENV{WagoProfile_DIR} "${WORK}/package")
cmake_path(GET CMAKE_COMMAND PARENT_PATH bin)
set(ENV{PATH} "${PROGRAMS}:${bin}:$ENV{PATH}")
execute_process(COMMAND sh commands.sh WORKING_DIRECTORY "${WORK}" RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "exit code ${code}\n${output}")
endif()
foreach(file build/report/release.default.html build/report/release.default.md build/report/release.default.junit.xml
    build/report/release.default.annotations.txt report/release.html report/release.md report/release.junit.xml
    report/release.annotations.txt build/profile/latest/release/release.default.wagoexp/pairs.jsonl)
  if(NOT EXISTS "${WORK}/${file}")
    message(SEND_ERROR "${file} was not written\n${output}")
  endif()
endforeach()
