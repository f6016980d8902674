#include "runtime/helpers.h"

#include <algorithm>
#include <cstring>

#include "runtime/instance.h"

namespace wago::runtime {

namespace {

constexpr uint64_t kOk = 0;
constexpr uint64_t kTrap = 1;
constexpr uint64_t kRefused = 0xffffffff;  // what memory.grow and table.grow answer

bool fits(uint64_t begin, uint64_t count, uint64_t size) {
  return count <= size && begin <= size - count;
}

uint64_t memory_grow(InstanceContext* context, uint64_t pages) {
  auto old_pages = context->instance->memory(0)->grow(static_cast<uint32_t>(pages));
  return old_pages ? *old_pages : kRefused;
}

uint64_t memory_fill(InstanceContext* context, uint64_t destination, uint64_t value, uint64_t count) {
  const MemoryView& memory = *context->memory;
  if (!fits(destination, count, memory.bytes)) return kTrap;
  std::memset(memory.base + destination, static_cast<int>(value & 0xff), count);
  return kOk;
}

uint64_t memory_copy(InstanceContext* context, uint64_t destination, uint64_t source, uint64_t count) {
  const MemoryView& memory = *context->memory;
  if (!fits(destination, count, memory.bytes) || !fits(source, count, memory.bytes)) return kTrap;
  std::memmove(memory.base + destination, memory.base + source, count);
  return kOk;
}

uint64_t memory_init(InstanceContext* context, uint64_t segment, uint64_t destination, uint64_t source,
                     uint64_t count) {
  return context->instance->memory_init(static_cast<uint32_t>(segment), destination, source, count) ? kOk
                                                                                                    : kTrap;
}

uint64_t data_drop(InstanceContext* context, uint64_t segment) {
  context->instance->drop_data(static_cast<uint32_t>(segment));
  return kOk;
}

uint64_t table_grow(InstanceContext* context, uint64_t table, uint64_t reference, uint64_t count) {
  auto old_size =
      context->instance->table(static_cast<uint32_t>(table))->grow(static_cast<uint32_t>(count), reference);
  return old_size ? *old_size : kRefused;
}

uint64_t table_fill(InstanceContext* context, uint64_t table, uint64_t index, uint64_t reference,
                    uint64_t count) {
  const TableView& view = *context->instance->table(static_cast<uint32_t>(table))->view();
  if (!fits(index, count, view.size)) return kTrap;
  std::fill_n(view.entries + index, count, reference);
  return kOk;
}

uint64_t table_copy(InstanceContext* context, uint64_t destination_table, uint64_t source_table,
                    uint64_t destination, uint64_t source, uint64_t count) {
  const TableView& to = *context->instance->table(static_cast<uint32_t>(destination_table))->view();
  const TableView& from = *context->instance->table(static_cast<uint32_t>(source_table))->view();
  if (!fits(destination, count, to.size) || !fits(source, count, from.size)) return kTrap;
  if (count != 0) std::memmove(to.entries + destination, from.entries + source, count * sizeof(uint64_t));
  return kOk;
}

uint64_t table_init(InstanceContext* context, uint64_t table, uint64_t segment, uint64_t destination,
                    uint64_t source, uint64_t count) {
  return context->instance->table_init(static_cast<uint32_t>(table), static_cast<uint32_t>(segment),
                                       destination, source, count)
             ? kOk
             : kTrap;
}

uint64_t elem_drop(InstanceContext* context, uint64_t segment) {
  context->instance->drop_elements(static_cast<uint32_t>(segment));
  return kOk;
}

}  // namespace

const HelperTable& helper_table() {
  static const HelperTable table = {{
#define WAGO_HELPER(id, name, trap) reinterpret_cast<HelperFn>(reinterpret_cast<void*>(name)),
#include "runtime/helpers.def"
  }};
  return table;
}

}  // namespace wago::runtime
