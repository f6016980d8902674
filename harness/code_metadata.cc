#include "harness/code_metadata.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "base/check.h"
#include "runtime/code_image.h"
#include "runtime/code_reader.h"
#include "runtime/engine_data.h"
#include "runtime/instruction_text.h"
#include "runtime/source_lines.h"

namespace wago::harness {

namespace {

// The two enumerations list the same kinds in the same order.
template <class To, class From>
To same_word(From from) {
  return static_cast<To>(from);
}
static_assert(
    static_cast<int>(runtime::SiteKind::Frame) == static_cast<int>(capture::SiteKind::Frame) &&
    static_cast<int>(runtime::SiteKind::Libcall) == static_cast<int>(capture::SiteKind::HelperCall) &&
    static_cast<int>(runtime::SiteKind::BoundsCheck) == static_cast<int>(capture::SiteKind::BoundsCheck) &&
    static_cast<int>(runtime::UnwindRule::Adapter) == static_cast<int>(capture::UnwindRule::Adapter) &&
    capture::kNone == ~0u);

class Texts {
 public:
  explicit Texts(std::vector<std::string>& texts) : texts_(texts) {}
  uint32_t number(const std::string& whole) {
    const std::string text = capture::within_limit(whole);
    auto [at, added] = numbers_.emplace(text, static_cast<uint32_t>(texts_.size()));
    if (added) texts_.push_back(text);
    return at->second;
  }

 private:
  std::vector<std::string>& texts_;
  std::map<std::string, uint32_t> numbers_;
};

// Wasm pcs that positions name, by function: sorted, each once.
std::vector<std::pair<uint32_t, uint32_t>> named_pcs(const runtime::CodeImage& image) {
  std::vector<std::pair<uint32_t, uint32_t>> pcs;
  size_t begun = 0;  // functions that begin at or before the position
  for (const runtime::SourcePosition& p : image.positions) {
    while (begun < image.functions.size() && image.functions[begun].begin <= p.offset) ++begun;
    WAGO_CHECK(begun != 0);
    const bool inlined = p.inline_site != ~0u;
    pcs.emplace_back(inlined ? image.inline_sites[p.inline_site].callee : image.functions[begun - 1].function,
                     p.wasm_pc);
  }
  for (const runtime::InlineSite& site : image.inline_sites) {
    const bool inlined = site.parent != ~0u;
    if (inlined) pcs.emplace_back(image.inline_sites[site.parent].callee, site.call_pc);
  }
  std::sort(pcs.begin(), pcs.end());
  pcs.erase(std::unique(pcs.begin(), pcs.end()), pcs.end());
  return pcs;
}

void add_instructions(const runtime::Module& module, std::span<const std::pair<uint32_t, uint32_t>> pcs,
                      Texts& texts, capture::CodeMetadata& to) {
  for (size_t i = 0; i < pcs.size();) {
    const uint32_t function = pcs[i].first;
    runtime::BodyReader reader =
        runtime::read_body(module, module.bodies[function - module.imported_functions]);
    runtime::Instruction instruction;
    while (i < pcs.size() && pcs[i].first == function && !reader.at_end()) {
      reader.next(instruction);
      // A pc before the first instruction is the function's beginning.
      for (; i < pcs.size() && pcs[i].first == function && pcs[i].second <= instruction.pc; ++i) {
        if (pcs[i].second < instruction.pc) continue;
        to.instructions.push_back({function, instruction.pc, texts.number(text_of(module, instruction))});
      }
    }
    while (i < pcs.size() && pcs[i].first == function) ++i;
  }
}

// Source frames as a tree, each once.
class SourceTree {
 public:
  SourceTree(Texts& texts, std::vector<capture::SourceFrame>& frames) : texts_(texts), frames_(frames) {}

