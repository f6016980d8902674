#include "base/abilities.h"

#include <gtest/gtest.h>

namespace wago::base {
namespace {

TEST(Abilities, BackendsSampleOrDoNot) {
  for (Backend backend : {Backend::Pprof, Backend::Guest, Backend::Perf, Backend::Samply}) {
    EXPECT_TRUE(samples(backend)) << spelling(backend);
  }
  for (Backend backend : {Backend::None, Backend::Count, Backend::PerfMap}) {
    EXPECT_FALSE(samples(backend)) << spelling(backend);
  }
}

}  // namespace
}  // namespace wago::base
