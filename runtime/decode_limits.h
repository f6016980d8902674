// What a module may not exceed, beyond DecodeOptions. Each is refused by name; none is reached by what
// compilers produce. They keep time and memory in proportion to the module's bytes.
#pragma once

#include <cstdint>

namespace wago::runtime {

constexpr uint32_t kMaxTypes = 1'000'000;
constexpr uint32_t kMaxParams = 1'000;
constexpr uint32_t kMaxResults = 1'000;
constexpr uint32_t kMaxImports = 1'000'000;
constexpr uint32_t kMaxExports = 1'000'000;
constexpr uint32_t kMaxGlobals = 1'000'000;
constexpr uint32_t kMaxTables = 100'000;
constexpr uint32_t kMaxTableEntries = 10'000'000;  // a table's initial size
constexpr uint32_t kMaxElementSegments = 1'000'000;
constexpr uint32_t kMaxElementItems = 10'000'000;  // of all segments together
constexpr uint32_t kMaxDataSegments = 1'000'000;
constexpr uint32_t kMaxCustomSections = 100'000;
constexpr uint32_t kMaxNameBytes = 100'000;        // imports, exports, custom sections
constexpr uint32_t kMaxModuleLocals = 50'000'000;  // declared locals of all functions together
constexpr uint32_t kMaxNesting = 100'000;          // blocks open at a point of a function
constexpr uint32_t kMaxOperands = 1'000'000;       // operand stack of a function
constexpr uint32_t kMaxBranchTargets = 65'520;     // of one br_table

}  // namespace wago::runtime
