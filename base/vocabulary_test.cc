#include "base/vocabulary.h"

#include <gtest/gtest.h>

namespace wago::base {
namespace {

TEST(Vocabulary, EveryWordParsesBackToItself) {
  for (auto word : spellings<TrapCode>()) EXPECT_EQ(spelling(parse<TrapCode>(word).value()), word);
  for (auto word : spellings<Phase>()) EXPECT_EQ(spelling(parse<Phase>(word).value()), word);
  for (auto word : spellings<Mode>()) EXPECT_EQ(spelling(parse<Mode>(word).value()), word);
  for (auto word : spellings<Backend>()) EXPECT_EQ(spelling(parse<Backend>(word).value()), word);
  for (auto word : spellings<Bounds>()) EXPECT_EQ(spelling(parse<Bounds>(word).value()), word);
}

TEST(Vocabulary, EnumeratorsAndSpellingsAgree) {
  EXPECT_EQ(spelling(TrapCode::Host), "host");
  EXPECT_EQ(sentence(TrapCode::Unreachable), "unreachable instruction executed");
  EXPECT_EQ(spelling(Phase::All), "all");
  EXPECT_EQ(spelling(Backend::Samply), "samply");
  EXPECT_EQ(spelling(Bounds::Explicit), "explicit");
}

TEST(Vocabulary, UnknownWordIsNothing) {
  EXPECT_FALSE(parse<Phase>("exec").has_value());
}

}  // namespace
}  // namespace wago::base
