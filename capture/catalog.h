// Catalogs: declared workloads in a JSON file. See docs/catalog-format.md for the format; the same file is
// written by CMake's wago_add_workload and read by the recorder and the Google Benchmark entries.
//
// Catalogs come from strangers: sizes are limited, unknown members are refused with the known ones listed,
// and every error names file, JSON path and what is allowed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "capture/workload.h"

namespace wago::capture {

// A catalog that was made from another names that one as its source, which must be without mistakes as well:
// what CMake writes is so refused in terms of the file that the user wrote.
struct Catalog {
  std::string name;
  std::string file;  // as the caller named it
  std::vector<Workload> workloads;

  // Error (Usage) lists the candidates.
  base::Result<Workload> find(std::string_view id) const;
  // "it has fib, div and 9 more": for messages.
  std::string candidates() const;
};

inline constexpr uint64_t kCatalogVersion = 1;

// Limits; exceeding one is an error that names it.
struct CatalogLimits {
  uint64_t bytes = uint64_t{64} << 20;
  uint64_t workloads = 100'000;
  uint64_t calls = 10'000;  // of one workload
  uint64_t slots = 1'000;   // of one list of arguments or results
  uint64_t name_bytes = 65'536;
};

base::Result<Catalog> read_catalog(const std::string& path, base::Files& files = base::system_files(),
                                   const CatalogLimits& limits = {});
// Only the workload of this name is checked and kept, so that it does not suffer from its neighbours'
// mistakes.
base::Result<Catalog> read_catalog_for(std::string_view id, const std::string& path,
                                       base::Files& files = base::system_files());
// As read_catalog() from text, without looking at a source; `file` is what messages call it and what relative
// modules are relative to.
base::Result<Catalog> parse_catalog(std::string_view text, const std::string& file,
                                    const CatalogLimits& limits = {});

// A catalog that reads back as these workloads, modules as they are named.
std::string to_catalog_text(const std::string& name, const std::vector<Workload>& workloads);

}  // namespace wago::capture
