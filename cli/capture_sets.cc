#include "cli/capture_sets.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/files.h"
#include "base/text.h"
#include "base/vocabulary.h"
#include "capture/capture.h"

namespace wago::cli::profile {

namespace {

constexpr std::string_view kExtension = ".wagoprof";

bool is_capture(const std::string& directory) {
  return base::system_files().exists(base::join_path(directory, capture::kManifestFile));
}

// Where the captures of a catalog are.
std::string folder_of(const std::string& directory, const capture::Catalog& catalog) {
  const std::string own = base::join_path(directory, catalog.name);
  return base::system_files().is_directory(own) ? own : directory;
}

base::Result<std::vector<std::string>> captures_in(const std::string& directory) {
  if (is_capture(directory)) return std::vector<std::string>{directory};
  auto names = base::system_files().list(directory);
  if (!names) return names.error();
  std::vector<std::string> paths;
  for (const std::string& name : *names) {
    if (name.ends_with(kExtension)) paths.push_back(base::join_path(directory, name));
  }
  return paths;
}

using Paths = std::vector<std::string>;
using ByWorkload = std::map<std::string, Paths>;

// Those of the catalog's workloads, apart by what they were recorded with.
base::Result<std::map<base::Backend, ByWorkload>> sort_captures(const std::string& directory,
                                                                const capture::Catalog& catalog) {
  auto paths = captures_in(directory);
  if (!paths) return paths.error();
  std::set<std::string> declared;
  for (const capture::Workload& workload : catalog.workloads) declared.insert(workload.id);
  std::map<base::Backend, ByWorkload> sorted;
  for (std::string& path : *paths) {
    auto opened = capture::Capture::open(path);
    if (!opened) return opened.error();
    const capture::Manifest& manifest = opened->manifest();
    if (declared.contains(manifest.workload))
      sorted[manifest.backend][manifest.workload].push_back(std::move(path));
  }
  return sorted;
}

}  // namespace

bool has_captures(const std::string& directory, std::span<const capture::Catalog> catalogs) {
  return std::ranges::any_of(catalogs, [&](const capture::Catalog& catalog) {
    auto paths = captures_in(folder_of(directory, catalog));
    return paths && !paths->empty();
  });
}

base::Result<std::vector<ComparedCaptures>> pair_captures(const std::string& comparison,
                                                          std::span<const capture::Catalog> catalogs,
                                                          const std::string& baseline,
                                                          const std::string& run) {
  std::vector<ComparedCaptures> compared;
  for (const capture::Catalog& catalog : catalogs) {
    const std::string kept = folder_of(baseline, catalog);
    auto before = sort_captures(kept, catalog);
    if (!before) return before.error();
    auto after = sort_captures(base::join_path(run, catalog.name), catalog);
    if (!after) return after.error();
    for (const auto& [backend, workloads] : *after) {
      const std::string with(base::spelling(backend));
      ComparedCaptures one{.name = comparison + "." + catalog.name};
      if (backend != base::Backend::None) one.name += "." + with;
      for (const auto& [workload, paths] : workloads) {
        const Paths& counterparts = (*before)[backend][workload];
        // It would be compared by nobody.
        if (counterparts.empty()) {
          return base::usage_error("has no capture of workload " + workload + " of catalog " + catalog.name +
                                       " with backend " + with +
                                       ": record it again, or compare a catalog without it",
                                   {.file = kept});
        }
        one.baseline.insert(one.baseline.end(), counterparts.begin(), counterparts.end());
        one.candidate.insert(one.candidate.end(), paths.begin(), paths.end());
      }
      compared.push_back(std::move(one));
    }
  }
  if (compared.empty())
    return base::usage_error("has no captures of the catalogs: record them first", {.file = run});
  return compared;
}

}  // namespace wago::cli::profile
