// An experiment's directory while it is written (capture/experiment.h says what is in it): locked against
// other experiments, created whole or not at all, appended to pair by pair, continued where it was left.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/process.h"
#include "base/result.h"
#include "capture/experiment.h"

namespace wago::harness {

inline constexpr const char* kExperimentCaptures = "captures";

// Locked against other processes that do the same, as long as the descriptor is held; it ends with the
// process however that ends. Errors (Usage): `busy`, a sentence, and who it is where another process holds
// it.
base::Result<base::Fd> lock_directory(const std::string& path, const char* busy);
// With all that is in it; nothing where there is none.
base::Result<void> remove_capture(const std::string& path);

class ExperimentStore {
 public:
  // A new directory; it appears under its name only when it can be read. Errors (Usage): it exists.
  static base::Result<ExperimentStore> create(const std::string& path, const capture::Experiment& experiment);
  // The one that is there, whole pairs kept and a torn line cut off. Errors (Usage): no experiment, not
  // readable, or another process is writing into it.
  static base::Result<ExperimentStore> open(const std::string& path);

  const capture::Experiment& experiment() const { return experiment_; }
  const std::vector<capture::Pair>& pairs() const { return pairs_; }
  // How many more experiment.json spoke of when this was opened: whole lines were cut off.
  uint64_t lost_pairs() const { return lost_pairs_; }

  // Written down before it returns.
  base::Result<void> append(capture::Pair pair);
  // Changes what experiment.json says: old or new, never a part of it.
  base::Result<void> update(const capture::Experiment& experiment);
  // "captures/ID.baseline.wagoprof", with nothing left of an earlier attempt there.
  base::Result<std::string> make_room_for_capture(const std::string& id, capture::ExperimentSide side);

 private:
  ExperimentStore(std::string path, base::Fd lock, std::unique_ptr<base::Directory> directory)
      : path_(std::move(path)), lock_(std::move(lock)), directory_(std::move(directory)) {}
  base::Result<void> open_pairs();

  std::string path_;
  base::Fd lock_;
  std::unique_ptr<base::Directory> directory_;
  base::Fd pairs_file_;
  uint64_t pairs_bytes_ = 0;
  std::optional<capture::PairLines> lines_;  // that are in the file
  capture::Experiment experiment_;
  std::vector<capture::Pair> pairs_;
  uint64_t lost_pairs_ = 0;
};

}  // namespace wago::harness
