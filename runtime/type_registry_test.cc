#include "runtime/type_registry.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

namespace wago::runtime {
namespace {

TEST(TypeRegistry, EqualSignaturesShareAnIdAndOthersDoNot) {
  const std::vector<FuncType> types = {
      {},
      {{ValueType::I32}, {}},
      {{}, {ValueType::I32}},
      {{ValueType::I32, ValueType::I64}, {}},
      {{ValueType::I32}, {ValueType::I64}},
      {{ValueType::FuncRef}, {ValueType::ExternRef}},
  };
  std::vector<std::shared_ptr<const CanonicalType>> held;
  std::set<uint32_t> ids;
  for (const FuncType& type : types) {
    held.push_back(canonical_type(type));
    EXPECT_NE(held.back()->id, 0u);
    EXPECT_EQ(held.back()->type, type);
    EXPECT_EQ(canonical_type(FuncType(type)), held.back());
    ids.insert(held.back()->id);
  }
  EXPECT_EQ(ids.size(), types.size());
}

TEST(TypeRegistry, WhatNobodyHoldsIsForgottenAndItsNumberGivenAgain) {
  const size_t before = canonical_types();
  const FuncType type = {{ValueType::F64, ValueType::F64, ValueType::F64}, {}};
  uint32_t id = 0;
  {
    auto held = canonical_type(type);
    id = held->id;
    EXPECT_EQ(canonical_types(), before + 1);
    EXPECT_NE(canonical_type({{}, type.params})->id, id);
  }
  EXPECT_EQ(canonical_types(), before);
  auto another = canonical_type({{ValueType::ExternRef, ValueType::F64}, {}});
  auto third = canonical_type({{ValueType::ExternRef, ValueType::F32}, {}});
  EXPECT_TRUE(another->id == id || third->id == id);
}

TEST(TypeRegistry, ThreadsThatRegisterAndForgetTheSameOneNeverSeeTwo) {
  const size_t before = canonical_types();
  const FuncType type = {{ValueType::V128, ValueType::V128}, {ValueType::V128}};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 2000; ++round) {
        auto first = canonical_type(type);
        auto second = canonical_type(type);
        ASSERT_EQ(first, second);
        ASSERT_EQ(first->type, type);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(canonical_types(), before);
}

}  // namespace
}  // namespace wago::runtime
