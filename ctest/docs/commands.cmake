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
# What a page says of what its commands print.
function(expect_output wanted)
  execute_process(COMMAND "${PROGRAMS}/wago-profile" ${ARGN} WORKING_DIRECTORY "${WORK}/captures"
    OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
  if(NOT output MATCHES "${wanted}")
    message(FATAL_ERROR "${PAGE}: wanted ${wanted}, and ${ARGN} says\n${output}")
  endif()
endfunction()
if(PAGE STREQUAL "docs/profiling.md")
  foreach(line "decided   7 not-inlined-large, 1 zero-check-kept, 1 simplified, 5 unused\n" "call 0x[0-9a-f]+ <find> +not inlined: too large\n"
      "i32.rem_u +checks for zero: the divisor is not known\n")
    expect_output("${line}" profile annotate hot.wagoprof --function hash_table)
  endforeach()
endif()
if(PAGE STREQUAL "README.md")
  expect_output("verdict +same code" profile diff fib.wagoprof fib2.wagoprof)
endif()
