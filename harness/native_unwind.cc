#include "harness/native_unwind.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace wago::harness {

namespace {

// Of x86-64, as DWARF numbers them.
constexpr uint64_t kRbp = 6, kRsp = 7, kReturnAddress = 16;

// Memory of our own, whatever sanitizers think of it: stacks of frames that are gone, tables of other
// objects.
template <class T>
__attribute__((no_sanitize("address", "undefined"))) T peek(uint64_t address) {
  struct __attribute__((packed, may_alias)) Unaligned {
    T value;
  };
  return reinterpret_cast<const Unaligned*>(address)->value;
}

// Reads a part of an object's table; after the first mistake everything is zero.
class TableCursor {
 public:
  TableCursor(uint64_t at, uint64_t end) : at_(at), end_(end), ok_(at <= end) {}

  bool ok() const { return ok_; }
  bool done() const { return !ok_ || at_ >= end_; }
  uint64_t at() const { return at_; }
  uint64_t end() const { return end_; }
  void skip(uint64_t bytes) {
    if (take(bytes)) at_ += bytes;
  }
  template <class T>
  T fixed() {
    if (!take(sizeof(T))) return T{};
    const T value = peek<T>(at_);
    at_ += sizeof(T);
    return value;
  }
  uint64_t unsigned_leb() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = fixed<uint8_t>();
      value |= uint64_t{byte & 0x7fu} << shift;
      if (!(byte & 0x80)) return value;
    }
    ok_ = false;
    return 0;
  }
  int64_t signed_leb() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = fixed<uint8_t>();
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte & 0x80) continue;
      if ((byte & 0x40) && shift + 7 < 64) value |= ~uint64_t{0} << (shift + 7);
      return static_cast<int64_t>(value);
    }
    ok_ = false;
    return 0;
  }
  // A pointer of one of the encodings that x86-64 linkers write.
  uint64_t encoded(uint8_t encoding) {
    const uint64_t place = at_;
    uint64_t value = 0;
    switch (encoding & 0x0f) {
      case 0x00:
        value = fixed<uint64_t>();
        break;
      case 0x01:
        value = unsigned_leb();
        break;
      case 0x02:
        value = fixed<uint16_t>();
        break;
      case 0x03:
        value = fixed<uint32_t>();
        break;
      case 0x04:
        value = fixed<uint64_t>();
        break;
      case 0x09:
        value = static_cast<uint64_t>(signed_leb());
        break;
      case 0x0a:
        value = static_cast<uint64_t>(int64_t{fixed<int16_t>()});
        break;
      case 0x0b:
        value = static_cast<uint64_t>(int64_t{fixed<int32_t>()});
        break;
      case 0x0c:
        value = fixed<uint64_t>();
        break;
      default:
        ok_ = false;
    }
    if ((encoding & 0x70) == 0x10) value += place;  // relative to where it stands
    return value;
  }

 private:
  bool take(uint64_t bytes) {
    if (ok_ && end_ - at_ >= bytes) return true;
    ok_ = false;
    return false;
  }
  uint64_t at_, end_;
  bool ok_;
};

// Where the caller's value of a register is.
struct Rule {
  enum class Kind : uint8_t { Same, AtOffset, Expression, Unknown };
  Kind kind = Kind::Same;
  int64_t offset = 0;                  // from the CFA
  uint64_t expression = 0, bytes = 0;  // of the address
};

struct Row {
  uint64_t cfa_register = 0;
  int64_t cfa_offset = 0;
  uint64_t cfa_expression = 0, cfa_bytes = 0;  // instead, if there are bytes
  Rule rbp;
  Rule return_address;
};

// What a frame's code has in common with its neighbours'.
struct Common {
  uint64_t code_unit = 1;
  int64_t data_unit = 1;
  uint8_t pointer_encoding = 0;
  bool has_augmentation = false;
  bool is_signal_frame = false;
  uint64_t program = 0, program_end = 0;
};

