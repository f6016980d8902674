// The child's side of a recording: one workload, measured and written, told in four messages.
#include <sys/mman.h>
#include <sys/stat.h>

#include <cstdio>
#include <cstring>
#include <new>

#include "base/files.h"
#include "capture/capture.h"
#include "harness/channel.h"
#include "harness/code_images.h"
#include "harness/phases.h"
#include "harness/record_protocol.h"
#include "harness/recorder.h"
#include "runtime/abi.h"

namespace wago::harness {

namespace {

using base::Result;

ProgressPage* map_progress(int fd) {
  struct stat status;
  if (::fstat(fd, &status) != 0 || status.st_size < static_cast<off_t>(sizeof(ProgressPage))) return nullptr;
  void* at = ::mmap(nullptr, sizeof(ProgressPage), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return at == MAP_FAILED ? nullptr : static_cast<ProgressPage*>(at);
}

Failure as_failure(const base::Error& error) {
  return {error, error.to_string()};
}

class Child {
 public:
  Child(Channel& channel, ProgressPage& progress) : channel_(channel), progress_(progress) {}

  // Nothing: done, and said so.
  std::optional<Failure> work() {
    if (auto failure = load()) return failure;
    Ready ready;
    ready.module_bytes = subject_->bytes().size();
    ready.code_section_bytes = subject_->code_bytes();
    ready.guest_stack_bytes = runtime::kGuestStackBytes;
    ready.module_sha256 = base::to_hex(subject_->module_sha256());
    channel_.send(to_json(ready));
    auto message = channel_.receive();
    if (!message) return as_failure(message.error());
    auto go = read_go(*message);
    if (!go) return as_failure(go.error());
    directory_ = go->directory;

    Recorded recorded;
    if (auto failure = record_phases(*subject_, base::system_clock(), progress_, recorded)) {
      return Failure{failure->error, failure->stored};
    }
    return write(recorded);
  }

 private:
  std::optional<Failure> load() {
    progress_.enter(base::Phase::Compile);
    auto message = channel_.receive();
    if (!message) return as_failure(message.error());
    auto request = read_request(*message);
    if (!request) return as_failure(request.error());
    auto subject = Subject::load(request->workload,
                                 {request->spill_everything, request->code_offset, request->reload_artifact});
    if (!subject) return as_failure(subject.error());
    subject_ = std::move(*subject);
    loaded_ns_ = base::monotonic_ns();
    return {};
  }

  Result<void> write_file(const char* name, std::span<const uint8_t> bytes) {
    done_.files.emplace_back(name);
    return base::system_files().create(base::join_path(directory_, name), bytes);
  }

  std::optional<Failure> write(Recorded& recorded) {
    auto images = describe_code(*subject_, loaded_ns_);
    if (!images) return as_failure(images.error());
    auto written = write_file(capture::kImagesFile, base::as_bytes(to_json_text(*images)));
    if (!written) return as_failure(written.error());
    written = write_file(capture::kIterationsFile, capture::encode_iterations(recorded.loop.batches));
    if (!written) return as_failure(written.error());
    done_.phases = std::move(recorded.phases);
    done_.iterations = recorded.loop.iterations;
    done_.invocations = recorded.invocations;
    done_.wall_ns = recorded.loop.wall_ns;
    done_.cpu_ns = recorded.loop.cpu_ns;
    done_.code_sha256 = base::to_hex(capture::code_sha256(*images));
    channel_.send(to_json(done_));
    return {};
  }

  Channel& channel_;
  ProgressPage& progress_;
  std::unique_ptr<Subject> subject_;
  uint64_t loaded_ns_ = 0;
  std::string directory_;
  Done done_;
};

}  // namespace

std::optional<int> record_child_main(int argc, char** argv) {
  if (argc < 2 || std::strcmp(argv[1], kChildArgument) != 0) return std::nullopt;
  ProgressPage* progress = map_progress(kChildProgress);
  struct stat status;
  if (!progress || ::fstat(kChildSocket, &status) != 0 || !S_ISSOCK(status.st_mode)) {
    std::fprintf(stderr, "%s: this is how the recorder starts itself; it is of no use by hand\n",
                 kChildArgument);
    return 2;
  }
  Channel channel{base::Fd(kChildSocket)};
  std::optional<Failure> failure;
  try {
    failure = Child(channel, *progress).work();
  } catch (const std::bad_alloc&) {
    failure = as_failure(base::failed("the recording process ran out of memory"));
  }
  if (!failure) return 0;
  channel.send(to_json(*failure));
  return 1;
}

}  // namespace wago::harness
