#include "runtime/type_registry.h"

#include <gtest/gtest.h>

#include <set>

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
  std::set<uint32_t> ids;
  for (const FuncType& type : types) {
    const uint32_t id = canonical_type_id(type);
    EXPECT_NE(id, 0u);
    EXPECT_EQ(canonical_type_id(FuncType(type)), id);
    EXPECT_EQ(canonical_type(id), type);
    ids.insert(id);
  }
  EXPECT_EQ(ids.size(), types.size());
}

}  // namespace
}  // namespace wago::runtime
