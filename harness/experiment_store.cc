#include "harness/experiment_store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "base/text.h"

namespace wago::harness {

namespace {

using base::Error;
using base::Result;

Error system_error(base::ErrorKind kind, const char* what, const std::string& path) {
  return {kind, std::string(what) + ": " + std::strerror(errno), {.file = path}};
}

constexpr const char* kBusy = "another experiment is being measured into it; wait for it or name another";

// " (process 4711)", as /proc/locks (proc(5)) knows who holds the lock of an open directory; empty where it
// does not, as for a process of another container.
std::string holder(int directory) {
  struct stat entry {};
  if (::fstat(directory, &entry) != 0) return "";
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    int pid = 0;
    unsigned major = 0, minor = 0;
    unsigned long inode = 0;
    if (std::sscanf(line.c_str(), "%*d: FLOCK %*s %*s %d %x:%x:%lu", &pid, &major, &minor, &inode) != 4)
      continue;
    if (inode != entry.st_ino || ::makedev(major, minor) != entry.st_dev || pid <= 0) continue;
    return " (process " + std::to_string(pid) + ")";
  }
  return "";
}

}  // namespace

Result<base::Fd> lock_directory(const std::string& path, const char* busy) {
  base::Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.ok()) return system_error(base::ErrorKind::Usage, "cannot be opened", path);
  // One that was killed a moment ago holds it until the last of its processes is gone.
  constexpr int kTries = 20;
  for (int i = 0; i < kTries; ++i) {
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) return fd;
    if (errno != EWOULDBLOCK) return system_error(base::ErrorKind::Usage, "cannot be locked", path);
    ::usleep(50'000);
  }
  return base::usage_error(busy + holder(fd.get()), {.file = path});
}

// A flat directory of ordinary files, as captures are.
Result<void> remove_capture(const std::string& path) {
  base::Files& files = base::system_files();
  if (!files.exists(path)) return {};
  auto names = files.list(path);
  if (!names) return names.error();
  for (const std::string& name : *names) {
    if (auto removed = files.remove(base::join_path(path, name)); !removed) return removed;
  }
  return files.remove(path);
}

// What is at `path` by now, and was not when this experiment began.
Error was_faster(const std::string& path) {
  auto lock = lock_directory(path, kBusy);
  if (!lock) return lock.error();
  return base::usage_error(
      "was made by another process meanwhile; the same command continues it where it is an experiment, or "
      "name "
      "another",
      {.file = path});
}

Result<ExperimentStore> ExperimentStore::create(const std::string& path,
                                                const capture::Experiment& experiment) {
  // Beside, then renamed: who is killed in between leaves no directory that is half an experiment.
  const std::string beside =
      path.substr(0, path.find_last_not_of('/') + 1) + ".new-" + std::to_string(::getpid());
  base::Files& files = base::system_files();
  // What is beside nobody named.
  auto as_named = [&](Error error) {
    error.place.file = path;
    return error;
  };
  if (auto made = files.create_directory(beside); !made) return as_named(made.error());
  auto lock = lock_directory(beside, kBusy);
  if (!lock) return lock.error();
  auto fill = [&]() -> Result<void> {
    if (auto made = files.create_directory(base::join_path(beside, kExperimentCaptures)); !made) return made;
    if (auto made = files.create(base::join_path(beside, capture::kPairsFile), {}); !made) return made;
    const std::string text = to_json_text(experiment);
    auto made = files.create(base::join_path(beside, capture::kExperimentFile), base::as_bytes(text));
    if (!made) return made;
    if (::renameat2(AT_FDCWD, beside.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) == 0) return {};
    if (errno == EEXIST) return was_faster(path);
    return system_error(base::ErrorKind::Usage, "cannot be created", path);
  };
  if (auto filled = fill(); !filled) {
    (void)files.remove(base::join_path(beside, kExperimentCaptures));
    (void)remove_capture(beside);
    return as_named(filled.error());
  }
  auto directory = files.open_directory(path);
  if (!directory) return directory.error();
  ExperimentStore store(path, std::move(*lock), std::move(*directory));
  store.experiment_ = experiment;
  store.lines_.emplace(experiment);
  if (auto opened = store.open_pairs(); !opened) return opened.error();
  return store;
}

