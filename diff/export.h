// Captures in the formats of other tools. Names are raw there: those tools have ways of their own to show
// them.
#pragma once

#include <string>

#include "base/result.h"
#include "diff/evidence.h"

namespace wago::diff {

// speedscope (https://www.speedscope.app/file-format-schema.json): a sampled profile for each thread, in the
// order of time. Errors (Usage): no samples; more frames than a person's browser would take.
base::Result<std::string> to_speedscope(const Evidence& evidence);

// Go's benchmark format (https://go.dev/design/14313-benchmark-format): the whole capture as one result, an
// op being an iteration. Its timed batches are no independent runs, and are not passed off as such.
std::string to_benchfmt(const Evidence& evidence);

// The JSON of Google Benchmark, as its compare.py reads it; the same one result.
std::string to_google_benchmark(const Evidence& evidence);

}  // namespace wago::diff
