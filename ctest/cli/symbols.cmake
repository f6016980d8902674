# cmake -D NM=... -D ORDINARY=<wago> -D PROFILING=<wago-profile> -P symbols.cmake
#
# The ordinary runtime must hold no profiling code. The same search must find that code in the profiling program, so that
# a stripped binary or a renamed namespace cannot make this test pass.
set(namespaces wago::harness:: wago::capture:: wago::diff:: wago::cli::profile:: sqlite3_)

function(symbols_of result program)
  execute_process(COMMAND ${NM} -C ${program} OUTPUT_VARIABLE text ERROR_VARIABLE error RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "nm ${program}: ${error}")
  endif()
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

symbols_of(ordinary ${ORDINARY})
symbols_of(profiling ${PROFILING})
foreach(namespace IN LISTS namespaces)
  string(FIND "${ordinary}" "${namespace}" at)
  if(NOT at EQUAL -1)
    string(SUBSTRING "${ordinary}" ${at} 120 found)
    message(SEND_ERROR "${ORDINARY} holds profiling code: ${found}")
  endif()
  string(FIND "${profiling}" "${namespace}" at)
  if(at EQUAL -1)
    message(SEND_ERROR "${PROFILING} shows no symbol of ${namespace}; this test would not notice one in ${ORDINARY}")
  endif()
endforeach()
