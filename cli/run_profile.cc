#include "cli/run_profile.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <wago/wago.h>
#include "base/duration.h"
#include "base/files.h"
#include "base/text.h"
#include "cli/output.h"
#include "harness/guest_profile.h"
#include "harness/publish_code.h"
#include "harness/recorder.h"

namespace wago::cli::profile {

namespace {

using base::Result;
using base::usage_error;

constexpr uint64_t kDefaultIntervalNs = 10'000'000;

// A file that goes when the program is interrupted while this lives, before the program dies of the signal;
// signals that are ignored (nohup) do nothing. One at a time in a process.
class GoneWhenInterrupted {
 public:
  explicit GoneWhenInterrupted(std::string path) : path_(std::move(path)) {
    target_ = path_.c_str();
    struct sigaction action {};
    action.sa_handler = on_signal;
    // A guest may have left little of its stack. The signal that the handler raises is no longer handled.
    action.sa_flags = SA_ONSTACK | static_cast<int>(SA_RESETHAND);
    ::sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < kSignals.size(); ++i) {
      ::sigaction(kSignals[i], &action, &previous_[i]);
      if (previous_[i].sa_handler == SIG_IGN) ::sigaction(kSignals[i], &previous_[i], nullptr);
    }
  }
  ~GoneWhenInterrupted() {
    for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &previous_[i], nullptr);
  }
  GoneWhenInterrupted(const GoneWhenInterrupted&) = delete;
  GoneWhenInterrupted& operator=(const GoneWhenInterrupted&) = delete;

 private:
  static constexpr std::array<int, 3> kSignals = {SIGINT, SIGTERM, SIGHUP};
  static void on_signal(int signal) {
    ::unlink(target_);
    ::raise(signal);
  }
  static inline const char* target_ = nullptr;
  const std::string path_;
  std::array<struct sigaction, kSignals.size()> previous_{};
};

class CodeFileProfile final : public RunProfile {
 public:
  CodeFileProfile(std::unique_ptr<harness::PublishedCodeFile> file, bool remove) : file_(std::move(file)) {
    if (remove) interrupted_.emplace(file_->path());
  }
  // Whatever way the run ends; and where nothing ran there is nothing to look up.
  ~CodeFileProfile() override {
    if (interrupted_ || !ran_) ::unlink(file_->path().c_str());
  }
  Result<void> run(const std::function<void()>& guest) override {
    ran_ = true;
    guest();
    return {};
  }
  Result<void> finish(Output&) override { return file_->close(); }

 private:
  std::unique_ptr<harness::PublishedCodeFile> file_;
  std::optional<GoneWhenInterrupted> interrupted_;  // where the file is to be removed
  bool ran_ = false;
};

// A document for the Firefox Profiler.
class GuestRunProfile final : public RunProfile {
 public:
  GuestRunProfile(std::unique_ptr<harness::GuestProfile> profile, std::unique_ptr<base::Directory> folder,
                  std::string path, std::string module)
      : profile_(std::move(profile)),
        folder_(std::move(folder)),
        path_(std::move(path)),
        module_(std::move(module)) {}

  Result<void> run(const std::function<void()>& guest) override { return profile_->run(guest); }

  Result<void> finish(Output& output) override {
    auto document = profile_->finish(module_);
    if (!document) return document.error();
    if (auto written = folder_->publish(base::base_name(path_), base::as_bytes(document->json)); !written) {
      return written;
    }
    for (const std::string& sentence : document->diagnostics) output.note(sentence);
    output.note(base::printable(path_) + ": " + std::to_string(document->samples) +
                " samples, for profiler.firefox.com");
    return {};
  }

 private:
  const std::unique_ptr<harness::GuestProfile> profile_;
  const std::unique_ptr<base::Directory> folder_;  // from the start, so that it is known to be there
  const std::string path_, module_;
};

Result<uint64_t> parse_interval_ns(const std::string& text) {
  constexpr uint64_t kShortestNs = harness::period_ns_of(harness::kMaxRateHz);
  constexpr uint64_t kLongestNs = harness::period_ns_of(1);
  auto interval_ns = base::parse_duration_ns(text);
  if (!interval_ns) return usage_error("--profile: " + interval_ns.error().message);
  if (*interval_ns < kShortestNs || *interval_ns > kLongestNs) {
    return usage_error("--profile: an interval is " + base::format_duration(kShortestNs) + " to " +
                       base::format_duration(kLongestNs) + ", not " + text);
  }
  return interval_ns;
}

std::vector<std::string> split(const std::string& spec) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (size_t comma; (comma = spec.find(',', begin)) != std::string::npos; begin = comma + 1) {
    parts.push_back(spec.substr(begin, comma - begin));
  }
  parts.push_back(spec.substr(begin));
  return parts;
}

using Parts = std::vector<std::string>;  // KIND, FILE, INTERVAL, as far as they are there

Result<std::unique_ptr<RunProfile>> start_guest(const Parts& parts, const std::string& module_path) {
  if (parts.size() > 3) return usage_error("--profile: guest takes a file, an interval and nothing more");
  harness::SamplerSettings settings{.period_ns = kDefaultIntervalNs, .first_thread = "main"};
  if (parts.size() > 2) {
    auto interval_ns = parse_interval_ns(parts[2]);
    if (!interval_ns) return interval_ns.error();
    settings.period_ns = *interval_ns;
  }
  const std::string path = parts.size() > 1 && !parts[1].empty() ? parts[1] : "profile.json";
  // It is replaced as a whole, which a device or a link must not be.
  std::error_code unseen;
  const auto status = std::filesystem::symlink_status(path, unseen);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    return usage_error(std::filesystem::is_directory(status) ? "is a folder: name a file"
                                                             : "exists and is no ordinary file: name another",
                       {.file = path});
  }
  auto folder = base::system_files().open_directory(base::directory_of(path));
  if (!folder) return folder.error();
  auto profile = harness::GuestProfile::start(std::move(settings));
  if (!profile) return profile.error();
  return std::unique_ptr<RunProfile>(new GuestRunProfile(*std::move(profile), *std::move(folder), path,
                                                         base::printable(base::base_name(module_path))));
}

Result<std::unique_ptr<RunProfile>> start_code_file(const Parts& parts, bool remove_map) {
  if (parts.size() > 2) return usage_error("--profile: " + parts[0] + " takes a file and nothing more");
  const bool map = parts[0] == "perfmap";
  auto file = harness::publish_code(map ? harness::CodeFile::PerfMap : harness::CodeFile::JitDump,
                                    parts.size() > 1 ? parts[1] : "");
  if (!file) return file.error();
  return std::unique_ptr<RunProfile>(new CodeFileProfile(*std::move(file), remove_map));
}

}  // namespace

Result<std::unique_ptr<RunProfile>> start_run_profile(const RunProfileRequest& request,
                                                      EngineSettings& settings) {
  constexpr std::array<std::string_view, 3> kKinds = {"perfmap", "jitdump", "guest"};
  const Parts parts = split(request.spec);
  if (std::ranges::find(kKinds, parts[0]) == kKinds.end()) {
    return usage_error("--profile: " + base::not_among(parts[0], kKinds));
  }
  const bool map = parts[0] == "perfmap";
  if (request.remove_map && !map) return usage_error("--remove-map is for --profile perfmap");
  // Where its lines come from; the code is the same.
  if (!map) settings.source_maps = true;
  return parts[0] == "guest" ? start_guest(parts, request.module_path)
                             : start_code_file(parts, request.remove_map);
}

}  // namespace wago::cli::profile
