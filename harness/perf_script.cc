#include "harness/perf_script.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/files.h"
#include "base/text.h"
#include "harness/stack_sides.h"

namespace wago::harness {

namespace {

using base::failed;
using base::Result;
using capture::Frame;
using capture::Side;

// The measuring loop, from which stacks are shown; what called it is the recorder's business.
constexpr std::string_view kRecorderFrame = "wago7harness11Measurement";
// Where threads begin.
constexpr std::string_view kRoots[] = {"_start", "start_thread", "clone3", "clone", "__clone3"};
constexpr size_t kMaxLine = 1 << 16;

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

template <class T>
bool read_number(std::string_view& text, T& value, int radix = 10) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, radix);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

bool skip(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::vector<uint64_t> jitdump_addresses(std::string_view dump) {
  std::vector<uint64_t> addresses;
  auto word = [&](size_t at, auto value) {
    if (at + sizeof value <= dump.size()) std::memcpy(&value, dump.data() + at, sizeof value);
    return value;
  };
  size_t offset = word(8, uint32_t{0});
  while (offset >= 16 && offset + 16 <= dump.size()) {
    const uint32_t kind = word(offset, uint32_t{0}), bytes = word(offset + 4, uint32_t{0});
    if (bytes < 16 || bytes > dump.size() - offset) break;
    // Functions are numbered as they come.
    if (kind == 0) addresses.push_back(word(offset + 32, uint64_t{0}));
    offset += bytes;
  }
  return addresses;
}

PerfScript::PerfScript(PerfScriptSettings settings, const capture::Images& images)
    : settings_(std::move(settings)), images_(images), stacks_(samples_) {
  samples_.unit = settings_.unit;
  samples_.period_ns = 1'000'000'000 / std::max<uint64_t>(settings_.rate_hz, 1);
  for (const capture::JournalEntry& entry : images.journal) {
    if (entry.address == 0) continue;
    std::vector<Life>& lives = lives_[entry.address];
    if (entry.action == capture::JournalAction::Load) {
      lives.push_back({entry.image, entry.monotonic_ns});
    } else if (!lives.empty()) {
      lives.back().retired_ns = entry.monotonic_ns;
    }
    largest_ = std::max<uint64_t>(largest_, images.images[entry.image].size);
  }
}

PerfScript::~PerfScript() = default;

Result<void> PerfScript::feed(std::string_view text) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    rest_.append(text.substr(0, end));
    if (rest_.size() > kMaxLine) return failed("perf script printed a line of more than 64 KiB");
    if (end == std::string_view::npos) return {};
    if (auto read = line(rest_); !read) return read;
    rest_.clear();
    text.remove_prefix(end + 1);
  }
  return {};
}

Result<void> PerfScript::finish() {
  if (!rest_.empty()) {
    if (auto read = line(rest_); !read) return read;
  }
  if (auto ended = end_sample(); !ended) return ended;
  // perf merges what several processors wrote; times fall where it could not.
  std::stable_sort(samples_.samples.begin(), samples_.samples.end(),
                   [](const auto& a, const auto& b) { return a.monotonic_ns < b.monotonic_ns; });
  return {};
}

Result<void> PerfScript::line(std::string_view text) {
  const std::string_view words = trimmed(text);
  if (words.empty()) return end_sample();
  const bool indented = text[0] == ' ' || text[0] == '\t';
  if (open_ && indented) {
    auto found = place(words);
    if (!found) return failed("perf script printed a frame that is none: " + base::display(words));
    if (frames_.size() >= settings_.limits.stack_nodes)
      return failed("a stack has more than stack_nodes frames");
    const bool native_root =
        std::find(std::begin(kRoots), std::end(kRoots), found->symbol) != std::end(kRoots);
    reaches_root_ |= native_root;
    if (found->symbol.find(kRecorderFrame) != std::string_view::npos) root_ = frames_.size();
    frames_.push_back(frame_of(*found, !frames_.empty()));
    return {};
  }
  if (auto ended = end_sample(); !ended) return ended;
  return header(words);
}