bool read_common(uint64_t at, uint64_t limit, Common& common) {
  TableCursor header(at, limit);
  const uint64_t length = header.fixed<uint32_t>();
  if (!header.ok() || length >= 0xffffffffu || length > limit - header.at()) return false;
  TableCursor cursor(header.at(), header.at() + length);
  if (cursor.fixed<uint32_t>() != 0) return false;
  const auto version = cursor.fixed<uint8_t>();
  if (version != 1 && version != 3) return false;
  const uint64_t letters = cursor.at();
  while (cursor.ok() && cursor.fixed<uint8_t>() != 0) {
  }
  common.code_unit = cursor.unsigned_leb();
  common.data_unit = cursor.signed_leb();
  const uint64_t return_register = version == 1 ? cursor.fixed<uint8_t>() : cursor.unsigned_leb();
  if (!cursor.ok() || return_register != kReturnAddress) return false;
  for (uint64_t letter = letters; const auto what = peek<uint8_t>(letter); ++letter) {
    switch (what) {
      case 'z':
        common.has_augmentation = true;
        cursor.unsigned_leb();
        break;
      case 'R':
        common.pointer_encoding = cursor.fixed<uint8_t>();
        break;
      case 'L':
        cursor.fixed<uint8_t>();
        break;
      case 'P': {
        const auto encoding = cursor.fixed<uint8_t>();
        cursor.encoded(encoding);
        break;
      }
      case 'S':
        common.is_signal_frame = true;
        break;
      case 'B':
        break;
      default:
        return false;
    }
  }
  common.program = cursor.at();
  common.program_end = cursor.end();
  return cursor.ok();
}

// Executes the instructions by which a table says how its rows differ.
class Program {
 public:
  explicit Program(const Common& common) : common_(common) {}

  // Up to `pc`, beginning at `location`.
  bool run(uint64_t program, uint64_t end, uint64_t location, uint64_t pc, Row& row, const Row& initial) {
    TableCursor cursor(program, end);
    while (!cursor.done()) {
      const auto op = cursor.fixed<uint8_t>();
      const uint8_t low = op & 0x3f;
      switch (op & 0xc0) {
        case 0x40:
          location += low * common_.code_unit;
          break;
        case 0x80:
          set_offset(row, low, static_cast<int64_t>(cursor.unsigned_leb()) * common_.data_unit);
          break;
        case 0xc0:
          restore(row, low, initial);
          break;
        default:
          if (!extended(op, cursor, location, row, initial)) return false;
      }
      if (location > pc) return cursor.ok();
    }
    return cursor.ok();
  }

 private:
  static Rule* rule_of(Row& row, uint64_t which) {
    if (which == kRbp) return &row.rbp;
    return which == kReturnAddress ? &row.return_address : nullptr;
  }
  static void set(Row& row, uint64_t which, const Rule& rule) {
    if (Rule* known = rule_of(row, which)) *known = rule;
  }
  static void set_offset(Row& row, uint64_t which, int64_t offset) {
    set(row, which, {Rule::Kind::AtOffset, offset});
  }
  static void restore(Row& row, uint64_t which, const Row& initial) {
    if (which == kRbp) row.rbp = initial.rbp;
    if (which == kReturnAddress) row.return_address = initial.return_address;
  }
  static void define_cfa(Row& row, uint64_t which, int64_t offset) {
    row.cfa_register = which;
    row.cfa_offset = offset;
    row.cfa_bytes = 0;
  }

