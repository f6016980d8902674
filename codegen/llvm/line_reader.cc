#include "codegen/llvm/line_reader.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "codegen/llvm/debug_entries.h"
#include "codegen/llvm/line_header.h"
#include "llvm/DebugInfo/DWARF/DWARFCompileUnit.h"
#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/DebugInfo/DWARF/DWARFDebugAbbrev.h"
#include "llvm/DebugInfo/DWARF/DWARFDebugLine.h"
#include "llvm/DebugInfo/DWARF/DWARFDie.h"
#include "llvm/Support/MemoryBuffer.h"

namespace wago::codegen {

namespace {

using LineTable = llvm::DWARFDebugLine::LineTable;
using FileKind = llvm::DILineInfoSpecifier::FileLineInfoKind;

// As custom sections they have a dot in front.
constexpr std::array<std::string_view, 9> kSections = {
    "debug_info",   "debug_abbrev",   "debug_line", "debug_str",        "debug_line_str",
    "debug_ranges", "debug_rnglists", "debug_addr", "debug_str_offsets"};

void ignore(llvm::Error error) {
  llvm::consumeError(std::move(error));
}

// What may be done in all. Each section gives as much as it has bytes, twice: compilers need a fraction.
class Budget {
 public:
  void allow(uint64_t bytes) { left_ += 2 * bytes; }
  bool spend(uint64_t amount) {
    exhausted_ |= amount > left_;
    left_ -= exhausted_ ? left_ : amount;
    return !exhausted_;
  }
  bool exhausted() const { return exhausted_; }

 private:
  uint64_t left_ = 0;
  bool exhausted_ = false;
};

// Ranges of addresses with an index each; a later range covers earlier ones where they overlap.
class RangeMap {
 public:
  void paint(uint64_t begin, uint64_t end, uint32_t index) {
    const auto before = find(begin);
    std::optional<Range> tail;
    if (before != ranges_.end()) {
      if (before->second.end > end) tail = Range{before->second.end, before->second.index};
      before->second.end = begin;
    }
    auto covered = ranges_.lower_bound(begin);
    while (covered != ranges_.end() && covered->first < end) {
      if (covered->second.end > end) tail = Range{covered->second.end, covered->second.index};
      covered = ranges_.erase(covered);
    }
    ranges_[begin] = Range{end, index};
    if (tail) ranges_[end] = *tail;
  }
  std::optional<uint32_t> at(uint64_t address) const {
    auto after = ranges_.upper_bound(address);
    if (after == ranges_.begin()) return std::nullopt;
    const Range& range = std::prev(after)->second;
    if (address >= range.end) return std::nullopt;
    return range.index;
  }

 private:
  struct Range {
    uint64_t end = 0;
    uint32_t index = 0;
  };
  std::map<uint64_t, Range>::iterator find(uint64_t address) {
    auto after = ranges_.upper_bound(address);
    if (after == ranges_.begin()) return ranges_.end();
    auto found = std::prev(after);
    return address < found->second.end ? found : ranges_.end();
  }
  std::map<uint64_t, Range> ranges_;
};

// A string of the module, shortened.
std::string text(const char* name) {
  if (!name) return {};
  return std::string(name, strnlen(name, kMaxSourceNameBytes));
}

}  // namespace

class LineReader::State {
 public:
  explicit State(const runtime::Module& module) : module_(module) {}

  std::vector<SourceFrame> at(uint32_t module_offset) {
    if (module_offset < module_.code_begin || module_offset >= module_.code_end) return {};
    std::lock_guard lock(mutex_);
    if (!opened_) open();
    const uint64_t address = module_offset - module_.code_begin;
    const auto index = budget_.exhausted() ? std::nullopt : unit_ranges_.at(address);
    if (!index) return {};
    Unit& unit = units_[*index];
    index_functions(unit);
    if (budget_.exhausted() || !is_sound(unit)) return {};
    return frames_at(unit, address);
  }

 private:
  struct Unit {
    llvm::DWARFUnit* dwarf = nullptr;
    std::optional<bool> sound;
    bool indexed = false;
    RangeMap functions;  // to indices of entries that are functions or were inlined into one
    const LineTable* lines = nullptr;
  };

