# Bakes the source revision, and whether the tree was dirty, into a target whenever it is built.
#
#   wago_add_build_info(<target>)
#
# adds a generated source to <target> that defines what base/build_info.h declares. Git is asked at build time, not at
# configure time, so that a later commit or edit is not missed; the file is rewritten only when an answer changed.
# Ignored files never make a tree dirty. Where git cannot tell - no git, no repository, or a repository that only
# happens to surround this source tree - revision and dirtiness are "unknown", and every capture says so.
#
# The same file is the script that does it:
#
#   cmake -D SOURCE_DIR=... -D TEMPLATE=... -D OUTPUT=... -D VERSION=... -P WagoBuildInfo.cmake

function(_wago_ask_git result)
  set(${result} "" PARENT_SCOPE)
  set(${result}_OK FALSE PARENT_SCOPE)
  if(NOT GIT_EXECUTABLE)
    return()
  endif()
  # Asking must not write: another git may be at work in the tree.
  execute_process(COMMAND ${GIT_EXECUTABLE} --no-optional-locks -C ${SOURCE_DIR} ${ARGN}
    RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(status EQUAL 0)
    set(${result} "${text}" PARENT_SCOPE)
    set(${result}_OK TRUE PARENT_SCOPE)
  endif()
endfunction()

function(_wago_write_build_info)
  find_program(GIT_EXECUTABLE git)
  set(WAGO_REVISION unknown)
  set(WAGO_DIRTY Unknown)
  _wago_ask_git(top rev-parse --show-toplevel)
  file(REAL_PATH "${SOURCE_DIR}" source)
  if(top_OK)
    file(REAL_PATH "${top}" top)
  endif()
  if(top_OK AND top STREQUAL source)
    _wago_ask_git(revision rev-parse HEAD)
    _wago_ask_git(changes status --porcelain)
    if(revision_OK AND changes_OK)
      set(WAGO_REVISION ${revision})
      set(WAGO_DIRTY Clean)
      if(NOT changes STREQUAL "")
        set(WAGO_DIRTY Dirty)
      endif()
    endif()
  endif()
  set(WAGO_VERSION ${VERSION})
  configure_file(${TEMPLATE} ${OUTPUT} @ONLY)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE)
  _wago_write_build_info()
  return()
endif()

include_guard(GLOBAL)

set(_WAGO_BUILD_INFO_SCRIPT ${CMAKE_CURRENT_LIST_FILE} CACHE INTERNAL "")

function(wago_add_build_info target)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${target}_build_info.cc)
  add_custom_target(${target}_build_info
    COMMAND ${CMAKE_COMMAND} -D SOURCE_DIR=${PROJECT_SOURCE_DIR} -D OUTPUT=${output} -D VERSION=${PROJECT_VERSION}
      -D TEMPLATE=${PROJECT_SOURCE_DIR}/base/build_info.cc.in -P ${_WAGO_BUILD_INFO_SCRIPT}
    BYPRODUCTS ${output}
    COMMENT "Asking git for the revision" VERBATIM)
  target_sources(${target} PRIVATE ${output})
  add_dependencies(${target} ${target}_build_info)
  set_source_files_properties(${output} PROPERTIES COMPILE_DEFINITIONS
    "WAGO_COMPILER=\"${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}\";WAGO_BUILD_TYPE=\"$<CONFIG>\";WAGO_SANITIZED=$<BOOL:${WAGO_SANITIZE}>")
endfunction()
