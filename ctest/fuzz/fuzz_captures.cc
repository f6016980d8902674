// Fuzzes the readers of what strangers hand over besides modules: manifests, images, iterations, catalogs and
// other tools' results, and the parsers of slots and durations under them. Whatever they accept must survive
// being written and read again.

#include <cstdint>
#include <set>
#include <string_view>

#include "base/check.h"
#include "base/duration.h"
#include "base/files.h"
#include "base/slots.h"
#include "capture/benchmarks.h"
#include "capture/catalog.h"
#include "capture/images.h"
#include "capture/iterations.h"
#include "capture/manifest.h"
#include "capture/spans.h"

namespace {

using namespace wago;

void manifest(std::string_view text) {
  auto read = capture::parse_manifest(text, "manifest.json");
  if (!read) return;
  auto again = capture::parse_manifest(to_json_text(*read), "manifest.json");
  // Text that is not UTF-8 never gets this far, so nothing was replaced on the way.
  WAGO_CHECK(again.ok() && *again == *read);
}

void images(std::string_view text) {
  auto read = capture::parse_images(text, "images.json");
  if (!read) return;
  WAGO_CHECK(capture::check(*read).ok());
  auto again = capture::parse_images(to_json_text(*read), "images.json");
  WAGO_CHECK(again.ok() && *again == *read);
}

void spans(std::string_view text) {
  auto read = capture::parse_spans(text, "spans.json");
  if (!read) return;
  auto again = capture::parse_spans(to_json_text(*read), "spans.json");
  WAGO_CHECK(again.ok() && *again == *read);
}

void iterations(std::span<const uint8_t> bytes) {
  auto read = capture::decode_iterations(bytes, "iterations.bin");
  if (!read) return;
  auto again = capture::decode_iterations(capture::encode_iterations(*read), "iterations.bin");
  WAGO_CHECK(again.ok() && *again == *read);
}

void catalog(std::string_view text) {
  auto read = capture::parse_catalog(text, "catalog.json");
  if (!read) return;
  auto again = capture::parse_catalog(capture::to_catalog_text("again", read->workloads), "catalog.json");
  WAGO_CHECK(again.ok() && again->workloads.size() == read->workloads.size());
  for (size_t i = 0; i < read->workloads.size(); ++i) {
    WAGO_CHECK(contract_sha256(again->workloads[i]) == contract_sha256(read->workloads[i]));
    for (size_t j = 0; j < read->workloads[i].calls.size(); ++j) {
      WAGO_CHECK(again->workloads[i].calls.at(j) == read->workloads[i].calls[j]);
    }
  }
}

// What is accepted has benchmarks with different names, and runs, or a reason why there are none or not all.
void benchmarks(std::string_view text) {
  auto read = capture::parse_benchmarks(text, "results.json", {.benchmarks = 100, .runs = 1000});
  if (!read) return;
  std::set<std::string_view> names;
  size_t runs = 0;
  for (const capture::BenchmarkRuns& one : read->benchmarks) {
    WAGO_CHECK(names.insert(one.name).second);
    WAGO_CHECK(!one.wall_ns.empty() || !one.failure.empty());
    WAGO_CHECK(one.cpu_ns.empty() || one.cpu_ns.size() == one.wall_ns.size());
    for (double ns : one.wall_ns) WAGO_CHECK(ns >= 0 && ns < 1e19);
    runs += one.wall_ns.size();
  }
  WAGO_CHECK(runs > 0 && runs <= 1000 && names.size() <= 100);
}

void words(std::string_view text) {
  if (auto slots = base::parse_slots(text)) {
    auto again = base::parse_slots(base::format_slots(slots->values));
    WAGO_CHECK(again.ok() && again->values == slots->values);
    base::Slots spelled;
    for (const std::string& one : base::spell_slots(*slots)) spelled.append(*base::parse_slot(one));
    WAGO_CHECK(spelled == *slots);
  }
  if (auto ns = base::parse_duration_ns(text)) {
    auto again = base::parse_duration_ns(base::format_duration(*ns));
    WAGO_CHECK(again.ok() && *again == *ns);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const uint8_t> bytes(data, size);
  const std::string_view text = base::as_text(bytes);
  manifest(text);
  images(text);
  spans(text);
  iterations(bytes);
  catalog(text);
  benchmarks(text);
  words(text);
  (void)base::inflate_if_gzip({data, data + size}, 1 << 20, "f");
  return 0;
}
