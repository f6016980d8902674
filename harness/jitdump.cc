#include "harness/jitdump.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/clock.h"
#include "base/files.h"
#include "harness/frame_section.h"
#include "runtime/code_image.h"
#include "runtime/module.h"
#include "runtime/source_lines.h"

namespace wago::harness {

namespace {

constexpr uint32_t kMagic = 0x4a695444;  // "JiTD" as a number of this machine
constexpr uint32_t kVersion = 1;
enum class Kind : uint32_t { Load = 0, Lines = 2, Close = 3, Frames = 4 };
constexpr uint32_t kHeaderBytes = 40;
constexpr uint32_t kPrefixBytes = 16;
constexpr size_t kMarkerBytes = 4096;

// Numbers of this machine and texts, one after the other.
class Record {
 public:
  Record(Kind kind, uint64_t monotonic_ns) { u32(static_cast<uint32_t>(kind)).u32(0).u64(monotonic_ns); }
  Record& u32(uint32_t value) { return raw(&value, sizeof value); }
  Record& u64(uint64_t value) { return raw(&value, sizeof value); }
  Record& text(const std::string& text) { return raw(text.c_str(), text.size() + 1); }
  Record& raw(const void* from, size_t bytes) {
    bytes_.append(static_cast<const char*>(from), bytes);
    return *this;
  }
  void pad() { bytes_.resize((bytes_.size() + 7) / 8 * 8); }
  void set_u64(size_t at, uint64_t value) { std::memcpy(bytes_.data() + at, &value, sizeof value); }
  size_t size() const { return bytes_.size(); }
  void write_to(FILE* file) {
    const auto size = static_cast<uint32_t>(bytes_.size());
    std::memcpy(bytes_.data() + 4, &size, sizeof size);
    std::fwrite(bytes_.data(), 1, bytes_.size(), file);
  }

 private:
  std::string bytes_;
};

base::Error system_error(const std::string& path, const std::string& what) {
  return base::failed(what + ": " + std::strerror(errno), {.file = path});
}

std::string source_path(const SourceFrame& frame) {
  const bool relative = !frame.directory.empty() && !frame.file.starts_with("/");
  return relative ? base::join_path(frame.directory, frame.file) : frame.file;
}

}  // namespace

std::string jitdump_name() {
  return "jit-" + std::to_string(::getpid()) + ".dump";
}

base::Result<std::unique_ptr<JitDump>> JitDump::create(const std::string& directory) {
  const std::string path = base::join_path(directory, jitdump_name());
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  FILE* file = fd < 0 ? nullptr : ::fdopen(fd, "w");
  if (!file) return base::usage_error(std::string("cannot create: ") + std::strerror(errno), {.file = path});
  std::unique_ptr<JitDump> dump(new JitDump(path, file));
  auto begun = dump->write_header();
  if (begun) begun = dump->map_again();
  if (begun) return dump;
  ::unlink(path.c_str());
  return begun.error();
}

JitDump::~JitDump() {
  if (marker_) ::munmap(marker_, kMarkerBytes);
  std::fclose(file_);
}

base::Result<void> JitDump::write_header() {
  const uint64_t now = base::monotonic_ns(), flags = 0;
  const uint32_t words[] = {kMagic, kVersion, kHeaderBytes, EM_X86_64, 0, static_cast<uint32_t>(::getpid())};
  std::fwrite(words, 1, sizeof words, file_);
  std::fwrite(&now, 1, sizeof now, file_);
  std::fwrite(&flags, 1, sizeof flags, file_);
  return flush();
}

base::Result<void> JitDump::map_again() {
  void* again = ::mmap(nullptr, kMarkerBytes, PROT_READ | PROT_EXEC, MAP_PRIVATE, ::fileno(file_), 0);
  if (again == MAP_FAILED) {
    return system_error(path_,
                        "cannot be mapped executable, by which perf finds it; a file system that is "
                        "mounted noexec does not allow it");
  }
  if (marker_) ::munmap(marker_, kMarkerBytes);
  marker_ = again;
  return {};
}

base::Result<void> JitDump::write(const PublishedCode& code) {
  for (const CodeSymbol& symbol : symbols_of(code)) {
    if (symbol.size == 0) continue;
    // What describes code comes before it.
    write_lines(code, symbol);
    write_frames(code, symbol);
    write_code(code, symbol);
  }
  return flush();
}

// Addresses are those of the process, as perf 6.1 takes them.
void JitDump::write_lines(const PublishedCode& code, const CodeSymbol& symbol) {
  if (!code.debug_info || symbol.function == ~0u) return;
  const runtime::CodeImage& image = *code.image;
  const runtime::Module& module = *code.module;
  Record record(Kind::Lines, code.monotonic_ns);
  record.u64(code.address + symbol.begin).u64(0);
  uint64_t count = 0;
  std::string last_file;
  uint32_t last_line = 0;
  auto at =
      std::lower_bound(image.positions.begin(), image.positions.end(), symbol.begin,
                       [](const runtime::SourcePosition& p, uint32_t offset) { return p.offset < offset; });
  for (; at != image.positions.end() && at->offset < symbol.begin + symbol.size; ++at) {
    const uint32_t function =
        at->inline_site == ~0u ? symbol.function : image.inline_sites[at->inline_site].callee;
    const runtime::FunctionBody& body = module.bodies[function - module.imported_functions];
    const auto frames = code.debug_info->at(body.begin + at->wasm_pc);
    if (frames.empty() || frames[0].file.empty()) continue;
    const std::string file = source_path(frames[0]);
    if (file == last_file && frames[0].line == last_line) continue;
    record.u64(code.address + at->offset).u32(frames[0].line).u32(0).text(file);
    last_file = file;
    last_line = frames[0].line;
    ++count;
  }
  if (count == 0) return;
  // A row holds up to the next one, and the last up to this.
  record.u64(code.address + symbol.begin + symbol.size).u32(last_line).u32(0).text(last_file);
  ++count;
  record.set_u64(kPrefixBytes + 8, count);
  record.pad();
  record.write_to(file_);
}

void JitDump::write_frames(const PublishedCode& code, const CodeSymbol& symbol) {
  if (code.image->unwind_rows.empty()) return;
  const FrameSection section = frame_section(*code.image, symbol.begin, symbol.size);
  Record record(Kind::Frames, code.monotonic_ns);
  // Nothing of it is mapped in the process itself.
  record.u64(section.bytes.size()).u64(section.index_bytes).u64(0);
  record.raw(section.bytes.data(), section.bytes.size());
  record.pad();
  record.write_to(file_);
}

void JitDump::write_code(const PublishedCode& code, const CodeSymbol& symbol) {
  const uint64_t address = code.address + symbol.begin;
  Record record(Kind::Load, code.monotonic_ns);
  record.u32(static_cast<uint32_t>(::getpid())).u32(static_cast<uint32_t>(::syscall(SYS_gettid)));
  record.u64(address).u64(address).u64(symbol.size).u64(functions_++);
  record.text(symbol.name);
  record.raw(code.image->bytes.data() + symbol.begin, symbol.size);
  record.write_to(file_);
}

base::Result<void> JitDump::flush() {
  if (std::fflush(file_) == 0 && std::ferror(file_) == 0) return {};
  return system_error(path_, "cannot write");
}

base::Result<void> JitDump::close() {
  Record(Kind::Close, base::monotonic_ns()).write_to(file_);
  return flush();
}

}  // namespace wago::harness