  bool extended(uint8_t op, TableCursor& cursor, uint64_t& location, Row& row, const Row& initial) {
    switch (op) {
      case 0x00:
        return true;
      case 0x01:
        location = cursor.encoded(common_.pointer_encoding);
        return true;
      case 0x02:
        location += cursor.fixed<uint8_t>() * common_.code_unit;
        return true;
      case 0x03:
        location += cursor.fixed<uint16_t>() * common_.code_unit;
        return true;
      case 0x04:
        location += cursor.fixed<uint32_t>() * common_.code_unit;
        return true;
      case 0x0a:
        if (depth_ == saved_.size()) return false;
        saved_[depth_++] = row;
        return true;
      case 0x0b:
        if (depth_ == 0) return false;
        row = saved_[--depth_];
        return true;
      case 0x0e:
        row.cfa_offset = static_cast<int64_t>(cursor.unsigned_leb());
        return true;
      case 0x13:
        row.cfa_offset = cursor.signed_leb() * common_.data_unit;
        return true;
      case 0x0f:
        row.cfa_bytes = cursor.unsigned_leb();
        row.cfa_expression = cursor.at();
        cursor.skip(row.cfa_bytes);
        return true;
      case 0x2e:
        cursor.unsigned_leb();
        return true;  // size of arguments: for landing pads
      default:
        return of_register(op, cursor.unsigned_leb(), cursor, row, initial);
    }
  }

  bool of_register(uint8_t op, uint64_t which, TableCursor& cursor, Row& row, const Row& initial) {
    switch (op) {
      case 0x05:
        set_offset(row, which, static_cast<int64_t>(cursor.unsigned_leb()) * common_.data_unit);
        return true;
      case 0x06:
        restore(row, which, initial);
        return true;
      case 0x07:
        set(row, which, {Rule::Kind::Unknown});
        return true;
      case 0x08:
        set(row, which, {Rule::Kind::Same});
        return true;
      case 0x09:
        cursor.unsigned_leb();
        set(row, which, {Rule::Kind::Unknown});
        return true;  // in a register
      case 0x0c:
        define_cfa(row, which, static_cast<int64_t>(cursor.unsigned_leb()));
        return true;
      case 0x0d:
        define_cfa(row, which, row.cfa_offset);
        return true;
      case 0x10: {
        Rule rule{Rule::Kind::Expression};
        rule.bytes = cursor.unsigned_leb();
        rule.expression = cursor.at();
        cursor.skip(rule.bytes);
        set(row, which, rule);
        return true;
      }
      case 0x11:
        set_offset(row, which, cursor.signed_leb() * common_.data_unit);
        return true;
      case 0x12:
        define_cfa(row, which, cursor.signed_leb() * common_.data_unit);
        return true;
      case 0x14:
        cursor.unsigned_leb();
        set(row, which, {Rule::Kind::Unknown});
        return true;  // a value
      case 0x15:
        cursor.signed_leb();
        set(row, which, {Rule::Kind::Unknown});
        return true;
      case 0x16:
        cursor.skip(cursor.unsigned_leb());
        set(row, which, {Rule::Kind::Unknown});
        return true;
      default:
        return false;
    }
  }

  const Common& common_;
  std::array<Row, 8> saved_;
  size_t depth_ = 0;
};

// A DWARF expression of the operations that occur in unwind tables: procedure linkage tables, realigned
// stacks, signal frames.
bool evaluate(uint64_t expression, uint64_t bytes, const FrameRegisters& frame, const StackMemory& stack,
              uint64_t& result) {
  TableCursor cursor(expression, expression + bytes);
  std::array<uint64_t, 16> values;
  size_t depth = 0;
  auto push = [&](uint64_t value) {
    if (depth == values.size()) return false;
    values[depth++] = value;
    return true;
  };
  while (!cursor.done()) {
    const auto op = cursor.fixed<uint8_t>();
    if (op >= 0x30 && op <= 0x4f) {  // literals
      if (!push(op - 0x30u)) return false;
      continue;
    }
    if (op >= 0x70 && op <= 0x8f) {  // registers and an offset
      const auto offset = static_cast<uint64_t>(cursor.signed_leb());
      const uint64_t which = op - 0x70u;
      if (which != kRbp && which != kRsp && which != kReturnAddress) return false;
      const uint64_t base = which == kRbp ? frame.fp : which == kRsp ? frame.sp : frame.pc;
      if (!push(base + offset)) return false;
      continue;
    }
    if (op == 0x06 || op == 0x23) {
      if (depth < 1) return false;
      uint64_t& top = values[depth - 1];
      if (op == 0x23) {
        top += cursor.unsigned_leb();
      } else if (!stack.load(top, top)) {
        return false;
      }
      continue;
    }
    if (op == 0x08) {
      if (!push(cursor.fixed<uint8_t>())) return false;
      continue;
    }
    if (depth < 2) return false;
    const uint64_t right = values[--depth];
    uint64_t& left = values[depth - 1];
    switch (op) {
      case 0x1a:
        left &= right;
        break;
      case 0x1c:
        left -= right;
        break;
      case 0x22:
        left += right;
        break;
      case 0x24:
        left = right < 64 ? left << right : 0;
        break;
      case 0x2a:
        left = static_cast<int64_t>(left) >= static_cast<int64_t>(right);
        break;
      default:
        return false;
    }
  }
  if (!cursor.ok() || depth == 0) return false;
  result = values[depth - 1];
  return true;
}

