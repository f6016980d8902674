// A stand-in for libFuzzer's main, so that every fuzz target also runs in the ordinary tests, with any
// compiler:
//
//   fuzz_<target>_smoke [--runs N] [--first I] [--random BYTES] FILE_OR_FOLDER...
//
// runs the target over every .wasm given, as it is, and then over N mutations of them, or, with --random,
// over N times up to that many random bytes, for targets to which bytes are decisions. Run I is a function of
// I and the seeds alone; when one crashes, its number is printed, and `--first I --runs 1` repeats it.

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <unistd.h>

#include "ctest/fuzz/choices.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

namespace fs = std::filesystem;
using wago::fuzz::Random;
using Bytes = std::vector<uint8_t>;

constexpr uint64_t kSeedsOnly = ~uint64_t{0};
volatile uint64_t current_run = kSeedsOnly;

void print_run(int signal) {
  char line[96];
  const int length =
      current_run == kSeedsOnly
          ? std::snprintf(line, sizeof line, "fuzz_smoke: crashed on a seed\n")
          : std::snprintf(line, sizeof line, "fuzz_smoke: crashed, repeat with --first %llu --runs 1\n",
                          static_cast<unsigned long long>(current_run));
  if (write(STDERR_FILENO, line, static_cast<size_t>(length)) < 0) _exit(2);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void mutate_once(Bytes& bytes, const Bytes& other, Random& random) {
  constexpr uint8_t kInteresting[] = {0x00, 0x01, 0x0b, 0x40, 0x7f, 0x80, 0xfc, 0xff};
  const size_t at = random.below(bytes.size());
  const size_t length = std::min(1 + random.below(16), bytes.size() - at);
  const auto from = bytes.begin() + static_cast<ptrdiff_t>(at);
  switch (random.below(7)) {
    case 0:
      bytes[at] ^= static_cast<uint8_t>(1u << random.below(8));
      break;
    case 1:
      bytes[at] = static_cast<uint8_t>(random.next());
      break;
    case 2:
      bytes[at] = kInteresting[random.below(sizeof kInteresting)];
      break;
    case 3:
      bytes.resize(at + 1);
      break;
    case 4:
      if (bytes.size() > length) bytes.erase(from, from + static_cast<ptrdiff_t>(length));
      break;
    case 5: {
      const Bytes piece(from, from + static_cast<ptrdiff_t>(length));
      bytes.insert(bytes.begin() + static_cast<ptrdiff_t>(random.below(bytes.size())), piece.begin(),
                   piece.end());
      break;
    }
    case 6: {
      const size_t other_at = random.below(other.size());
      std::copy_n(other.begin() + static_cast<ptrdiff_t>(other_at), std::min(length, other.size() - other_at),
                  from);
      break;
    }
  }
}

Bytes mutation(const std::vector<Bytes>& seeds, uint64_t run) {
  Random random(run);
  Bytes bytes = seeds[random.below(seeds.size())];
  const Bytes& other = seeds[random.below(seeds.size())];
  for (size_t i = 1 + random.below(4); i-- > 0;) mutate_once(bytes, other, random);
  return bytes;
}

Bytes random_input(uint64_t run, size_t max_bytes) {
  Random random(run);
  const size_t count = 1 + random.below(max_bytes);
  return random.bytes(count);
}

std::vector<fs::path> wasm_files(const std::vector<fs::path>& places) {
  std::vector<fs::path> files;
  for (const fs::path& place : places) {
    if (!fs::is_directory(place)) {
      files.push_back(place);
      continue;
    }
    for (const auto& entry : fs::recursive_directory_iterator(place)) {
      if (entry.is_regular_file() && entry.path().extension() == ".wasm") files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<Bytes> read_seeds(const std::vector<fs::path>& files) {
  constexpr size_t kMaxSeedBytes = 256 << 10;  // mutations of large modules mostly repeat each other, slowly
  std::vector<Bytes> seeds;
  for (const fs::path& file : files) {
    std::ifstream in(file, std::ios::binary);
    if (!in) {
      std::fprintf(stderr, "fuzz_smoke: cannot read %s\n", file.c_str());
      std::exit(2);
    }
    Bytes bytes((std::istreambuf_iterator<char>(in)), {});
    if (!bytes.empty() && bytes.size() <= kMaxSeedBytes) seeds.push_back(std::move(bytes));
  }
  return seeds;
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t runs = 10000, first = 0;
  size_t random_bytes = 0;
  std::vector<fs::path> places;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--runs") == 0 && i + 1 < argc) {
      runs = std::strtoull(argv[++i], nullptr, 10);
    } else if (std::strcmp(argv[i], "--first") == 0 && i + 1 < argc) {
      first = std::strtoull(argv[++i], nullptr, 10);
    } else if (std::strcmp(argv[i], "--random") == 0 && i + 1 < argc) {
      random_bytes = std::strtoull(argv[++i], nullptr, 10);
    } else {
      places.emplace_back(argv[i]);
    }
  }
  const std::vector<Bytes> seeds = read_seeds(wasm_files(places));
  if (seeds.empty() && random_bytes == 0) {
    std::fprintf(stderr, "fuzz_smoke: no seeds: name .wasm files or folders that hold some\n");
    return 2;
  }
  for (int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL}) std::signal(signal, print_run);
  for (const Bytes& seed : seeds) LLVMFuzzerTestOneInput(seed.data(), seed.size());
  for (uint64_t run = first; run < first + runs; ++run) {
    current_run = run;
    const Bytes bytes = random_bytes > 0 ? random_input(run, random_bytes) : mutation(seeds, run);
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  }
  std::printf("fuzz_smoke: %zu seeds, %llu inputs made\n", seeds.size(),
              static_cast<unsigned long long>(runs));
  return 0;
}
