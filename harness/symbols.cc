#include "harness/symbols.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <span>
#include <string_view>
#include <tuple>

#include "base/files.h"
#include "base/process.h"
#include "base/text.h"

namespace wago::harness {

namespace {

constexpr uint64_t kMaxSymbols = 4'000'000;  // of one table
constexpr size_t kMaxNameBytes = 16 << 10;

// A file's bytes, for as long as it lives.
class MappedFile {
 public:
  explicit MappedFile(const char* path) {
    base::Fd fd(::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status;
    if (!fd.ok() || ::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_size <= 0)
      return;
    const auto size = static_cast<size_t>(status.st_size);
    void* at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
    if (at != MAP_FAILED) bytes_ = {static_cast<const uint8_t*>(at), size};
  }
  ~MappedFile() {
    if (!bytes_.empty()) ::munmap(const_cast<uint8_t*>(bytes_.data()), bytes_.size());
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  // A structure at an offset; false where the file ends before.
  template <class T>
  bool read(uint64_t offset, T& value) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) return false;
    std::memcpy(&value, bytes_.data() + offset, sizeof(T));
    return true;
  }
  // A string that ends before `end`.
  std::string_view text(uint64_t offset, uint64_t end) const {
    end = std::min<uint64_t>(end, bytes_.size());
    if (offset >= end) return {};
    const auto* begin = reinterpret_cast<const char*>(bytes_.data() + offset);
    return {begin, ::strnlen(begin, std::min<uint64_t>(end - offset, kMaxNameBytes))};
  }

 private:
  std::span<const uint8_t> bytes_;
};

struct Candidate {
  uint64_t begin = 0;
  uint64_t size = 0;
  bool local = false;
  std::string_view name;

  // Of several names for the same code, the one that people use.
  auto rank() const {
    const size_t underscores = std::min(name.find_first_not_of('_'), name.size());
    const bool is_mangled = name.starts_with("_Z");
    return std::tuple(begin, local, is_mangled ? 0 : underscores, name.size(), name);
  }
};

void add_symbols(const MappedFile& file, const Elf64_Shdr& table, const Elf64_Shdr& strings,
                 std::vector<Candidate>& candidates) {
  if (table.sh_entsize != sizeof(Elf64_Sym)) return;
  const uint64_t count = std::min(table.sh_size / sizeof(Elf64_Sym), kMaxSymbols);
  const uint64_t strings_end = strings.sh_offset + std::min(strings.sh_size, UINT64_MAX - strings.sh_offset);
  for (uint64_t i = 0; i < count; ++i) {
    Elf64_Sym symbol;
    if (!file.read(table.sh_offset + i * sizeof(symbol), symbol)) return;
    const unsigned type = ELF64_ST_TYPE(symbol.st_info);
    if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol.st_shndx == SHN_UNDEF || symbol.st_size == 0)
      continue;
    const std::string_view name = file.text(strings.sh_offset + symbol.st_name, strings_end);
    if (name.empty()) continue;
    candidates.push_back({symbol.st_value, symbol.st_size, ELF64_ST_BIND(symbol.st_info) == STB_LOCAL, name});
  }
}

}  // namespace

Symbols::Symbols(const NativeUnwinder& objects) : objects_(objects) {
  std::error_code unknown;
  program_ = std::filesystem::read_symlink("/proc/self/exe", unknown).string();
}

std::vector<Symbols::Extent> Symbols::read(const LoadedObject& object) {
  const MappedFile file(object.path.empty() ? "/proc/self/exe" : object.path.c_str());
  Elf64_Ehdr header;
  if (!file.read(0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_shentsize != sizeof(Elf64_Shdr)) {
    return {};
  }
  std::vector<Candidate> candidates;
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section, strings;
    if (!file.read(header.e_shoff + i * sizeof(section), section)) break;
    if (section.sh_type != SHT_SYMTAB && section.sh_type != SHT_DYNSYM) continue;
    if (section.sh_link >= header.e_shnum) continue;
    if (!file.read(header.e_shoff + section.sh_link * sizeof(strings), strings)) continue;
    add_symbols(file, section, strings, candidates);
  }
  std::sort(candidates.begin(), candidates.end(),
            [](const Candidate& a, const Candidate& b) { return a.rank() < b.rank(); });
  std::vector<Extent> extents;
  for (const Candidate& candidate : candidates) {
    const uint64_t begin = object.base + candidate.begin;
    if (!extents.empty() && extents.back().begin == begin) continue;
    extents.push_back({begin, begin + candidate.size, std::string(candidate.name)});
  }
  return extents;
}

capture::Symbol Symbols::at(uint64_t address) {
  const LoadedObject* object = objects_.object_of(address);
  char number[32];
  if (!object) {
    std::snprintf(number, sizeof(number), "0x%" PRIx64, address);
    return {number, ""};
  }
  auto [table, added] = tables_.try_emplace(object);
  if (added) table->second = read(*object);
  const std::string binary = base::printable(base::base_name(object->path.empty() ? program_ : object->path));
  const std::vector<Extent>& extents = table->second;
  auto after = std::upper_bound(extents.begin(), extents.end(), address,
                                [](uint64_t at, const Extent& extent) { return at < extent.begin; });
  if (after != extents.begin() && address < (after - 1)->end) {
    return {base::printable((after - 1)->name), binary};
  }
  std::snprintf(number, sizeof(number), "+0x%" PRIx64, address - object->base);
  return {binary + number, binary};
}

}  // namespace wago::harness
