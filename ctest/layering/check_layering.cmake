# The arrows between folders, held against every #include:
#
#   base <- runtime <- codegen <- harness <- cli
#   base <- capture <- harness
#   base <- capture <- diff <- cli
#
# LLVM headers are included in codegen/llvm only, nlohmann_json in base/json.cc only, CLI11 in cli/flags.cc only, SQLite
# in capture/history_store.cc only, Google Benchmark in harness's benchmark files only. Run as: cmake -DSOURCE=<root> -P check_layering.cmake
cmake_minimum_required(VERSION 3.25)

set(allowed_base base)
set(allowed_runtime base runtime wago)
set(allowed_codegen base runtime codegen wago)
set(allowed_capture base capture)
set(allowed_harness base runtime codegen capture harness wago)
set(allowed_diff base capture diff)
set(allowed_cli base runtime codegen capture harness diff cli wago)

set(bad "")
set(count 0)
foreach(folder base runtime codegen capture harness diff cli)
  file(GLOB_RECURSE files RELATIVE ${SOURCE} ${SOURCE}/${folder}/*.h ${SOURCE}/${folder}/*.cc)
  foreach(file IN LISTS files)
    math(EXPR count "${count} + 1")
    file(STRINGS ${SOURCE}/${file} includes REGEX "^#include [\"<]")
    foreach(line IN LISTS includes)
      string(REGEX REPLACE "^#include [\"<]([^\">]+)[\">].*" "\\1" header "${line}")
      string(REGEX MATCH "^[^/]+/" top "${header}")
      string(REPLACE "/" "" top "${top}")
      if(top MATCHES "^(base|runtime|codegen|capture|harness|diff|cli|wago)$")
        if(NOT top IN_LIST allowed_${folder})
          string(APPEND bad "${file} includes ${header}: ${folder} may not know ${top}\n")
        endif()
      elseif(top MATCHES "^llvm" AND NOT file MATCHES "^codegen/llvm/")
        string(APPEND bad "${file} includes ${header}: LLVM belongs in codegen/llvm\n")
      elseif(top STREQUAL "nlohmann" AND NOT file STREQUAL "base/json.cc")
        string(APPEND bad "${file} includes ${header}: JSON's library belongs in base/json.cc\n")
      elseif(header STREQUAL "sqlite3.h" AND NOT file MATCHES "^capture/history_store(_test)?\\.cc$")
        string(APPEND bad "${file} includes ${header}: SQLite belongs in capture/history_store.cc\n")
      elseif(top STREQUAL "CLI" AND NOT file STREQUAL "cli/flags.cc")
        string(APPEND bad "${file} includes ${header}: CLI11 belongs in cli/flags.cc\n")
      elseif(top STREQUAL "benchmark" AND NOT file MATCHES "^harness/bench")
        string(APPEND bad "${file} includes ${header}: Google Benchmark belongs in harness's benchmark files\n")
      endif()
    endforeach()
  endforeach()
endforeach()
if(bad)
  message(FATAL_ERROR "${bad}")
endif()
if(count LESS 50)
  message(FATAL_ERROR "only ${count} files were looked at: is SOURCE the project's root?")
endif()
message(STATUS "${count} files keep to the arrows")