Result<ExperimentStore> ExperimentStore::open(const std::string& path) {
  base::Files& files = base::system_files();
  if (!files.is_directory(path) || !capture::is_experiment(path)) {
    return base::usage_error(
        "exists already and is no experiment, so it cannot be continued; name another directory or remove it",
        {.file = path});
  }
  auto lock = lock_directory(path, kBusy);
  if (!lock) return lock.error();
  auto directory = files.open_directory(path);
  if (!directory) return directory.error();
  ExperimentStore store(path, std::move(*lock), std::move(*directory));
  const capture::ExperimentLimits limits;
  auto text = store.directory_->read(capture::kExperimentFile, limits.manifest_bytes);
  if (!text) return text.error();
  const std::string manifest = base::join_path(path, capture::kExperimentFile);
  auto experiment = capture::parse_experiment(base::as_text(*text), manifest);
  if (!experiment) return experiment.error();
  auto lines = store.directory_->read(capture::kPairsFile, limits.pairs_bytes);
  if (!lines) return lines.error();
  auto read =
      capture::parse_pairs(base::as_text(*lines), *experiment, base::join_path(path, capture::kPairsFile));
  if (!read) return read.error();
  store.experiment_ = std::move(*experiment);
  store.pairs_ = std::move(read->pairs);
  store.pairs_bytes_ = read->whole_bytes;
  store.lines_ = read->lines;
  const uint64_t found = store.pairs_.size();
  store.lost_pairs_ = std::max(store.experiment_.pairs, found) - found;
  if (auto opened = store.open_pairs(); !opened) return opened.error();
  return store;
}

Result<void> ExperimentStore::open_pairs() {
  const std::string path = base::join_path(path_, capture::kPairsFile);
  pairs_file_ =
      base::Fd(::openat(lock_.get(), capture::kPairsFile, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC));
  if (!pairs_file_.ok()) return system_error(base::ErrorKind::Usage, "cannot be opened", path);
  if (::ftruncate(pairs_file_.get(), static_cast<off_t>(pairs_bytes_)) == 0) return {};
  return system_error(base::ErrorKind::Failed, "a torn last line cannot be cut off", path);
}

Result<void> ExperimentStore::append(capture::Pair pair) {
  const std::string path = base::join_path(path_, capture::kPairsFile);
  if (!directory_->in_place()) {
    return base::failed("was moved, removed or replaced while it was written", {.file = path_});
  }
  capture::PairLines lines = *lines_;
  const std::string line = lines.next(pair);
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t written = ::write(pairs_file_.get(), rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written > 0) {
      rest.remove_prefix(static_cast<size_t>(written));
      continue;
    }
    Error error = system_error(base::ErrorKind::Failed, "cannot be written", path);
    // What is torn would be cut off by whoever continues, too.
    [[maybe_unused]] int cut = ::ftruncate(pairs_file_.get(), static_cast<off_t>(pairs_bytes_));
    return error;
  }
  if (::fdatasync(pairs_file_.get()) != 0) {
    return system_error(base::ErrorKind::Failed, "cannot be written", path);
  }
  pairs_bytes_ += line.size();
  lines_ = std::move(lines);
  pairs_.push_back(std::move(pair));
  return {};
}

Result<void> ExperimentStore::update(const capture::Experiment& experiment) {
  const std::string text = to_json_text(experiment);
  if (auto done = directory_->publish(capture::kExperimentFile, base::as_bytes(text)); !done) return done;
  experiment_ = experiment;
  return {};
}

Result<std::string> ExperimentStore::make_room_for_capture(const std::string& id,
                                                           capture::ExperimentSide side) {
  const std::string name =
      base::join_path(kExperimentCaptures, id + "." + std::string(capture::spelling(side)) + ".wagoprof");
  if (auto removed = remove_capture(base::join_path(path_, name)); !removed) return removed.error();
  return name;
}

}  // namespace wago::harness
