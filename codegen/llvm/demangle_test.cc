// Our reader of Rust's linkage names, which builds without LLVM, against LLVM's.
#include <gtest/gtest.h>
#include <llvm/Demangle/Demangle.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "base/demangle_rust.h"

namespace wago::codegen {
namespace {

constexpr const char* kNames[] = {
    "_RNvC6_123foo3bar",
    "_RNvNtNtCs1_4wasm3sub4deep3run",
    "_RNSNvC4main3runs0_6vtable",
    "_RNCNCNgCs1_2cc5spawn00B5_",
    "_RNvXs_C4mainNtC4main3FooNtC4core5Clone5clone",
    "_RNqCs1_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y",
    "_RNCINkXs25_NgCs1_4core5sliceINyB9_4IterhENuNgNoBb_4iter8iterator8Iterator9rposition"
    "NCNgNpB9_6memchr7memrchrs_0E0Bb_",
    "_RINvC4main3fooRePhOiQhSeAhj10_TEThETmhEE",
    "_RINvC4main3fooKhb_Kanb_Kb0_Kb1_Kc76_Kc27_Kc3b1_KpE",
    "_RINvC4main3fooKyffffffffffffffff_Ko10000000000000000_E",
    "_RINvC4main3fooFUKCmEhFK6systemEuFEzFG0_RL1_hRL0_hEuE",
    "_RINvC4main3fooDNtC4core5CloneNtC4core4SendEL_DINtC4core2FnTmEEp6OutputhEL_E",
    "_RNvC4main3foo.llvm.123",
};

// LLVM accepts a little more: signs of unsigned constants, and references that lead nowhere where nothing is
// shown.
void expect_agreement(const std::string& name, size_t& understood) {
  const auto ours = base::demangled_rust(name);
  if (!ours) return;
  const std::unique_ptr<char, decltype(&std::free)> theirs(llvm::rustDemangle(name), &std::free);
  ASSERT_TRUE(theirs) << name;
  EXPECT_EQ(*ours, theirs.get()) << name;
  ++understood;
}

TEST(DemangleRust, MeansWhatLlvmSays) {
  size_t understood = 0;
  for (const std::string name : kNames) expect_agreement(name, understood);
  EXPECT_EQ(understood, std::size(kNames));
}

TEST(DemangleRust, MeansWhatLlvmSaysOfDamagedNames) {
  size_t understood = 0;
  for (const std::string name : kNames) {
    for (size_t at = 2; at < name.size(); ++at) {
      for (char c : std::string_view("0179_aehmpstuxzABCDEFGIKLMNOPQRSTXY.")) {
        std::string damaged = name;
        damaged[at] = c;
        expect_agreement(damaged, understood);
        damaged.insert(at + 1, 1, name[at]);
        expect_agreement(damaged, understood);
      }
      expect_agreement(std::string(name).erase(at, 1), understood);
    }
  }
  EXPECT_GT(understood, 2000u);
}

}  // namespace
}  // namespace wago::codegen
