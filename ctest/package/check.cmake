# Shared by the package's tests. They are given SOURCE, BUILD, CONFIG and WORK.
cmake_minimum_required(VERSION 3.25)

cmake_path(GET CMAKE_COMMAND PARENT_PATH CTEST)
string(APPEND CTEST "/ctest")

# run_failing(<exit code> <step> <command>...) sets `output`.
function(run_failing wanted step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(NOT code STREQUAL wanted)
    message(FATAL_ERROR "${step}: exit code ${code}, wanted ${wanted}\n${text}")
  endif()
  set(output "${text}" PARENT_SCOPE)
endfunction()

# run(<step> <command>...) sets `output`.
function(run step)
  run_failing(0 ${step} ${ARGN})
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(expect_text text)
  foreach(pattern IN LISTS ARGN)
    if(NOT text MATCHES "${pattern}")
      message(SEND_ERROR "no match of ${pattern} in\n${text}")
    endif()
  endforeach()
endfunction()

# Installs the build at <prefix>, by way of another place: an installed package may be moved.
function(install_package prefix)
  run(install "${CMAKE_COMMAND}" --install "${BUILD}" --config "${CONFIG}" --prefix "${prefix} at first")
  file(REMOVE_RECURSE "${prefix}")
  file(RENAME "${prefix} at first" "${prefix}")
endfunction()

# <runs> holds so many runs, and the last one a complete capture of each <catalog>/<workload>.
function(expect_captures runs count)
  file(GLOB directories LIST_DIRECTORIES TRUE "${runs}/2*Z*")
  list(LENGTH directories seen)
  if(NOT seen EQUAL count)
    message(SEND_ERROR "${seen} runs in ${runs}, wanted ${count}")
  endif()
  set(latest "${runs}/latest")
  foreach(workload IN LISTS ARGN)
    file(READ "${latest}/${workload}.wagoprof/manifest.json" manifest)
    string(JSON complete GET "${manifest}" complete)
    string(JSON iterations GET "${manifest}" completed_iterations)
    if(NOT complete OR iterations LESS 1)
      message(SEND_ERROR "${latest}/${workload}.wagoprof: complete ${complete}, iterations ${iterations}")
    endif()
  endforeach()
endfunction()