bool recover(const Rule& rule, uint64_t cfa, const FrameRegisters& frame, const StackMemory& stack,
             uint64_t& value) {
  switch (rule.kind) {
    case Rule::Kind::Same:
      return true;
    case Rule::Kind::AtOffset:
      return stack.load(cfa + static_cast<uint64_t>(rule.offset), value);
    case Rule::Kind::Expression: {
      uint64_t address = 0;
      return evaluate(rule.expression, rule.bytes, frame, stack, address) && stack.load(address, value);
    }
    case Rule::Kind::Unknown:
      return false;
  }
  return false;
}

// The entry of the table whose code begins at or before `pc`; 0: none.
uint64_t find_entry(const LoadedObject& object, uint64_t pc) {
  const auto header = reinterpret_cast<uint64_t>(object.header);
  const auto table = reinterpret_cast<uint64_t>(object.table);
  auto begin_of = [&](uint64_t i) {
    return header + static_cast<uint64_t>(int64_t{peek<int32_t>(table + 8 * i)});
  };
  uint64_t low = 0, high = object.entries;
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (begin_of(middle) <= pc) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0) return 0;
  return header + static_cast<uint64_t>(int64_t{peek<int32_t>(table + 8 * (low - 1) + 4)});
}

// The row that holds at `pc`.
bool find_row(const LoadedObject& object, uint64_t pc, Row& row, Common& common) {
  const uint64_t entry = find_entry(object, pc);
  if (entry < object.low || entry >= object.high) return false;
  TableCursor header(entry, object.high);
  const uint64_t length = header.fixed<uint32_t>();
  if (!header.ok() || length >= 0xffffffffu || length > object.high - header.at()) return false;
  TableCursor cursor(header.at(), header.at() + length);
  const uint64_t common_place = cursor.at();
  const uint64_t common_at = common_place - cursor.fixed<uint32_t>();
  if (common_at < object.low || common_at >= object.high) return false;
  if (!read_common(common_at, object.high, common)) return false;
  const uint64_t begin = cursor.encoded(common.pointer_encoding);
  const uint64_t size = cursor.encoded(common.pointer_encoding & 0x0f);
  if (!cursor.ok() || pc < begin || pc - begin >= size) return false;
  if (common.has_augmentation) cursor.skip(cursor.unsigned_leb());
  Program program(common);
  if (!program.run(common.program, common.program_end, 0, UINT64_MAX, row, row)) return false;
  const Row initial = row;
  return program.run(cursor.at(), cursor.end(), begin, pc, row, initial);
}

