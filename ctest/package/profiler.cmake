# scripts/build-profiler.sh in a repository made of this tree: what it bakes in when the tree is clean, when it is dirty, and
# when there is no repository. It compiles everything once.
include("${CMAKE_CURRENT_LIST_DIR}/check.cmake")

find_program(GIT git REQUIRED)
file(REMOVE_RECURSE "${WORK}")
set(tree "${WORK}/a tree")
file(GLOB folders RELATIVE "${SOURCE}" "${SOURCE}/*")
list(FILTER folders EXCLUDE REGEX "^([.]git|build|captures)$")
foreach(folder IN LISTS folders)
  file(COPY "${SOURCE}/${folder}" DESTINATION "${tree}")
endforeach()

set(git "${GIT}" -C "${tree}" -c user.name=nobody -c user.email=nobody@example.invalid)
run(init ${git} init --quiet)
run(add ${git} add --all)
run(commit ${git} commit --quiet --message "This tree")
run(revision ${git} rev-parse HEAD)
string(STRIP "${output}" revision)

set(script "${tree}/scripts/build-profiler.sh")
set(program "${WORK}/the program")

run_failing(2 no-out "${script}" --cli)
expect_text("${output}" "OUT is missing")
run_failing(2 no-cli "${script}" "${program}")
expect_text("${output}" "say what to build: --cli")
run_failing(2 directory "${script}" "${WORK}" --cli)
expect_text("${output}" "is a directory")
run_failing(2 unknown-flag "${script}" "${program}" --cli --fast)
expect_text("${output}" "unknown flag --fast")

# What the program says of itself, and every capture of its.
function(expect_baked_in how revision dirty)
  run(build-${how} "${script}" "${program}" --cli)
  expect_text("${output}" "wago-profile [0-9.]+\nrevision  ${revision} [(]${how}[)]\n")
  run(record-${how} "${program}" profile record --module "${SOURCE}/corpora/fib.wasm" --export fib --args 5 --want 5
    --iterations 3 --out "${WORK}/${how}.wagoprof")
  file(READ "${WORK}/${how}.wagoprof/manifest.json" manifest)
  string(JSON seen_revision GET "${manifest}" revision)
  string(JSON seen_dirty GET "${manifest}" dirty)
  if(NOT "${seen_revision} ${seen_dirty}" STREQUAL "${revision} ${dirty}")
    message(SEND_ERROR "${how}: the capture says ${seen_revision} ${seen_dirty}")
  endif()
endfunction()

expect_baked_in(clean ${revision} OFF)
file(APPEND "${tree}/README.md" "\n")
expect_baked_in(dirty ${revision} ON)
# Whatever repository is around a tree without one of its own, this build's included, is not asked.
file(REMOVE_RECURSE "${tree}/.git")
expect_baked_in(unknown unknown unknown)
