// One function on two sides, its instructions aligned: what stayed, what went, what came, with samples or
// counts of both.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "diff/annotate.h"

namespace wago::diff {

// Rows of the two annotations; nothing on the side that lacks it.
struct AlignedRow {
  std::optional<uint32_t> baseline;
  std::optional<uint32_t> candidate;
};

struct SideBySide {
  Annotation baseline;
  Annotation candidate;
  std::vector<AlignedRow> rows;
  uint64_t kept = 0;
};

// Instructions are the same when their text is, branch targets and addresses of literals aside, and calls
// when they call functions of one name; without code, when their wasm instruction is. In time linear in
// functions that differ little; where more than `kMaxCells` pairs would have to be looked at, what differs is
// one change.
SideBySide align(Annotation baseline, Annotation candidate);
inline constexpr uint64_t kMaxCells = uint64_t{1} << 24;

// Rows that only one side has, or that were not executed equally often per unit of work: what was executed
// most first, and nothing that never was; without counts what was sampled most.
std::vector<AlignedRow> differing_rows(const SideBySide& both);

// Some of the rows, with a heading.
std::string rows_text(const SideBySide& both, const std::vector<AlignedRow>& rows, bool colour);
std::string to_text(const SideBySide& both, bool colour = false);
base::Json to_json(const SideBySide& both);

}  // namespace wago::diff
