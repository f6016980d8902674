// What the compiler knew of a module's code -> a capture's metadata.
#pragma once

#include "capture/code_metadata.h"
#include "harness/subject.h"

namespace wago::harness {

// Positions and inline sites always, since whatever leads back from an address needs them; the rest as the
// subject's settings ask for it.
capture::CodeMetadata describe_metadata(const Subject& subject);
// Of any module's code; `lines`: null where the module says nothing of its sources.
capture::CodeMetadata describe_metadata(const runtime::Module& module, const runtime::CodeImage& image,
                                        const runtime::SourceLines* lines, const RecordSettings& settings);
// Of an adapter.
capture::CodeMetadata describe_metadata(const runtime::CodeImage& image, const RecordSettings& settings);

}  // namespace wago::harness
