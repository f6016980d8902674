#include "cli/test_runs.h"

#include <unistd.h>

#include <cstdio>
#include <ctime>

#include "base/files.h"
#include "base/text.h"
#include "cli/output.h"

namespace wago::cli::profile {

namespace {

namespace fs = std::filesystem;

// Makes the link `latest` lead to `run`, which is beside it. Replaced in one step, so that runs that begin at
// the same time leave one of theirs.
base::Result<void> point_latest(const fs::path& run) {
  const fs::path link = run.parent_path() / "latest";
  fs::path beside = link;
  beside += "." + std::to_string(getpid()) + ".part";
  std::error_code problem;
  fs::create_symlink(run.filename(), beside, problem);
  if (!problem) fs::rename(beside, link, problem);
  if (!problem) return {};
  std::error_code ignored;
  fs::remove(beside, ignored);
  return base::failed("cannot be made to lead to " + run.filename().string() + ": " + problem.message(),
                      {.file = link.string()});
}

}  // namespace

base::Result<void> ensure_directory(const fs::path& path) {
  base::Files& files = base::system_files();
  if (files.is_directory(path.string())) return {};
  if (path.has_parent_path() && path.has_relative_path()) {
    if (auto made = ensure_directory(path.parent_path()); !made) return made;
  }
  auto made = files.create_directory(path.string());
  // Another run may have made it meanwhile.
  if (made || files.is_directory(path.string())) return {};
  if (files.exists(path.string())) return base::usage_error("is not a directory", {.file = path.string()});
  return made;
}

base::Result<std::string> begin_run(const std::string& runs) {
  if (auto made = ensure_directory(runs); !made) return made.error();
  char stamp[32];
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%SZ", &utc);
  std::string run;
  base::Result<void> made;
  with_free_name(fs::absolute(runs) / stamp, "", [&](const std::string& name) {
    run = name;
    made = base::system_files().create_directory(name);
    return made.ok() || !base::system_files().exists(name);
  });
  if (!made) return made.error();
  if (auto pointed = point_latest(run); !pointed) return pointed.error();
  return run;
}

base::Result<std::string> current_run(const std::string& runs) {
  std::error_code problem;
  const fs::path link = fs::absolute(runs) / "latest";
  const fs::path run = fs::read_symlink(link, problem);
  if (problem || !base::system_files().is_directory(link.string())) {
    return base::usage_error("no run was begun in " + runs + ": begin one with profile test --begin --runs " +
                             runs);
  }
  return (link.parent_path() / run).string();
}

void print_measurement(Output& output, const std::string& name, double value) {
  char number[40];
  std::snprintf(number, sizeof number, "%.6g", value);
  output.print("<CTestMeasurement type=\"numeric/double\" name=\"" + base::as_markup(name) + "\">" + number +
               "</CTestMeasurement>\n");
}

}  // namespace wago::cli::profile
