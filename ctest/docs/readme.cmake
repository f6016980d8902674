# Runs README's commands, those of its lines that begin with a program's name, in a folder beside a copy of corpora/. They end with 0, or as the
# line says ("# exits with 1"). Run as: cmake -DSOURCE=<root> -DPROGRAMS=<dir> -DWORK=<dir> -P readme.cmake
cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE "${WORK}")
file(GLOB modules "${SOURCE}/corpora/*.wasm")
file(COPY ${modules} DESTINATION "${WORK}/corpora")
file(MAKE_DIRECTORY "${WORK}/captures")

file(STRINGS "${SOURCE}/README.md" lines REGEX "^    wago(-profile)? ")
set(count 0)
foreach(line IN LISTS lines)
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
# The last diff is what README makes a statement about.
execute_process(COMMAND "${PROGRAMS}/wago-profile" profile diff fib.wagoprof fib2.wagoprof WORKING_DIRECTORY "${WORK}/captures"
  OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
if(count LESS 7 OR NOT output MATCHES "verdict +same code")
  message(FATAL_ERROR "${count} commands; the diff says\n${output}")
endif()
