#include "harness/frame_section.h"

#include <algorithm>
#include <initializer_list>

#include "runtime/unwind.h"

namespace wago::harness {

namespace {

using runtime::UnwindRule;

// Registers by their DWARF numbers.
constexpr uint8_t kRbx = 3, kRbp = 6, kRsp = 7, kR12 = 12, kReturnAddress = 16;
// Encodings of pointers: four bytes, signed, relative to themselves or to the index; four bytes, unsigned.
constexpr uint8_t kPcRelative = 0x1b, kDataRelative = 0x3b, kUnsigned = 0x03;
// DW_CFA_*: what is done to the rules.
constexpr uint8_t kAdvance4 = 0x04, kDefineCfa = 0x0c, kOffset = 0x80, kRestore = 0xc0;

class Bytes {
 public:
  std::vector<uint8_t> take() { return std::move(bytes_); }
  uint32_t size() const { return static_cast<uint32_t>(bytes_.size()); }
  void add(std::initializer_list<uint8_t> bytes) { bytes_.insert(bytes_.end(), bytes); }
  void add4(uint32_t value) {
    for (int i = 0; i < 4; ++i) bytes_.push_back(static_cast<uint8_t>(value >> 8 * i));
  }
  void set4(uint32_t at, uint32_t value) {
    for (int i = 0; i < 4; ++i) bytes_[at + i] = static_cast<uint8_t>(value >> 8 * i);
  }
  // A length, and after it what it counts, padded to a multiple of 8 with DW_CFA_nop.
  uint32_t begin() {
    add4(0);
    return size();
  }
  void end(uint32_t begun) {
    while ((size() - begun + 4) % 8 != 0) add({0});
    set4(begun - 4, size() - begun);
  }

 private:
  std::vector<uint8_t> bytes_;
};

// The rule in full, so that it does not matter which one held before. Offsets count in -8 from the CFA.
void add_rule(Bytes& to, UnwindRule rule) {
  const bool framed = rule == UnwindRule::Framed || rule == UnwindRule::Adapter;
  if (framed) {
    to.add({kDefineCfa, kRbp, 16});
  } else {
    to.add({kDefineCfa, kRsp, static_cast<uint8_t>(rule == UnwindRule::Entry ? 8 : 16)});
  }
  if (rule == UnwindRule::Entry) {
    to.add({kRestore | kRbp});
  } else {
    to.add({kOffset | kRbp, 2});
  }
  const bool adapter = rule == UnwindRule::Adapter;
  uint8_t slot = 3;
  for (uint8_t saved : {kRbx, kR12, uint8_t{13}, uint8_t{14}, uint8_t{15}}) {
    if (adapter) {
      to.add({static_cast<uint8_t>(kOffset | saved), slot++});
    } else {
      to.add({static_cast<uint8_t>(kRestore | saved)});
    }
  }
}

}  // namespace

FrameSection frame_section(const runtime::CodeImage& image, uint32_t begin, uint32_t size) {
  Bytes to;
  // Where the section's first byte lies, from the code's.
  const uint32_t behind = (size + 7) / 8 * 8;
  const uint32_t common = to.begin();
  to.add4(0);
  // Version, "zR", factors 1 and -8, the register that is returned to, the length of what "R" needs.
  to.add({1, 'z', 'R', 0, 1, 0x78, kReturnAddress, 1, kPcRelative});
  to.add({kDefineCfa, kRsp, 8, kOffset | kReturnAddress, 1});
  to.end(common);

  const uint32_t frame = to.begin();
  to.add4(frame);  // back to the first entry, which begins the section
  to.add4(0u - (behind + to.size()));
  to.add4(size);
  to.add({0});
  add_rule(to, runtime::unwind_rule_at(image, begin));
  uint32_t at = begin;
  auto row = std::upper_bound(image.unwind_rows.begin(), image.unwind_rows.end(), begin,
                              [](uint32_t offset, const runtime::UnwindRow& r) { return offset < r.offset; });
  for (; row != image.unwind_rows.end() && row->offset < begin + size; ++row) {
    to.add({kAdvance4});
    to.add4(row->offset - at);
    at = row->offset;
    add_rule(to, row->rule);
  }
  to.end(frame);
  to.add4(0);
  to.add4(0);  // and up to a multiple of 8

  const uint32_t index = to.size();
  // It lists nothing. perf's unwinder looks for a list behind the code in the process, where the next
  // function is, and would take that for one; where there is none, it follows frame pointers.
  to.add({1, kPcRelative, kUnsigned, kDataRelative});
  to.add4(0u - (index + 4));
  to.add4(0);
  to.add4(0);  // and up to a multiple of 8
  const uint32_t index_bytes = to.size() - index;
  return {to.take(), index_bytes};
}

}  // namespace wago::harness