// "123/124 4567.123456789:    1001001", the frames on lines of their own; or
// "123/124 4567.123456789: PERF_RECORD_LOST lost 12"
Result<void> PerfScript::header(std::string_view text) {
  const std::string_view whole = text;
  auto nonsense = [&] { return failed("perf script printed what is no sample: " + base::display(whole)); };
  if (const size_t lost = text.find("PERF_RECORD_LOST"); lost != std::string_view::npos) {
    const size_t number = text.find("lost ", lost);
    text = number == std::string_view::npos ? "" : text.substr(number + 5);
    uint64_t count = 0;
    lost_ += read_number(text, count) ? std::max<uint64_t>(count, 1) : 1;
    return {};
  }
  Header read;
  uint64_t pid = 0, seconds = 0, nanoseconds = 0;
  if (!read_number(text, pid) || !skip(text, '/') || !read_number(text, read.tid)) return nonsense();
  text = trimmed(text);
  if (!read_number(text, seconds) || !skip(text, '.') || text.size() < 10 || text[9] != ':')
    return nonsense();
  if (!read_number(text, nanoseconds) || !skip(text, ':')) return nonsense();
  text = trimmed(text);
  if (!read_number(text, read.period)) return nonsense();
  if (seconds > UINT64_MAX / 2'000'000'000) return nonsense();
  read.monotonic_ns = seconds * 1'000'000'000 + nanoseconds;
  open_ = read;
  text = trimmed(text);
  // A sample without a stack has its place on the same line.
  if (text.empty()) return {};
  auto found = place(text);
  if (!found) return nonsense();
  frames_.push_back(frame_of(*found, false));
  return end_sample();
}

// "b8 fib (/tmp/jitted-12-0.so)"
std::optional<PerfScript::Place> PerfScript::place(std::string_view text) {
  Place place;
  if (!read_number(text, place.number, 16) || !skip(text, ' ')) return std::nullopt;
  const size_t file = text.rfind(" (");
  if (file == std::string_view::npos || !text.ends_with(')')) return std::nullopt;
  place.symbol = trimmed(text.substr(0, file));
  place.file = text.substr(file + 2, text.size() - file - 3);
  return place;
}

// Of code that perf injected, and of what it knows no file of.
std::optional<uint64_t> PerfScript::address_of(const Place& place) const {
  const size_t slash = place.file.rfind('/');
  std::string_view name = slash == std::string_view::npos ? place.file : place.file.substr(slash + 1);
  const std::string ours = "jitted-" + std::to_string(settings_.pid) + "-";
  uint32_t number = 0;
  if (name.starts_with(ours)) {
    name.remove_prefix(ours.size());
    const bool known = read_number(name, number) && name == ".so" && number < settings_.addresses.size() &&
                       place.number >= settings_.text_offset;
    if (!known) return std::nullopt;
    return settings_.addresses[number] + (place.number - settings_.text_offset);
  }
  if (place.file == "[unknown]" || place.file.starts_with("//anon")) return place.number;
  return std::nullopt;
}

std::optional<Frame> PerfScript::code_at(uint64_t address) const {
  for (auto at = lives_.upper_bound(address); at != lives_.begin();) {
    --at;
    const uint64_t offset = address - at->first;
    if (offset >= largest_) break;
    for (const Life& life : at->second) {
      if (open_->monotonic_ns < life.loaded_ns || open_->monotonic_ns >= life.retired_ns) continue;
      if (offset < images_.images[life.image].size) {
        return Frame{.image = life.image, .offset = static_cast<uint32_t>(offset)};
      }
    }
  }
  return std::nullopt;
}

Frame PerfScript::frame_of(const Place& place, bool caller) {
  if (const auto address = address_of(place)) {
    const bool back = caller && !settings_.raw_stacks;
    if (auto found = code_at(back ? *address - 1 : *address)) return *found;
  }
  const bool named = place.symbol != "[unknown]" && !place.symbol.empty() && !address_of(place);
  if (named) {
    return {.side = Side::Host, .symbol = stacks_.symbol(place.symbol, base::base_name(place.file))};
  }
  char hex[32];
  std::snprintf(hex, sizeof hex, "0x%llx", static_cast<unsigned long long>(place.number));
  const bool has_file =
      (place.file.starts_with('/') && !place.file.starts_with("//")) || place.file == "[vdso]";
  return {.side = has_file ? Side::Host : Side::Unknown,
          .symbol = has_file
                        ? stacks_.symbol(base::base_name(place.file) + "+" + hex, base::base_name(place.file))
                        : stacks_.symbol(hex, "")};
}

uint32_t PerfScript::thread(uint64_t tid) {
  auto [at, added] = threads_.emplace(tid, static_cast<uint32_t>(samples_.threads.size()));
  if (added) {
    const bool main = tid == static_cast<uint64_t>(settings_.pid);
    samples_.threads.push_back({tid, main ? "recorder" : "thread " + std::to_string(tid)});
  }
  return at->second;
}

Result<void> PerfScript::end_sample() {
  if (!open_) return {};
  const Header header = *open_;
  ++read_;
  if (!settings_.windows.contains(header.monotonic_ns)) {
    next_sample();
    return {};
  }
  if (samples_.samples.size() >= settings_.limits.samples ||
      samples_.stacks.size() >= settings_.limits.stack_nodes ||
      samples_.symbols.size() >= settings_.limits.symbols ||
      samples_.threads.size() >= settings_.limits.threads) {
    return failed(
        "there are more samples, or more stacks that differ, than a capture holds: record for a shorter "
        "time or with a lower --rate");
  }
  if (frames_.empty()) frames_.push_back({.side = Side::Unknown, .symbol = stacks_.symbol("[unknown]", "")});
  if (root_) frames_.resize(*root_ + 1);
  const bool complete = root_ || reaches_root_;
  std::reverse(frames_.begin(), frames_.end());
  put_on_sides(frames_, complete, images_);
  samples_.truncated_stacks += !complete;
  samples_.samples.push_back(
      {header.monotonic_ns, header.period, thread(header.tid), stacks_.stack(frames_)});
  next_sample();
  return {};
}

void PerfScript::next_sample() {
  open_.reset();
  frames_.clear();
  root_.reset();
  reaches_root_ = false;
}

}  // namespace wago::harness
