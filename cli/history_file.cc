#include "cli/history_file.h"

#include "capture/history_store.h"

namespace wago::cli {

base::Result<diff::History> load_history(const std::string& store, const diff::HistoryOptions& options) {
  auto experiments = capture::read_history(store);
  if (!experiments) return experiments.error();
  return diff::history_of(store, std::move(*experiments), options);
}

}  // namespace wago::cli
