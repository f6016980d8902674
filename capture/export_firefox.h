// Samples as a document of the Firefox Profiler, in its "processed" format, version 47
// (github.com/firefox-devtools/profiler, docs-developer/CHANGELOG-formats.md; later loaders upgrade it).
//
// Weights are CPU time in milliseconds. Guest frames have their offset in the module as address and belong to
// it as their library; functions that were inlined are frames of their own. Categories say whose time it is.
#pragma once

#include <string>

#include "capture/export_lines.h"

namespace wago::capture {

std::string to_firefox(const ExportContext& context, const Images& images, const Samples& samples);

}  // namespace wago::capture
