// What a finished capture says of itself in more than one place must agree. Files that are whole and
// unchanged may still have been edited together, by a person or by a program that was wrong; whatever is
// derived from such a capture would be wrong without a word.
//
// The invariants, all of them:
//
//   phases      each ran once; its unit is work_unit() of it; the measured one is among them; its work is
//   that
//               of the completed iterations, and of all others that of one time through
//   amounts     at least one iteration; as many as were requested, or at least as long
//   losses      only of what was collected
//   files       images.json and iterations.bin once each, plain or gzipped; no name twice
//   code        code_sha256 is that of images.json; every image is loaded in the journal, unless records of
//   it
//               were lost
//   spans       there with a timeline and only then, within its bound, lost as often as the losses say, and
//               those of the measured phase no longer than its timed windows
//   iterations  batches follow one another inside the measured phase; their iterations, wall and CPU time add
//               up to the manifest's
#pragma once

#include <optional>
#include <span>

#include "base/result.h"
#include "capture/images.h"
#include "capture/iterations.h"
#include "capture/manifest.h"
#include "capture/spans.h"

namespace wago::capture {

// One sentence (Usage) for the first of them that does not hold. What each part promises alone is the
// reader's of that part. Precondition: manifest.finished().
base::Result<void> check(const Manifest& manifest, const Images& images,
                         std::span<const IterationBatch> iterations);
// The same of what a timeline holds.
base::Result<void> check(const Manifest& manifest, const std::optional<Spans>& spans);

}  // namespace wago::capture
