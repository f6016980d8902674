#include "base/demangle_rust.h"

#include <gtest/gtest.h>

namespace wago::base {
namespace {

std::string plain(std::string_view name) {
  return demangled_rust(name).value_or("(not understood)");
}

TEST(DemangleRust, Paths) {
  EXPECT_EQ(plain("_RNvC4main3foo"), "main::foo");
  EXPECT_EQ(plain("_RNvNtNtCs1_4wasm3sub4deep3run"), "wasm::sub::deep::run");
  EXPECT_EQ(plain("_RNvC6_123foo3bar"), "123foo::bar");
  EXPECT_EQ(plain("_RNCNvC4main3run0"), "main::run::{closure#0}");
  EXPECT_EQ(plain("_RNCNvC4main3runs_0"), "main::run::{closure#1}");
  EXPECT_EQ(plain("_RNSNvC4main3runs0_6vtable"), "main::run::{shim:vtable#2}");
  EXPECT_EQ(plain("_RNvMC4mainNtC4main3Foo3new"), "<main::Foo>::new");
  EXPECT_EQ(plain("_RNvXs_C4mainNtC4main3FooNtC4core5Clone5clone"), "<main::Foo as core::Clone>::clone");
  EXPECT_EQ(plain("_RNvYmNtC4core5Clone5clone"), "<u32 as core::Clone>::clone");
  EXPECT_EQ(plain("_RNvNtCs1_4main30____7hkackfecea1cbdathfdh9hlq6y3run").substr(0, 6), "main::");
  EXPECT_EQ(plain("_RNvC4mainu9bcher_kva"), "main::bücher");
}

TEST(DemangleRust, GenericsTypesAndConstants) {
  EXPECT_EQ(plain("_RINvC4main3foommE"), "main::foo::<u32, u32>");
  EXPECT_EQ(plain("_RINvC4main3fooINtC5alloc3VechEE"), "main::foo::<alloc::Vec<u8>>");
  EXPECT_EQ(plain("_RINvC4main3fooTEThETmhEE"), "main::foo::<(), (u8,), (u32, u8)>");
  EXPECT_EQ(plain("_RINvC4main3fooRePhOiQhSeAhj10_E"),
            "main::foo::<&str, *const u8, *mut isize, &mut u8, [str], [u8; 16]>");
  EXPECT_EQ(plain("_RINvC4main3fooKhb_KanB_Kb0_Kb1_Kc76_Kc27_Kc3b1_KpE"), "(not understood)");
  EXPECT_EQ(plain("_RINvC4main3fooKhb_Kanb_Kb0_Kb1_Kc76_Kc27_Kc3b1_KpE"),
            "main::foo::<11, -11, false, true, 'v', '\\'', '\\u{3b1}', _>");
  EXPECT_EQ(plain("_RINvC4main3fooKyffffffffffffffff_Ko10000000000000000_E"),
            "main::foo::<18446744073709551615, 0x10000000000000000>");
  EXPECT_EQ(plain("_RINvC4main3fooFUKCmEhFK6systemEuFEzE"),
            "main::foo::<unsafe extern \"C\" fn(u32) -> u8, extern \"system\" fn(), fn() -> !>");
  EXPECT_EQ(plain("_RINvC4main3fooFG0_RL1_hRL0_hEuE"), "main::foo::<for<'a, 'b> fn(&'a u8, &'b u8)>");
  EXPECT_EQ(plain("_RINvC4main3fooDNtC4core5CloneNtC4core4SendEL_E"),
            "main::foo::<dyn core::Clone + core::Send>");
  EXPECT_EQ(plain("_RINvC4main3fooDINtC4core2FnTmEEp6OutputhEL_E"),
            "main::foo::<dyn core::Fn<(u32,), Output = u8>>");
}

TEST(DemangleRust, ReferencesLeadBack) {
  // B3_: the byte 4 after _R, where the crate is.
  EXPECT_EQ(plain("_RINvC4main3fooNtB2_3BarE"), "main::foo::<main::Bar>");
  EXPECT_EQ(plain("_RNvC4main3fooB_"), "main::foo") << "the instantiating crate is not shown";
  EXPECT_EQ(plain("_RB_"), "(not understood)");
  EXPECT_EQ(plain("_RNvB5_3foo"), "(not understood)");
}

TEST(DemangleRust, SuffixesOfTools) {
  EXPECT_EQ(plain("_RNvC4main3foo.llvm.123"), "main::foo (.llvm.123)");
}

TEST(DemangleRust, WhatIsNotOfTheFormIsNothing) {
  for (const char* name :
       {"", "_R", "main", "_ZN4main3fooE", "_R1NvC4main3foo", "_RNvC4main3fo", "_RNvC4main3foox",
        "_RNvC99999999999999999999999main3foo", "_RNvC04main3foo", "_RINvC4main3foom", "_RINvC4main3fooL0_E",
        "_RN1C4main3foo", "_RNvC4mainu5bch-r"}) {
    EXPECT_FALSE(demangled_rust(name)) << name;
  }
}

std::string base_62(size_t value) {
  constexpr char kDigits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  if (value-- == 0) return "_";
  std::string digits;
  do digits.insert(digits.begin(), kDigits[value % 62]);
  while ((value /= 62) > 0);
  return digits + "_";
}

// A tuple of two of what was before, so often: every one is twice as long as the one before.
std::string doubling(int times) {
  std::string name = "INvC1a1b";
  size_t last = name.size();
  name += "h";
  for (int i = 0; i < times; ++i) {
    const size_t here = name.size();
    name += "TB" + base_62(last) + "B" + base_62(last) + "E";
    last = here;
  }
  return "_R" + name + "E";
}

TEST(DemangleRust, NameThatWouldFillTheMemoryIsNotUnderstood) {
  EXPECT_EQ(plain(doubling(2)), "a::b::<u8, (u8, u8), ((u8, u8), (u8, u8))>");
  for (int times : {16, 40, 300}) EXPECT_FALSE(demangled_rust(doubling(times)));
  // Long without a reference, and deep.
  EXPECT_FALSE(demangled_rust("_RINvC1a1b" + std::string(100'000, 'S') + "hE"));
  EXPECT_TRUE(demangled_rust("_RINvC1a1b" + std::string(100, 'S') + "hE"));
}

}  // namespace
}  // namespace wago::base
