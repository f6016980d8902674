#include "codegen/llvm/debug_entries.h"

#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/DebugInfo/DWARF/DWARFAbbreviationDeclaration.h"
#include "llvm/DebugInfo/DWARF/DWARFDebugAbbrev.h"
#include "llvm/DebugInfo/DWARF/DWARFUnit.h"

namespace wago::codegen {

namespace {

namespace dwarf = llvm::dwarf;

class EntryWalk {
 public:
  explicit EntryWalk(const llvm::DWARFUnit& unit)
      : data_(unit.getDebugInfoExtractor(), unit.getNextUnitOffset()),
        at_(unit.getOffset() + unit.getHeaderSize()),
        end_(unit.getNextUnitOffset()),
        form_params_(unit.getFormParams()),
        abbreviations_(unit.getAbbreviations()) {}

  std::optional<uint64_t> run(WhichEntries which) {
    const bool sound = abbreviations_ && end_ <= data_.getData().size() && walk(which);
    // An error that is not asked for would be a mistake of ours.
    if (llvm::errorToBool(at_.takeError()) || !sound) return std::nullopt;
    return entries_;
  }

 private:
  bool walk(WhichEntries which) {
    uint32_t depth = 0;
    do {
      if (at_.tell() >= end_) return entries_ > 0;
      const uint64_t code = data_.getULEB128(at_);
      if (!at_ || code > UINT32_MAX) return false;
      if (code == 0) {  // the end of the children
        if (depth == 0) return entries_ > 0;
        --depth;
        continue;
      }
      const auto* abbreviation = abbreviations_->getAbbreviationDeclaration(static_cast<uint32_t>(code));
      if (!abbreviation || abbreviation->getNumAttributes() > kMaxAttributes) return false;
      for (const auto& attribute : abbreviation->attributes()) {
        if (!skip(attribute.Form)) return false;
      }
      ++entries_;
      if (abbreviation->hasChildren() && ++depth > kMaxEntryDepth) return false;
    } while (which == WhichEntries::All && depth > 0);
    return true;
  }

  bool skip(dwarf::Form form) {
    if (const auto bytes = dwarf::getFixedFormByteSize(form, form_params_)) return skip_bytes(*bytes);
    switch (form) {
      case dwarf::DW_FORM_block1:
        return skip_bytes(data_.getU8(at_));
      case dwarf::DW_FORM_block2:
        return skip_bytes(data_.getU16(at_));
      case dwarf::DW_FORM_block4:
        return skip_bytes(data_.getU32(at_));
      case dwarf::DW_FORM_block:
      case dwarf::DW_FORM_exprloc:
        return skip_bytes(data_.getULEB128(at_));
      case dwarf::DW_FORM_string:
        data_.getCStrRef(at_);
        return bool{at_};
      case dwarf::DW_FORM_sdata:
      case dwarf::DW_FORM_udata:
      case dwarf::DW_FORM_ref_udata:
      case dwarf::DW_FORM_strx:
      case dwarf::DW_FORM_addrx:
      case dwarf::DW_FORM_loclistx:
      case dwarf::DW_FORM_rnglistx:
      case dwarf::DW_FORM_GNU_addr_index:
      case dwarf::DW_FORM_GNU_str_index:
        data_.getULEB128(at_);
        return bool{at_};
      default:
        return false;
    }
  }

  bool skip_bytes(uint64_t bytes) {
    data_.skip(at_, bytes);
    return bool{at_};
  }

  llvm::DWARFDataExtractor data_;  // up to the unit's end
  llvm::DataExtractor::Cursor at_;
  uint64_t end_;
  dwarf::FormParams form_params_;
  const llvm::DWARFAbbreviationDeclarationSet* abbreviations_;
  uint64_t entries_ = 0;
};

}  // namespace

std::optional<uint64_t> count_sound_entries(const llvm::DWARFUnit& unit, WhichEntries which) {
  return EntryWalk(unit).run(which);
}

}  // namespace wago::codegen
