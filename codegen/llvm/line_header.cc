#include "codegen/llvm/line_header.h"

#include <array>
#include <optional>

#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/Support/DataExtractor.h"

namespace wago::codegen {

namespace {

using llvm::DataExtractor;
namespace dwarf = llvm::dwarf;

class Header {
 public:
  Header(std::span<const uint8_t> section, uint64_t offset)
      : data_(llvm::StringRef(reinterpret_cast<const char*>(section.data()), section.size()), true, 4),
        at_(offset),
        end_(section.size()) {}

  bool is_sound() {
    const bool sound = check();
    // An error that is not asked for would be a mistake of ours.
    return !llvm::errorToBool(at_.takeError()) && sound;
  }

 private:
  bool check() {
    uint64_t length = data_.getU32(at_);
    dwarf64_ = length == dwarf::DW_LENGTH_DWARF64;
    if (dwarf64_) length = data_.getU64(at_);
    const uint16_t version = data_.getU16(at_);
    if (!at_ || version < 5) return bool{at_};
    data_.skip(at_, 2);  // sizes of addresses and segment selectors
    data_.skip(at_, dwarf64_ ? 8 : 4);
    data_.skip(at_, 5);  // instruction and operation counts, default, line base, line range
    const uint8_t opcode_base = data_.getU8(at_);
    if (!at_ || opcode_base == 0) return false;
    data_.skip(at_, opcode_base - 1u);
    return table() && table();
  }

  struct Field {
    uint64_t content = 0;
    uint64_t form = 0;
  };

  // The descriptions of entries, then the entries.
  bool table() {
    std::array<Field, 255> fields;
    const uint8_t count = data_.getU8(at_);
    bool takes_bytes = false;
    for (unsigned i = 0; i < count && at_; ++i) {
      fields[i] = {data_.getULEB128(at_), data_.getULEB128(at_)};
      if (!suits(fields[i])) return false;
      takes_bytes = true;
    }
    const uint64_t entries = data_.getULEB128(at_);
    if (!at_ || (entries != 0 && !takes_bytes) || entries > end_) return false;
    for (uint64_t entry = 0; entry < entries; ++entry) {
      for (unsigned i = 0; i < count; ++i) skip(fields[i].form);
      if (!at_) return false;
    }
    return true;
  }

  static bool suits(const Field& field) {
    switch (field.content) {
      case dwarf::DW_LNCT_directory_index:
      case dwarf::DW_LNCT_timestamp:
      case dwarf::DW_LNCT_size:
        return is_number(field.form);
      case dwarf::DW_LNCT_MD5:
        return field.form == dwarf::DW_FORM_data16;
      case dwarf::DW_LNCT_path:
      case dwarf::DW_LNCT_LLVM_source:
        return is_string(field.form);
      default:
        return is_number(field.form) || is_string(field.form) || field.form == dwarf::DW_FORM_data16 ||
               field.form == dwarf::DW_FORM_block;
    }
  }
  static bool is_number(uint64_t form) {
    return form == dwarf::DW_FORM_udata || form == dwarf::DW_FORM_data1 || form == dwarf::DW_FORM_data2 ||
           form == dwarf::DW_FORM_data4 || form == dwarf::DW_FORM_data8;
  }
  static bool is_string(uint64_t form) {
    return form == dwarf::DW_FORM_string || form == dwarf::DW_FORM_line_strp || form == dwarf::DW_FORM_strp ||
           form == dwarf::DW_FORM_strx || form == dwarf::DW_FORM_strx1 || form == dwarf::DW_FORM_strx2 ||
           form == dwarf::DW_FORM_strx4;
  }

  void skip(uint64_t form) {
    switch (form) {
      case dwarf::DW_FORM_string:
        data_.getCStrRef(at_);
        return;
      case dwarf::DW_FORM_line_strp:
      case dwarf::DW_FORM_strp:
        return data_.skip(at_, dwarf64_ ? 8 : 4);
      case dwarf::DW_FORM_strx:
      case dwarf::DW_FORM_udata:
        data_.getULEB128(at_);
        return;
      case dwarf::DW_FORM_strx1:
      case dwarf::DW_FORM_data1:
        return data_.skip(at_, 1);
      case dwarf::DW_FORM_strx2:
      case dwarf::DW_FORM_data2:
        return data_.skip(at_, 2);
      case dwarf::DW_FORM_strx4:
      case dwarf::DW_FORM_data4:
        return data_.skip(at_, 4);
      case dwarf::DW_FORM_data8:
        return data_.skip(at_, 8);
      case dwarf::DW_FORM_data16:
        return data_.skip(at_, 16);
      case dwarf::DW_FORM_block: {
        const uint64_t bytes = data_.getULEB128(at_);
        return data_.skip(at_, bytes);
      }
    }
  }

  DataExtractor data_;
  DataExtractor::Cursor at_;
  uint64_t end_;
  bool dwarf64_ = false;
};

}  // namespace

bool line_header_is_sound(std::span<const uint8_t> debug_line, uint64_t offset) {
  return offset < debug_line.size() && Header(debug_line, offset).is_sound();
}

}  // namespace wago::codegen
