#include "harness/perf_data.h"

#include <linux/perf_event.h>

#include <cstdio>
#include <cstring>
#include <memory>

namespace wago::harness {

namespace {

constexpr char kMagic[] = "PERFILE2";
constexpr long kDataOffsetAt = 40;  // of perf_file_header::data: offset, size

}  // namespace

base::Result<uint64_t> count_perf_samples(const std::string& path) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "rbe"), &std::fclose);
  auto damaged = [&] { return base::failed("is no whole file of perf record", {.file = path}); };
  char magic[8];
  uint64_t offset = 0, left = 0;
  const bool whole = file && std::fread(magic, 1, sizeof magic, file.get()) == sizeof magic &&
                     std::memcmp(magic, kMagic, sizeof magic) == 0 &&
                     std::fseek(file.get(), kDataOffsetAt, SEEK_SET) == 0 &&
                     std::fread(&offset, sizeof offset, 1, file.get()) == 1 &&
                     std::fread(&left, sizeof left, 1, file.get()) == 1 && offset <= INT64_MAX &&
                     std::fseek(file.get(), static_cast<long>(offset), SEEK_SET) == 0;
  if (!whole) return damaged();
  uint64_t samples = 0;
  char rest[UINT16_MAX];
  for (perf_event_header record; left > 0; left -= record.size) {
    if (std::fread(&record, sizeof record, 1, file.get()) != 1 || record.size < sizeof record ||
        record.size > left) {
      return damaged();
    }
    const size_t bytes = record.size - sizeof record;
    if (std::fread(rest, 1, bytes, file.get()) != bytes) return damaged();
    if (record.type == PERF_RECORD_SAMPLE) ++samples;
  }
  return samples;
}

}  // namespace wago::harness
