#include "cli/run_profile.h"

#include <unistd.h>

#include <vector>

#include <wago/wago.h>
#include "base/text.h"
#include "harness/publish_code.h"

namespace wago::cli::profile {

namespace {

using base::Result;
using base::usage_error;

class CodeFileProfile final : public RunProfile {
 public:
  CodeFileProfile(std::unique_ptr<harness::PublishedCodeFile> file, bool remove)
      : file_(std::move(file)), remove_(remove) {}
  // Whatever way the run ends.
  ~CodeFileProfile() override {
    if (remove_) ::unlink(file_->path().c_str());
  }
  Result<void> finish() override { return file_->close(); }

 private:
  std::unique_ptr<harness::PublishedCodeFile> file_;
  const bool remove_;
};

std::vector<std::string> split(const std::string& spec) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (size_t comma; (comma = spec.find(',', begin)) != std::string::npos; begin = comma + 1) {
    parts.push_back(spec.substr(begin, comma - begin));
  }
  parts.push_back(spec.substr(begin));
  return parts;
}

}  // namespace

Result<std::unique_ptr<RunProfile>> start_run_profile(const RunProfileRequest& request,
                                                      EngineSettings& settings) {
  const std::vector<std::string> parts = split(request.spec);
  const bool map = parts[0] == "perfmap";
  if (!map && parts[0] != "jitdump") {
    return usage_error("--profile: " +
                       base::not_among(parts[0], std::vector<std::string_view>{"perfmap", "jitdump"}));
  }
  if (parts.size() > 2) return usage_error("--profile: " + parts[0] + " takes a file and nothing more");
  if (request.remove_map && !map) return usage_error("--remove-map is for --profile perfmap");
  // Where its lines come from; the code is the same.
  if (!map) settings.source_maps = true;
  auto file = harness::publish_code(map ? harness::CodeFile::PerfMap : harness::CodeFile::JitDump,
                                    parts.size() > 1 ? parts[1] : "");
  if (!file) return file.error();
  return std::unique_ptr<RunProfile>(new CodeFileProfile(*std::move(file), request.remove_map));
}

}  // namespace wago::cli::profile
