#include "cli/history_file.h"

#include <memory>
#include <utility>
#include <vector>

#include "capture/history_store.h"

namespace wago::cli {

base::Result<diff::History> load_history(const std::string& store, const diff::HistoryOptions& options) {
  auto experiments = capture::read_history(store);
  if (!experiments) return experiments.error();
  return diff::history_of(store, std::move(*experiments), options);
}

base::Result<void> learn_floor_from(const std::string& store, diff::ReadSettings& settings) {
  auto experiments = capture::read_history(store);
  if (!experiments) return experiments.error();
  settings.history = store;
  settings.past = std::make_shared<const std::vector<capture::HistoryExperiment>>(std::move(*experiments));
  return {};
}

}  // namespace wago::cli