  void open() {
    opened_ = true;
    llvm::StringMap<std::unique_ptr<llvm::MemoryBuffer>> sections;
    uint64_t total = 0;
    for (const runtime::CustomSection& custom : module_.customs) {
      if (!custom.name.starts_with('.')) continue;
      const std::string_view name = std::string_view(custom.name).substr(1);
      if (std::find(kSections.begin(), kSections.end(), name) == kSections.end()) continue;
      const auto bytes = std::span(module_.bytes).subspan(custom.begin, custom.size);
      const llvm::StringRef contents(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      if (!sections.try_emplace(name, llvm::MemoryBuffer::getMemBuffer(contents, "", false)).second) continue;
      total += bytes.size();
      budget_.allow(bytes.size());
      if (name == "debug_line") line_bytes_ = bytes;
    }
    if (total > kMaxDebugBytes) return;
    constexpr uint8_t kAddressBytes = 4;
    context_ = llvm::DWARFContext::create(sections, kAddressBytes, true, ignore, ignore);
    for (const auto& unit : context_->compile_units()) {
      if (!pay_for_abbreviations(*unit)) return;
      units_.emplace_back().dwarf = unit.get();
      if (!count_sound_entries(*unit, WhichEntries::First)) continue;
      auto ranges = unit->collectAddressRanges();
      if (!ranges) {
        ignore(ranges.takeError());
      } else if (!paint(unit_ranges_, *ranges, static_cast<uint32_t>(units_.size() - 1))) {
        return;
      }
    }
  }

  // Units often share a table of abbreviations; each is read once.
  bool pay_for_abbreviations(llvm::DWARFUnit& unit) {
    const auto* abbreviations = unit.getAbbreviations();
    if (!abbreviations || !abbreviations_.insert(abbreviations->getOffset()).second) return budget_.spend(1);
    for (const auto& abbreviation : *abbreviations) {
      if (!budget_.spend(1 + abbreviation.getNumAttributes())) return false;
    }
    return budget_.spend(1);
  }

  bool paint(RangeMap& map, const llvm::DWARFAddressRangesVector& ranges, uint32_t index) {
    if (!budget_.spend(1 + ranges.size())) return false;
    const uint64_t code_bytes = module_.code_end - module_.code_begin;
    for (const llvm::DWARFAddressRange& range : ranges) {
      if (range.LowPC == 0 || range.LowPC >= range.HighPC || range.HighPC > code_bytes) continue;
      map.paint(range.LowPC, range.HighPC, index);
    }
    return true;
  }

  // Before anything but a unit's first entry is read.
  bool is_sound(Unit& unit) {
    if (!unit.sound) {
      const auto entries = count_sound_entries(*unit.dwarf, WhichEntries::All);
      unit.sound = entries && budget_.spend(*entries);
    }
    return *unit.sound;
  }

  void index_functions(Unit& unit) {
    if (!is_sound(unit) || unit.indexed) return;
    unit.indexed = true;
    const uint32_t entries = unit.dwarf->getNumDIEs();
    for (uint32_t i = 0; i < entries; ++i) {
      const llvm::DWARFDie entry = unit.dwarf->getDIEAtIndex(i);
      if (!entry.isSubroutineDIE()) continue;
      auto ranges = entry.getAddressRanges();
      if (!ranges) {
        ignore(ranges.takeError());
      } else if (!paint(unit.functions, *ranges, i)) {
        return;
      }
    }
    const auto offset =
        llvm::dwarf::toSectionOffset(unit.dwarf->getUnitDIE().find(llvm::dwarf::DW_AT_stmt_list));
    if (!offset || !line_header_is_sound(line_bytes_, *offset)) return;
    auto lines = context_->getLineTableForUnit(unit.dwarf, ignore);
    if (!lines) return ignore(lines.takeError());
    unit.lines = *lines;
    if (unit.lines && line_tables_.insert(*offset).second) budget_.spend(unit.lines->Rows.size());
  }

  std::vector<SourceFrame> frames_at(const Unit& unit, uint64_t address) {
    std::vector<SourceFrame> frames;
    const char* directory = unit.dwarf->getCompilationDir();
    SourceFrame place;
    place.directory = text(directory);
    if (unit.lines) {
      llvm::DILineInfo info;
      const llvm::object::SectionedAddress where{address, llvm::object::SectionedAddress::UndefSection};
      if (unit.lines->getFileLineInfoForAddress(where, directory, FileKind::RelativeFilePath, info)) {
        place.file = text(info.FileName.c_str());
        place.line = info.Line;
        place.column = info.Column;
      }
    }
    const auto index = unit.functions.at(address);
    llvm::DWARFDie entry = index ? unit.dwarf->getDIEAtIndex(*index) : llvm::DWARFDie();
    while (entry && frames.size() < kMaxInlineDepth) {
      if (entry.isSubroutineDIE()) {
        frames.push_back(place);
        frames.back().function = function_name(entry);
        if (entry.isSubprogramDIE()) break;
        place = call_place(unit, entry, directory);
      }
      entry = entry.getParent();
    }
    if (frames.empty() && place.line != 0) frames.push_back(place);
    return frames;
  }

  // The linkage name, or the plain one, of an entry or of those it takes its attributes from.
  std::string function_name(llvm::DWARFDie entry) {
    constexpr int kMaxHops = 16;
    const char* plain = nullptr;
    for (int hop = 0; entry && hop < kMaxHops; ++hop) {
      const auto linkage =
          entry.find({llvm::dwarf::DW_AT_linkage_name, llvm::dwarf::DW_AT_MIPS_linkage_name});
      if (const char* name = llvm::dwarf::toString(linkage, nullptr)) return text(name);
      if (!plain) plain = llvm::dwarf::toString(entry.find(llvm::dwarf::DW_AT_name), nullptr);
      entry = origin_of(entry);
    }
    return text(plain);
  }

  // May lie in another unit, which then has to be sound too.
  llvm::DWARFDie origin_of(const llvm::DWARFDie& entry) {
    const auto value = entry.find({llvm::dwarf::DW_AT_abstract_origin, llvm::dwarf::DW_AT_specification});
    if (!value) return {};
    std::optional<uint64_t> offset = value->getAsDebugInfoReference();
    if (const auto relative = value->getAsRelativeReference())
      offset = entry.getDwarfUnit()->getOffset() + *relative;
    if (!offset) return {};
    auto after =
        std::upper_bound(units_.begin(), units_.end(), *offset,
                         [](uint64_t wanted, const Unit& unit) { return wanted < unit.dwarf->getOffset(); });
    if (after == units_.begin() || !is_sound(*(after - 1))) return {};
    return (after - 1)->dwarf->getDIEForOffset(*offset);
  }

  // Where an inlined function was called.
  static SourceFrame call_place(const Unit& unit, const llvm::DWARFDie& inlined, const char* directory) {
    SourceFrame place;
    place.directory = text(directory);
    uint32_t file = 0, discriminator = 0;
    inlined.getCallerFrame(file, place.line, place.column, discriminator);
    std::string name;
    if (unit.lines &&
        unit.lines->getFileNameByIndex(file, directory ? directory : "", FileKind::RelativeFilePath, name)) {
      place.file = text(name.c_str());
    }
    return place;
  }

  const runtime::Module& module_;
  std::mutex mutex_;  // of everything below: LLVM reads as it is asked
  bool opened_ = false;
  std::unique_ptr<llvm::DWARFContext> context_;
  std::span<const uint8_t> line_bytes_;
  Budget budget_;
  std::set<uint64_t> abbreviations_, line_tables_;  // offsets of those that were paid for
  std::vector<Unit> units_;                         // in the order of their offsets
  RangeMap unit_ranges_;
};

LineReader::LineReader(const runtime::Module& module) : state_(std::make_unique<State>(module)) {}
LineReader::~LineReader() = default;

std::vector<SourceFrame> LineReader::at(uint32_t module_offset) const {
  return state_->at(module_offset);
}

}  // namespace wago::codegen
