#include "base/demangle.h"

#include <gtest/gtest.h>

namespace wago::base {
namespace {

TEST(Demangle, CxxNamesArePlain) {
  EXPECT_EQ(demangled("_ZN3foo3barEi"), "foo::bar(int)");
  EXPECT_EQ(demangled("_ZNSt6vectorIiSaIiEE9push_backERKi"),
            "std::vector<int, std::allocator<int> >::push_back(int const&)");
}

TEST(Demangle, RustNamesLoseHashAndEscapes) {
  EXPECT_EQ(demangled("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE"), "core::fmt::Formatter::pad");
  EXPECT_EQ(demangled("_ZN4core3ptr42drop_in_place$LT$alloc..string..String$GT$17h0123456789abcdefE"),
            "core::ptr::drop_in_place<alloc::string::String>");
  EXPECT_EQ(
      demangled("_ZN60_$LT$alloc..string..String$u20$as$u20$core..fmt..Display$GT$3fmt17h0123456789abcdefE"),
      "<alloc::string::String as core::fmt::Display>::fmt");
  EXPECT_EQ(demangled("core::fmt::Formatter::pad::h0123456789abcdef"), "core::fmt::Formatter::pad");
}

TEST(Demangle, WhatIsNotMangledStays) {
  for (const char* name :
       {"", "main", "_Z", "_Znot", "$LT$", "::h0123456789abcdef", "a..b", "a::h0123456789ABCDEF"})
    EXPECT_EQ(demangled(name), name);
}

// f(P<int, int>, P<S0_, S0_>, P<S1_, S1_>, ...): every argument is twice as long as the one before.
std::string doubling(int times) {
  std::string name = "_Z1f1PIiiE";
  for (int i = 0; i < times; ++i) {
    const std::string last =
        i < 10 ? "S" + std::to_string(i) + "_" : std::string("S") + static_cast<char>('A' + i - 10) + "_";
    name += "S_I" + last + last + "E";
  }
  return name;
}

TEST(Demangle, NameThatWouldFillTheMemoryStays) {
  EXPECT_TRUE(demangled(doubling(4)).starts_with("f(P<int, int>, P<P<int, int>, P<int, int> >, "));
  for (int times : {16, 24, 30}) EXPECT_EQ(demangled(doubling(times)), doubling(times));
  const std::string long_name = "_Z" + std::string(kMaxMangledBytes, 'P');
  EXPECT_EQ(demangled(long_name), long_name);
}

}  // namespace
}  // namespace wago::base
