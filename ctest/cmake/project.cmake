# configure_project(<name> <result> <output> <lines of CMakeLists.txt>): configures a project that has the module and a
# program to name, but nothing to build. The program is PROGRAM, or one that is not there. Shared by the tests of the module.
cmake_minimum_required(VERSION 3.25)
if(NOT DEFINED PROGRAM)
  set(PROGRAM /opt/wago-profile)
endif()

function(configure_project name result output body)
  set(dir "${WORK}/${name}")
  file(REMOVE_RECURSE "${dir}")
  file(MAKE_DIRECTORY "${dir}/source")
  file(COPY_FILE "${SOURCE}/corpora/fib.wasm" "${dir}/source/fib.wasm")
  file(WRITE "${dir}/source/CMakeLists.txt" "cmake_minimum_required(VERSION 3.25)
project(consumer NONE)
enable_testing()
add_executable(WagoProfile::wago-profile IMPORTED GLOBAL)
set_target_properties(WagoProfile::wago-profile PROPERTIES IMPORTED_LOCATION \"${PROGRAM}\")
include(\"${SOURCE}/cmake/WagoProfile.cmake\")
${body}
")
  execute_process(COMMAND "${CMAKE_COMMAND}" -G Ninja -S "${dir}/source" -B "${dir}/build"
    RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE text)
  # Messages are wrapped: one line again.
  string(REGEX REPLACE "[ \n]+" " " text "${text}")
  set(${result} "${code}" PARENT_SCOPE)
  set(${output} "${text}" PARENT_SCOPE)
endfunction()
