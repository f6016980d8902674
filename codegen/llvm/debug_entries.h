// Whether a unit's entries are fit for LLVM's reader, which skips a value by the length that the value itself
// announces, wherever that leads.
#pragma once

#include <cstdint>
#include <optional>

namespace llvm {
class DWARFUnit;
}

namespace wago::codegen {

// Attributes of one kind of entry; compilers write some twenty.
constexpr uint32_t kMaxAttributes = 128;
// Entries inside one another.
constexpr uint32_t kMaxEntryDepth = 1000;

// The number of entries of `unit` - of the first alone, or of all - if every value lies inside of the unit
// and has a form that is known, so that reading them touches nothing else; nothing otherwise.
enum class WhichEntries : uint8_t { First, All };
std::optional<uint64_t> count_sound_entries(const llvm::DWARFUnit& unit, WhichEntries which);

}  // namespace wago::codegen
