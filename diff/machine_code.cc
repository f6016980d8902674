#include "diff/machine_code.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "diff/quantity.h"

namespace wago::diff {

namespace {

using capture::Image;
using capture::Region;
using capture::RegionKind;

// code.bin holds the images one after the other.
std::span<const uint8_t> code_of(const Evidence& evidence, uint32_t image) {
  size_t begin = 0;
  for (uint32_t i = 0; i < image; ++i) begin += evidence.images.images[i].size;
  return std::span(*evidence.code).subspan(begin, evidence.images.images[image].size);
}

// "call 0x40": 0x40.
std::optional<uint64_t> call_target(std::string_view text) {
  constexpr std::string_view kHex = "0x";
  if (!text.starts_with("call")) return std::nullopt;
  const size_t space = text.rfind(' ');
  if (space == std::string_view::npos || !text.substr(space + 1).starts_with(kHex)) return std::nullopt;
  std::string_view digits = text.substr(space + 1 + kHex.size());
  uint64_t target = 0;
  auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), target, 16);
  if (problem != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return target;
}

}  // namespace

MachineCode::MachineCode(const Evidence& evidence, uint32_t image, const Disassemble& disassemble)
    : image_(evidence.images.images[image]), disassemble_(disassemble), code_(code_of(evidence, image)) {
  for (const capture::Function& function : image_.functions) entries_.emplace(function.begin, &function);
}

std::vector<MachineRow> MachineCode::of(const capture::Function& function) const {
  auto region = std::lower_bound(image_.regions.begin(), image_.regions.end(), function.begin,
                                 [](const Region& entry, uint32_t offset) { return entry.begin < offset; });
  std::vector<MachineRow> rows;
  for (; region != image_.regions.end() && region->begin - function.begin < function.size; ++region) {
    if (region->function != function.index || region->size == 0) continue;
    if (region->kind == RegionKind::Literals) {
      rows.push_back(
          {region->begin, region->size, "(" + format_plural(region->size, "byte") + " of literals)", {}});
      continue;
    }
    if (region->kind != RegionKind::Body && region->kind != RegionKind::TrapStubs) continue;
    for (MachineInstruction& instruction :
         disassemble_(code_.subspan(region->begin, region->size), region->begin)) {
      MachineRow row = {
          region->begin + instruction.offset, instruction.size, std::move(instruction.text), {}};
      if (auto target = call_target(row.text)) {
        if (auto callee = entries_.find(*target); callee != entries_.end()) row.target = callee->second->name;
      }
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace wago::diff
