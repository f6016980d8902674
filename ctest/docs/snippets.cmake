# cmake -DHEADER=wago.h -DPAGE=embedding.md -DOUT=snippets.cc -P snippets.cmake
# What the header's head and the page print of the C++ interface, in two functions that compile.
set(text "#include <wago/wago.h>\n#include <cstdio>\n")
function(_wago_snippet file prefix from to signature)
  file(READ ${file} page)
  string(FIND "${page}" "${from}" begin)
  string(SUBSTRING "${page}" ${begin} -1 page)
  string(FIND "${page}" "${to}" length)
  string(SUBSTRING "${page}" 0 ${length} page)
  string(REGEX MATCHALL "\n${prefix}[^\n]+" lines "${page}")
  string(REPLACE ";\n${prefix}" "\n" code ";${lines}")  # as a list it has a semicolon before each
  if("${code}" STREQUAL ";")
    message(FATAL_ERROR "${file} has no snippet behind ${from}")
  endif()
  set(text "${text}${signature} {${code}\n}\n" PARENT_SCOPE)
endfunction()
_wago_snippet(${HEADER} "//   " "// WagoProfile's" "#pragma once" "void header(const std::vector<uint8_t>& bytes)")
_wago_snippet(${PAGE} "    " "\n## C++\n" "\n**"
  "void page(wago::Engine& engine, wago::Module& module, int32_t (*add)(int32_t, int32_t))")
file(WRITE ${OUT} "${text}")
