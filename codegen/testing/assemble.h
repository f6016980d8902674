// Wasm for tests from text that is almost the text format: flat instructions by their names, numbers for
// everything.
//
//   func (i32, i64) -> (i32) (locals i32 f64)
//     local.get 0
//     block (result i32)           types: (result t) or (type n), n as below; nothing for none
//     i32.load align=2 offset=16   align is log2, optional as offset is
//     br_table 0 1 0
//     f64.const 0x3ff0000000000000   bits; of v128.const the lower 64 first
//     call 0
//     call_indirect 0 (type 1)
//   end                            ends blocks, and at last the function
//
// The module around the functions: type n is that of function n, or of a line "type (i32) -> (i64)" (which
// come first and count first); a memory of 1 to 2 pages; table 0 of 10 funcref and table 1 of 10 externref;
// globals 0..3 mutable i32 i64 f32 f64, 4 immutable i32 42, 5 mutable externref; a passive data segment and a
// passive element segment; all functions are exported as "0", "1", ..., the memory as "memory", globals 0 to
// 3 as "global0" and so on.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace wago::codegen::testing {

base::Result<std::vector<uint8_t>> assemble(std::string_view text);

}  // namespace wago::codegen::testing
