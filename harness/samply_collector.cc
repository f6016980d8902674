#include "harness/samply_collector.h"

#include "base/duration.h"
#include "base/files.h"
#include "capture/schema.h"

namespace wago::harness {

namespace {

using base::Result;

// samply says so when it has opened its events.
constexpr const char* kAttached = "Recording process with PID";
constexpr int kTickMs = 50;
constexpr int kStartMs = 20'000;
constexpr uint64_t kMaxFirstWords = 1 << 20;

constexpr CollectorKind kSamply = {
    .name = "samply",
    .missing =
        "(`cargo install samply` builds it); backend guest needs no program and gives a document of the "
        "same kind",
    .chatter = kAttached,
    .paranoid = 1,
};

bool says(const std::string& log, std::string_view words) {
  auto bytes = base::system_files().read(log, kMaxFirstWords);
  return bytes && base::as_text(*bytes).find(words) != std::string_view::npos;
}

// Whether the document has anything from the file `dump`; it lists the files of which it has samples.
Result<bool> names_in(const std::string& document, const std::string& dump) {
  const capture::Limits limits;
  auto bytes = base::system_files().read(document, limits.file_bytes);
  if (bytes) bytes = base::inflate_if_gzip(*std::move(bytes), limits.decoded_bytes, kSamplyFile);
  if (!bytes) return bytes.error();
  const std::string_view text = base::as_text(*bytes);
  if (!text.starts_with('{')) return base::failed("samply record wrote what is no document");
  return text.find('"' + dump + '"') != std::string_view::npos;
}

}  // namespace

Result<std::string> samply_version() {
  return CollectorProgram::version(kSamply, "samply ");
}

SamplyCollector::SamplyCollector(CollectorSettings settings) : program_(kSamply, std::move(settings)) {}

Result<std::unique_ptr<SamplyCollector>> SamplyCollector::start(CollectorSettings settings) {
  std::unique_ptr<SamplyCollector> collector(new SamplyCollector(std::move(settings)));
  const CollectorProgram& program = collector->program_;
  auto process = program.spawn(
      {}, {"record", "--save-only", "--output", program.path(kSamplyFile), "--rate",
           std::to_string(program.settings().rate_hz), "--pid", std::to_string(program.settings().pid)});
  if (!process) return process.error();
  collector->record_.emplace(std::move(*process));
  for (int waited_ms = 0; waited_ms < kStartMs; waited_ms += kTickMs) {
    if (const auto ended = collector->record_->wait(kTickMs)) {
      return program.failed_to_start("samply record", *ended);
    }
    if (auto bounded = program.log_in_bounds("samply record"); !bounded) return bounded.error();
    if (says(program.path(kCollectorLogFile), kAttached)) return collector;
    if (auto stopped = program.settings().look_after()) return *stopped;
  }
  collector->record_->kill_group();
  return base::failed("samply record started and did not say in " +
                      base::format_duration(uint64_t{kStartMs} * 1'000'000) + " that it samples");
}

Result<std::vector<std::string>> SamplyCollector::finish() {
  program_.begin_conversion();
  if (auto waited = program_.wait_for(*record_, "samply record", kSamplyFile); !waited) return waited.error();
  if (program_.size_of(kSamplyFile) == 0) {
    return base::failed("samply record wrote nothing: " + program_.log_tail());
  }
  const std::string dump = "jit-" + std::to_string(program_.settings().pid) + ".dump";
  auto names = names_in(program_.path(kSamplyFile), dump);
  if (!names) return names.error();
  std::vector<std::string> sentences = {
      std::string(kSamplyFile) +
      " is samply's own document, of all of the process and not of the measured phase alone: it shows where "
      "time went, and no cost is taken from it"};
  if (!*names) {
    sentences.push_back(std::string(kSamplyFile) +
                        " names no function of the module: samply took no sample of its code, or did not "
                        "see that " +
                        dump + " was there");
  }
  if (const std::string said = program_.log_tail(); !said.empty()) {
    sentences.push_back("samply says: " + said);
  }
  return sentences;
}

}  // namespace wago::harness
