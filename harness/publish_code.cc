#include "harness/publish_code.h"

#include <type_traits>

#include "base/files.h"
#include "harness/jitdump.h"
#include "harness/perf_map.h"

namespace wago::harness {

namespace {

template <class Sink>
class Publication final : public PublishedCodeFile {
 public:
  Publication(std::string path, std::unique_ptr<Sink> sink) : path_(std::move(path)), sink_(std::move(sink)) {
    runtime::observe_code(&publisher_);
    publisher_.release(*sink_);
  }
  ~Publication() override { stop(); }
  const std::string& path() const override { return path_; }
  base::Result<void> show_again() override {
    if constexpr (std::is_same_v<Sink, JitDump>) return sink_->map_again();
    return {};
  }
  base::Result<void> close() override {
    if (!observing_) return {};
    stop();
    return publisher_.finish();
  }

 private:
  void stop() {
    if (observing_) runtime::observe_code(nullptr);
    observing_ = false;
  }

  const std::string path_;
  std::unique_ptr<Sink> sink_;
  CodePublisher publisher_;
  bool observing_ = true;
};

template <class Sink>
base::Result<std::unique_ptr<PublishedCodeFile>> publish(std::string path,
                                                         base::Result<std::unique_ptr<Sink>> sink) {
  if (!sink) return sink.error();
  return std::unique_ptr<PublishedCodeFile>(
      std::make_unique<Publication<Sink>>(std::move(path), *std::move(sink)));
}

}  // namespace

base::Result<std::unique_ptr<PublishedCodeFile>> publish_code(CodeFile kind, const std::string& file) {
  if (kind == CodeFile::PerfMap) {
    const std::string path = file.empty() ? perf_map_path() : file;
    return publish(path, PerfMap::create(path));
  }
  std::string folder = file.empty() ? "." : file;
  if (!base::system_files().is_directory(folder)) {
    if (base::base_name(folder) != jitdump_name()) {
      return base::usage_error("perf finds a jitdump by its name, jit-PID.dump: name the folder for it",
                               {.file = file});
    }
    folder = folder.find('/') == std::string::npos ? "." : folder.substr(0, folder.rfind('/') + 1);
  }
  return publish(base::join_path(folder, jitdump_name()), JitDump::create(folder));
}

}  // namespace wago::harness
