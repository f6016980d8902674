#include "cli/stacks.h"

#include <utility>

#include "base/files.h"
#include "base/text.h"
#include "diff/elapsed.h"
#include "diff/evidence.h"
#include "diff/hot_spots.h"

namespace wago::cli {

base::Result<Stacks> read_stacks(const std::string& path) {
  Stacks stacks;
  stacks.name = path;
  if (!base::system_files().is_directory(path)) {
    auto bytes = base::system_files().read(path, diff::kMaxFoldedBytes);
    if (!bytes) return bytes.error();
    auto tree = diff::parse_folded(base::as_text(*bytes), path);
    if (!tree) return tree.error();
    stacks.tree = std::move(*tree);
    stacks.title = base::base_name(path);
    return stacks;
  }
  auto evidence = diff::load(path);
  if (!evidence) return evidence.error();
  if (auto sampled = diff::expect_samples(*evidence); !sampled) return sampled.error();
  stacks.tree = diff::call_tree(*evidence);
  stacks.title = evidence->manifest.workload + " (" + evidence->manifest.module_name + ")";
  stacks.work = diff::work_behind_samples(evidence->manifest);
  stacks.work_unit = diff::elapsed_of(*evidence).unit;
  stacks.contract = {.path = evidence->path, .manifest = std::move(evidence->manifest)};
  return stacks;
}

}  // namespace wago::cli
