// From the engine's code images to a capture's: the one place where the vocabulary of measurement meets the
// compiler's.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "capture/images.h"
#include "harness/code_journal.h"
#include "harness/subject.h"

namespace wago::harness {

struct DescribedCode {
  capture::Images images;
  std::vector<std::shared_ptr<const runtime::CodeImage>> codes;  // of images.images
  std::vector<uint32_t> image_of;                                // by number of the journal's codes
};

// The module's image and the adapters that calls of it go through (those of its exported and imported
// functions, by signature), then whatever else `journal` has seen. Without one, the module is where it is and
// was loaded at `loaded_ns`, and the adapters are somewhere.
base::Result<DescribedCode> describe_code(const Subject& subject, uint64_t loaded_ns,
                                          const CodeJournal* journal = nullptr);

// All code that `journal` has seen, in its order, of a program that has no subject. `name` is that of modules
// that have none of their own.
DescribedCode describe_code(const CodeJournal& journal, const std::string& name,
                            const RecordSettings& settings);

// code.bin: the same images' bytes, relocated fields masked.
std::vector<uint8_t> code_bytes(const DescribedCode& code);

}  // namespace wago::harness
