// Histories on disk: one SQLite 3 file, private to its owner.
//
//   experiment   a row for each, with its two sides and the machine
//   result       a row for each of its workloads
//
// Columns are the members of HistoryExperiment and HistoryResult, in their order; an experiment's
// content_sha256 is over all of them. user_version is the version of the schema, application_id says what the
// file is. What was added is on the disk whole or not at all, whenever the process dies.
//
// Refused when read: what is no such file, a newer schema, other tables, and rows that are not what was
// written. Every reader and writer of one file waits for the others, up to HistoryLimits::patience_ms.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "capture/history.h"

namespace wago::capture {

inline constexpr uint64_t kHistoryVersion = 1;
inline constexpr uint32_t kHistoryApplicationId = 0x5761676f;  // "Wago"

struct HistoryLimits {
  uint64_t bytes = uint64_t{1} << 30;  // of the file
  uint64_t experiments = 10'000;
  int patience_ms = 5'000;  // until a file that others use counts as locked
};

enum class HistoryAddition : uint8_t {
  Added,
  Replaced,  // it was there, with other content: it has been continued, or its sides are called otherwise
  Present,   // it was there as it is
  Older,     // it was there with more pairs, as which it stays: this is a copy from before it was continued
};

// All of them or none; creates the file where there is none. What happened to each, in order.
base::Result<std::vector<HistoryAddition>> add_to_history(const std::string& path,
                                                          std::span<const HistoryExperiment> experiments,
                                                          const HistoryLimits& limits = {});

// In the order in which they were measured.
base::Result<std::vector<HistoryExperiment>> read_history(const std::string& path,
                                                          const HistoryLimits& limits = {});

}  // namespace wago::capture
