# cmake -D PROGRAM=<wago-profile> -D VALGRIND=<valgrind> -D MODULE=<fib.wasm> -D WORK=<folder> -P callgrind.cmake
#
# What backend count says of the machine, against callgrind: of two runs of the whole program that differ in the argument
# of fib alone, and print results of equal length, callgrind's counts differ by what the guest executed.
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})

function(refs result argument)
  execute_process(COMMAND ${VALGRIND} --tool=callgrind --callgrind-out-file=${WORK}/callgrind.${argument}
    ${PROGRAM} run --invoke fib ${MODULE} ${argument} ERROR_VARIABLE text OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  if(NOT text MATCHES "I +refs: +([0-9,]+)")
    message(FATAL_ERROR "callgrind did not say how many instructions ran: ${text}")
  endif()
  string(REPLACE "," "" count "${CMAKE_MATCH_1}")
  set(${result} ${count} PARENT_SCOPE)
endfunction()

function(counted result argument wanted)
  execute_process(COMMAND ${PROGRAM} profile record --module ${MODULE} --export fib --args ${argument} --want ${wanted}
    --iterations 1 --backend count --out ${WORK}/${argument}.wagoprof OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${PROGRAM} profile top --json ${WORK}/${argument}.wagoprof OUTPUT_VARIABLE json
    COMMAND_ERROR_IS_FATAL ANY)
  string(JSON count GET "${json}" counts machine_instructions)
  set(${result} ${count} PARENT_SCOPE)
endfunction()

refs(few 12)
refs(many 16)
counted(few_counted 12 144)
counted(many_counted 16 987)
math(EXPR difference "${many} - ${few}")
math(EXPR counted_difference "${many_counted} - ${few_counted}")
if(NOT difference EQUAL counted_difference)
  message(FATAL_ERROR "callgrind saw ${difference} instructions more, and backend count ${counted_difference}")
endif()
message(STATUS "both say ${difference}")
