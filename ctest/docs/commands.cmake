# Runs a page's commands, those of its lines that begin with a program's name, in a folder beside a copy of corpora/. They end with 0, or as the
# line says ("# exits with 1"); those that need what may not be installed say so ("# needs perf") and are left out. A
# line that ends in a backslash goes on in the next.
# Run as: cmake -DSOURCE=<root> -DPAGE=<README.md> -DLEAST=<number of commands> -DPROGRAMS=<dir> -DWORK=<dir> -P commands.cmake
cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE "${WORK}")
file(GLOB modules "${SOURCE}/corpora/*.wasm" "${SOURCE}/corpora/catalog.json")
file(COPY ${modules} DESTINATION "${WORK}/corpora")
file(MAKE_DIRECTORY "${WORK}/captures")

file(READ "${SOURCE}/${PAGE}" text)
string(REPLACE ";" "\\;" text "${text}")
string(REGEX REPLACE "\\\\\n *" "" text "${text}")
string(REGEX MATCHALL "\n    wago(-profile)? [^\n]*" lines "${text}")
set(count 0)
foreach(line IN LISTS lines)
  if(line MATCHES "# needs ")
    continue()
  endif()
  set(wanted 0)
  if(line MATCHES "# exits with ([0-9]+)")
    set(wanted ${CMAKE_MATCH_1})
  endif()
  string(REGEX REPLACE "#.*" "" command "${line}")
  separate_arguments(command UNIX_COMMAND "${command}")
  list(POP_FRONT command program)
  execute_process(COMMAND "${PROGRAMS}/${program}" ${command} WORKING_DIRECTORY "${WORK}/captures"
    RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT code STREQUAL wanted)
    message(SEND_ERROR "exit code ${code}, wanted ${wanted}: ${line}\n${output}")
  endif()
  math(EXPR count "${count} + 1")
endforeach()
if(count LESS LEAST)
  message(FATAL_ERROR "${PAGE} has ${count} commands where there were ${LEAST}")
endif()
if(NOT PAGE STREQUAL "README.md")
  return()
endif()
# The last diff is what README makes a statement about.
execute_process(COMMAND "${PROGRAMS}/wago-profile" profile diff fib.wagoprof fib2.wagoprof WORKING_DIRECTORY "${WORK}/captures"
  OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
if(NOT output MATCHES "verdict +same code")
  message(FATAL_ERROR "the diff says\n${output}")
endif()
