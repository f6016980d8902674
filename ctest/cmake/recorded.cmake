# What ctest makes of declarations that are well formed for CMake: who passes, who fails with which sentence, who is skipped. Run as:
#   cmake -DSOURCE=<root> -DWORK=<dir> -DPROGRAM=<wago-profile> -P recorded.cmake
include("${CMAKE_CURRENT_LIST_DIR}/project.cmake")

# Files that CMake can read and the program refuses: at the top, then in one workload of two.
set(call "\"calls\": [{\"export\": \"fib\", \"args\": [20], \"want\": [6765]}]")
set(good "{\"id\": \"good\", \"module\": \"fib.wasm\", ${call}}")
function(catalog_file name text)
  file(WRITE "${WORK}/${name}.json" "${text}")
endfunction()
file(REMOVE_RECURSE "${WORK}")
catalog_file(unknown "{\"version\": 1, \"foo\": 1, \"workloads\": [${good}]}")
catalog_file(newer "{\"version\": 2, \"workloads\": [${good}]}")
catalog_file(versionless "{\"workloads\": [${good}]}")
catalog_file(twice "{\"version\": 1, \"workloads\": [{\"id\": \"other\", \"id\": \"good\", \"module\": \"fib.wasm\", ${call}}]}")
catalog_file(defaults "{\"version\": 1, \"defaults\": {\"foo\": 1}, \"workloads\": [${good}]}")
catalog_file(neighbours "{\"version\": 1, \"defaults\": {\"iterations\": 3}, \"workloads\": [${good},
  {\"id\": \"bad\", \"module\": \"fib.wasm\", \"speed\": 1, ${call}},
  {\"id\": \"large\", \"module\": \"fib.wasm\", \"calls\": [{\"export\": \"fib\", \"args\": [\"f64:1e999\"], \"want\": [1]}]}]}")

set(body "")
foreach(name unknown newer versionless twice defaults neighbours)
  string(APPEND body
    "wago_add_catalog(${name} FILE \"${WORK}/${name}.json\" MODULE_DIRECTORY \${CMAKE_SOURCE_DIR} WARMUP 1 ITERATIONS 3)\n")
endforeach()
string(APPEND body "wago_add_catalog(declared ITERATIONS 3)
wago_add_workload(fib MODULE fib.wasm EXPORT fib ARGS 20 WANT 6765 CATALOG declared)
wago_add_workload(hasty MODULE fib.wasm EXPORT fib ARGS 20 WANT 6765 CATALOG declared DURATION 10m TIMEOUT 60)
wago_add_workload(large MODULE fib.wasm EXPORT fib ARGS f32:1e999 WANT 6765 CATALOG declared)
wago_add_workload(samply MODULE fib.wasm EXPORT fib ARGS 20 WANT 6765 CATALOG declared BACKEND samply)
wago_add_workload(maybe MODULE fib.wasm EXPORT fib ARGS 20 WANT 6765 CATALOG declared BACKEND samply OPTIONAL)
")
configure_project(project code text "${body}")
if(NOT code EQUAL 0)
  message(FATAL_ERROR "${text}")
endif()

cmake_path(GET CMAKE_COMMAND PARENT_PATH bin)
# <test> <how ctest says it ended> <what it printed>
function(expect_outcome test outcome sentence)
  execute_process(COMMAND "${bin}/ctest" -V -R "^${test}$" WORKING_DIRECTORY "${WORK}/project/build" OUTPUT_VARIABLE text
    ERROR_VARIABLE text)
  string(FIND "${text}" "${sentence}" at)
  if(at EQUAL -1 OR NOT text MATCHES "${test} [.*]+ *${outcome}")
    message(SEND_ERROR "${test}: wanted ${outcome} and \"${sentence}\", seen\n${text}")
  endif()
endfunction()

set(failed "[.*]*Failed")
expect_outcome(profile.unknown.good "${failed}" "${WORK}/unknown.json: foo: is not known here")
expect_outcome(profile.newer.good "${failed}" "${WORK}/newer.json: version: is 2, which is too new")
expect_outcome(profile.versionless.good "${failed}" "${WORK}/versionless.json: version: is missing")
expect_outcome(profile.twice.good "${failed}" "${WORK}/twice.json: workloads[0].id: the name \"id\" is given twice")
expect_outcome(profile.defaults.good "${failed}" "${WORK}/defaults.json: defaults.foo: is not known here")
expect_outcome(profile.neighbours.good "Passed" "good.wagoprof: ")
expect_outcome(profile.neighbours.bad "${failed}" "${WORK}/neighbours.json: workloads[1].speed: is not known here")
expect_outcome(profile.neighbours.large "${failed}" "${WORK}/neighbours.json: workloads[2].calls[0].args[0]: '1e999' does not fit")
expect_outcome(profile.declared.fib "Passed" "fib.wagoprof: ")
expect_outcome(profile.declared.hasty "${failed}"
  "measuring for 10m does not fit into the collection timeout of 1m; --collection-timeout (TIMEOUT in CMake) allows more")
expect_outcome(profile.declared.large "${failed}" "declared.catalog.json: workloads[2].calls[0].args[0]: '1e999' does not fit")
set(ENV{PATH} /nowhere)
expect_outcome(profile.declared.samply.samply "${failed}" "samply is not installed, or not in PATH")
expect_outcome(profile.declared.maybe.samply "[*]*Skipped" "samply is not installed, or not in PATH")
