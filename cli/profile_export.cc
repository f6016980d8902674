#include <unistd.h>

#include <array>
#include <cstdio>
#include <memory>

#include "base/files.h"
#include "capture/export_firefox.h"
#include "capture/export_pprof.h"
#include "cli/flags.h"
#include "cli/output.h"
#include "cli/profile_commands.h"
#include "diff/call_tree.h"
#include "diff/export.h"
#include "diff/hot_spots.h"
#include "diff/timeline.h"

namespace wago::cli::profile {

namespace {

struct ExportFlags {
  std::string capture;
  std::optional<std::string> format, out;
};

base::Result<std::string> folded(const diff::Evidence& evidence) {
  if (auto sampled = diff::expect_samples(evidence); !sampled) return sampled.error();
  return diff::to_folded(diff::call_tree(evidence));
}

base::Result<std::string> pprof(const diff::Evidence& evidence) {
  if (auto sampled = diff::expect_samples(evidence); !sampled) return sampled.error();
  const auto bytes =
      capture::to_pprof(capture::export_context(evidence.manifest), evidence.images, *evidence.samples);
  return std::string(bytes.begin(), bytes.end());
}

base::Result<std::string> firefox(const diff::Evidence& evidence) {
  if (auto sampled = diff::expect_samples(evidence); !sampled) return sampled.error();
  return capture::to_firefox(capture::export_context(evidence.manifest), evidence.images, *evidence.samples);
}

base::Result<std::string> benchfmt(const diff::Evidence& evidence) {
  return diff::to_benchfmt(evidence);
}

base::Result<std::string> google_benchmark(const diff::Evidence& evidence) {
  return diff::to_google_benchmark(evidence);
}

struct Format {
  std::string_view name;
  base::Result<std::string> (*make)(const diff::Evidence&);
  bool binary = false;
};
constexpr std::array kFormats = {Format{"folded", folded},
                                 Format{"pprof", pprof, true},
                                 Format{"firefox", firefox},
                                 Format{"speedscope", diff::to_speedscope},
                                 Format{"chrome-trace", diff::to_chrome_trace},
                                 Format{"benchfmt", benchfmt},
                                 Format{"google-benchmark", google_benchmark}};

base::Result<const Format*> parse_format(const std::optional<std::string>& word) {
  std::vector<std::string_view> names;
  for (const Format& format : kFormats) {
    if (word == format.name) return &format;
    names.push_back(format.name);
  }
  if (word) return not_a_word("--format", *word, names);
  std::string all;
  for (const std::string_view name : names) all += (all.empty() ? "" : ", ") + std::string(name);
  return base::usage_error("--format is missing: one of " + all);
}

int run_export(const ExportFlags& flags, Output& output) {
  auto format = parse_format(flags.format);
  if (!format) return output.fail(format.error());
  if (flags.out && base::system_files().exists(*flags.out)) {
    return output.fail(base::usage_error(
        "exists already and is never replaced; name another file or remove it", {.file = *flags.out}));
  }
  if (!flags.out && (*format)->binary && isatty(STDOUT_FILENO) == 1) {
    return output.fail(base::usage_error("--format " + *flags.format +
                                         " is no text for a terminal: name a file with --out"));
  }
  auto evidence = diff::load(flags.capture);
  if (!evidence) return output.fail(evidence.error());
  auto bytes = (*format)->make(*evidence);
  if (!bytes) return output.fail(bytes.error());
  if (!flags.out) {
    output.print(*bytes);
    return kExitDone;
  }
  if (auto written = base::system_files().create(*flags.out, base::as_bytes(*bytes)); !written) {
    return output.fail(written.error());
  }
  return kExitDone;
}

}  // namespace

void add_export(Command& profile) {
  auto flags = std::make_shared<ExportFlags>();
  Command& command = profile.add_command("export", "A capture in the format of another tool");
  command.add_operand("CAPTURE", "A capture directory", &flags->capture);
  command.add_option("--format", "folded|pprof|firefox|speedscope|chrome-trace|benchfmt|google-benchmark",
                     "The format", &flags->format);
  command.add_option("--out", "FILE", "The file to write, which must not exist (default: standard output)",
                     &flags->out);
  command.set_action([flags](Output& output) { return run_export(*flags, output); });
}

}  // namespace wago::cli::profile