// What the header says of its sorted table, if it has one of the usual form.
void read_header(LoadedObject& object, uint64_t header) {
  TableCursor cursor(header, object.high);
  const auto version = cursor.fixed<uint8_t>();
  const auto frame_encoding = cursor.fixed<uint8_t>();
  const auto count_encoding = cursor.fixed<uint8_t>();
  const auto table_encoding = cursor.fixed<uint8_t>();
  constexpr uint8_t kRelativeToHeader4 = 0x3b;
  if (version != 1 || table_encoding != kRelativeToHeader4) return;
  cursor.encoded(frame_encoding);
  const uint64_t count = cursor.encoded(count_encoding);
  if (!cursor.ok() || count > (object.high - cursor.at()) / 8) return;
  object.header = reinterpret_cast<const uint8_t*>(header);
  object.table = reinterpret_cast<const uint8_t*>(cursor.at());
  object.entries = count;
}

int add_object(dl_phdr_info* info, size_t, void* data) {
  LoadedObject object;
  object.path = info->dlpi_name ? info->dlpi_name : "";
  object.base = info->dlpi_addr;
  object.begin = object.low = UINT64_MAX;
  uint64_t header = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    const uint64_t begin = info->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_GNU_EH_FRAME) header = begin;
    if (segment.p_type != PT_LOAD) continue;
    object.low = std::min(object.low, begin);
    object.high = std::max(object.high, begin + segment.p_memsz);
    if (!(segment.p_flags & PF_X)) continue;
    object.begin = std::min(object.begin, begin);
    object.end = std::max(object.end, begin + segment.p_memsz);
  }
  if (object.begin >= object.end) return 0;
  if (object.low <= header && header < object.high) read_header(object, header);
  static_cast<std::vector<LoadedObject>*>(data)->push_back(std::move(object));
  return 0;
}

}  // namespace

bool StackMemory::load(uint64_t address, uint64_t& word) const {
  if (!holds(address)) return false;
  word = peek<uint64_t>(address);
  return true;
}

NativeUnwinder::NativeUnwinder() {
  dl_iterate_phdr(add_object, &objects_);
  std::sort(objects_.begin(), objects_.end(),
            [](const LoadedObject& a, const LoadedObject& b) { return a.begin < b.begin; });
  for (const LoadedObject& object : objects_) {
    if (object.path.empty()) continue;
    if (void* handle = ::dlopen(object.path.c_str(), RTLD_LAZY | RTLD_NOLOAD)) kept_.push_back(handle);
  }
}

NativeUnwinder::~NativeUnwinder() {
  for (void* handle : kept_) ::dlclose(handle);
}

const LoadedObject* NativeUnwinder::object_of(uint64_t pc) const {
  size_t low = 0, high = objects_.size();
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (objects_[middle].begin <= pc) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low > 0 && pc < objects_[low - 1].end ? &objects_[low - 1] : nullptr;
}

bool NativeUnwinder::step(FrameRegisters& frame, const StackMemory& stack) const {
  const uint64_t pc = frame.at();
  const LoadedObject* object = object_of(pc);
  if (!object || !object->table) return false;
  Row row;
  Common common;
  if (!find_row(*object, pc, row, common)) return false;
  uint64_t cfa = 0;
  if (row.cfa_bytes > 0) {
    if (!evaluate(row.cfa_expression, row.cfa_bytes, frame, stack, cfa)) return false;
  } else if (row.cfa_register == kRsp || row.cfa_register == kRbp) {
    cfa = (row.cfa_register == kRsp ? frame.sp : frame.fp) + static_cast<uint64_t>(row.cfa_offset);
  } else {
    return false;
  }
  FrameRegisters caller = frame;
  if (!recover(row.return_address, cfa, frame, stack, caller.pc)) return false;
  if (row.return_address.kind == Rule::Kind::Same) return false;
  if (!recover(row.rbp, cfa, frame, stack, caller.fp)) return false;
  // Stacks grow downwards, except where a handler's frame lies on another one.
  if (!common.is_signal_frame && cfa <= frame.sp) return false;
  caller.sp = cfa;
  caller.interrupted = common.is_signal_frame;
  frame = caller;
  return true;
}

}  // namespace wago::harness
