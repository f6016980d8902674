#include "runtime/unwind.h"

#include <algorithm>

namespace wago::runtime {

namespace {

// Where the words are that a rule leads to.
struct Saved {
  uint64_t cfa = 0;
  bool rbp = false;  // at cfa - 16
};

Saved saved_by(UnwindRule rule, const FrameRegisters& registers) {
  switch (rule) {
    case UnwindRule::Entry:
      return {registers.rsp + 8, false};
    case UnwindRule::Pushed:
      return {registers.rsp + 16, true};
    case UnwindRule::Framed:
    case UnwindRule::Adapter:
      break;
  }
  return {registers.rbp + 16, true};
}

// The guest's; the sanitizer's idea of it dates from C++ frames that are gone.
__attribute__((no_sanitize("address"))) uint64_t word_at(uint64_t address) {
  return *reinterpret_cast<const uint64_t*>(address);
}

}  // namespace

UnwindRule unwind_rule_at(const CodeImage& image, uint32_t offset) {
  const auto after = std::upper_bound(image.unwind_rows.begin(), image.unwind_rows.end(), offset,
                                      [](uint32_t at, const UnwindRow& row) { return at < row.offset; });
  return after == image.unwind_rows.begin() ? UnwindRule::Entry : (after - 1)->rule;
}

bool unwind(const CodeImage& image, uint32_t offset, uint64_t stack_low, uint64_t stack_high,
            FrameRegisters& registers) {
  const Saved saved = saved_by(unwind_rule_at(image, offset), registers);
  const bool inside = saved.cfa >= stack_low + 16 && saved.cfa <= stack_high && saved.cfa % 8 == 0;
  if (!inside || saved.cfa <= registers.rsp) return false;
  registers = {word_at(saved.cfa - 8), saved.cfa, saved.rbp ? word_at(saved.cfa - 16) : registers.rbp};
  return true;
}

}  // namespace wago::runtime
