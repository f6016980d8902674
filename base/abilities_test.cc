#include "base/abilities.h"

#include <gtest/gtest.h>

namespace wago::base {
namespace {

TEST(Abilities, WhatIsAvailableIsAmongTheWords) {
  EXPECT_TRUE(is_available(Backend::None));
  size_t available = 0;
  for (size_t i = 0; i < spellings<Backend>().size(); ++i) available += is_available(static_cast<Backend>(i));
  EXPECT_EQ(available_backends().size(), available);
  for (std::string_view word : available_backends()) EXPECT_TRUE(is_available(*parse<Backend>(word))) << word;
}

TEST(Abilities, WhatIsMissingIsNamedWithWhatIsThere) {
  EXPECT_EQ(not_available(Backend::Samply).rfind("backend samply is not available in this version; none", 0),
            0u);
}

}  // namespace
}  // namespace wago::base