  // Of frames innermost first; kNone for none.
  uint32_t number(std::span<const SourceFrame> innermost_first) {
    uint32_t caller = capture::kNone;
    for (size_t i = innermost_first.size(); i > 0; --i) {
      const SourceFrame& from = innermost_first[i - 1];
      capture::SourceFrame frame{.line = from.line, .caller = caller};
      if (!from.function.empty()) frame.function = texts_.number(from.function);
      if (!from.file.empty()) frame.file = texts_.number(from.file);
      auto [at, added] = numbers_.emplace(std::tuple(frame.function, frame.file, frame.line, caller),
                                          static_cast<uint32_t>(frames_.size()));
      if (added) frames_.push_back(frame);
      caller = at->second;
    }
    return caller;
  }

 private:
  Texts& texts_;
  std::vector<capture::SourceFrame>& frames_;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>, uint32_t> numbers_;
};

void add_sources(const runtime::Module& module, const runtime::SourceLines& lines,
                 std::span<const std::pair<uint32_t, uint32_t>> pcs, Texts& texts,
                 capture::CodeMetadata& to) {
  SourceTree tree(texts, to.source_frames);
  for (const auto& [function, pc] : pcs) {
    const uint32_t frame =
        tree.number(lines.at(module.bodies[function - module.imported_functions].begin + pc));
    const bool same_function = !to.source_ranges.empty() && to.source_ranges.back().function == function;
    if (same_function ? to.source_ranges.back().frame == frame : frame == capture::kNone) continue;
    to.source_ranges.push_back({function, pc, frame});
  }
}

void add_blocks(const runtime::CountedCode& counted, capture::CodeMetadata& to) {
  for (const runtime::CountedBlock& block : counted.blocks) {
    to.blocks.push_back({block.begin, block.size, block.function, block.machine_instructions});
  }
  for (const runtime::CountedRange& range : counted.ranges) {
    to.block_ranges.push_back(
        {range.block, range.inline_site, range.wasm_begin, range.wasm_end, range.instructions});
  }
}

}  // namespace

capture::CodeMetadata describe_metadata(const runtime::CodeImage& image, const RecordSettings& settings) {
  capture::CodeMetadata to;
  for (const runtime::InlineSite& site : image.inline_sites) {
    to.inline_sites.push_back({site.callee, site.call_pc, site.parent});
  }
  for (const runtime::SourcePosition& p : image.positions) {
    to.positions.push_back({p.offset, p.wasm_pc, p.inline_site});
  }
  for (const runtime::EmittedSite& site : image.emitted_sites) {
    to.sites.push_back({site.offset, same_word<capture::SiteKind>(site.kind)});
  }
  for (const runtime::Decision& d : image.decisions) {
    to.decisions.push_back({d.function, d.kind, d.wasm_pc, d.inline_site, d.callee});
  }
  for (const runtime::CodeOrigin& origin : image.origins) {
    to.origins.push_back({origin.function, origin.built_instructions, origin.placed_instructions});
  }
  if (!settings.unwind_maps) return to;
  for (const runtime::UnwindRow& row : image.unwind_rows) {
    to.unwind_rows.push_back({row.offset, same_word<capture::UnwindRule>(row.rule)});
  }
  return to;
}

capture::CodeMetadata describe_metadata(const runtime::Module& module, const runtime::CodeImage& image,
                                        const runtime::SourceLines* lines, const RecordSettings& settings) {
  capture::CodeMetadata to = describe_metadata(image, settings);
  if (!settings.source_maps) return to;
  const auto pcs = named_pcs(image);
  Texts texts(to.texts);
  add_instructions(module, pcs, texts, to);
  if (lines) add_sources(module, *lines, pcs, texts, to);
  return to;
}

capture::CodeMetadata describe_metadata(const Subject& subject) {
  const auto code = subject.ordinary_code();
  const auto& lines = subject.reference().data()->code().debug_info();
  capture::CodeMetadata to =
      describe_metadata(subject.reference().decoded(), *code, lines.get(), subject.settings());
  if (const auto& counted = subject.reference().code().counted) add_blocks(*counted, to);
  return to;
}

}  // namespace wago::harness
