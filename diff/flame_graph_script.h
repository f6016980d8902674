// What makes a flame graph's picture answer: zoom, search, tooltips, keyboard. Without it everything is
// visible all the same.
#pragma once

#include <string_view>

namespace wago::diff {

// ECMAScript 5 for browsers, to stand in a CDATA section. Names are read from the picture's text and written
// as text; nothing is ever parsed as markup.
std::string_view flame_graph_script();

}  // namespace wago::diff
