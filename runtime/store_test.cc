#include "runtime/store.h"

#include <gtest/gtest.h>

namespace wago::runtime {
namespace {

struct Counted final : StoreMember {
  explicit Counted(int* counter) : alive(counter) { ++*alive; }
  ~Counted() override { --*alive; }
  int* alive;
};

class StoreTest : public ::testing::Test {
 protected:
  std::shared_ptr<Store> store_with_member(Store::Kind kind = Store::Kind::Linked) {
    auto store = std::make_shared<Store>(kind);
    members_.push_back(store->add(std::make_unique<Counted>(&alive_)));
    return store;
  }
  int alive_ = 0;
  std::vector<Counted*> members_;
};

TEST_F(StoreTest, LinkedStoresLiveUntilTheLastHandleToAnyOfThem) {
  auto a = store_with_member(), b = store_with_member(), c = store_with_member();
  a->link(b);
  b->link(c);
  EXPECT_EQ(members_[0]->store(), members_[2]->store());
  a.reset();
  c.reset();
  EXPECT_EQ(alive_, 3);
  b.reset();
  EXPECT_EQ(alive_, 0);
}

TEST_F(StoreTest, LinkingInACycleLeaksNothing) {
  auto a = store_with_member(), b = store_with_member();
  a->link(b);
  b->link(a);
  a->link(a);
  a.reset();
  EXPECT_EQ(alive_, 2);
  b.reset();
  EXPECT_EQ(alive_, 0);
}

TEST_F(StoreTest, MembersAddedThroughAMergedStoreBelongToTheWhole) {
  auto a = store_with_member(), b = store_with_member();
  a->link(b);
  auto c = b;
  Counted* late = b->add(std::make_unique<Counted>(&alive_));
  EXPECT_EQ(late->store(), members_[0]->store());
  b.reset();
  c.reset();
  EXPECT_EQ(alive_, 3);
  a.reset();
  EXPECT_EQ(alive_, 0);
}

TEST_F(StoreTest, HostFunctionsAreSharedWithoutLinkingTheirUsers) {
  auto host = store_with_member(Store::Kind::Host);
  auto a = store_with_member(), b = store_with_member();
  a->link(host);
  a->link(host);
  b->link(host);
  host.reset();
  EXPECT_EQ(alive_, 3);
  a.reset();
  EXPECT_EQ(alive_, 2);
  b.reset();
  EXPECT_EQ(alive_, 0);
}

TEST_F(StoreTest, AMergedStoreKeepsTheHostFunctionsOfBoth) {
  auto first = store_with_member(Store::Kind::Host), second = store_with_member(Store::Kind::Host);
  auto a = store_with_member(), b = store_with_member();
  a->link(first);
  b->link(second);
  b->link(first);
  a->link(b);
  first.reset();
  second.reset();
  b.reset();
  EXPECT_EQ(alive_, 4);
  a.reset();
  EXPECT_EQ(alive_, 0);
}

TEST_F(StoreTest, ManyLinksStayShallow) {
  std::vector<std::shared_ptr<Store>> stores;
  for (int i = 0; i < 100000; ++i) stores.push_back(store_with_member());
  for (size_t i = 1; i < stores.size(); ++i) stores[i]->link(stores[i - 1]);
  stores.erase(stores.begin(), stores.end() - 1);
  EXPECT_EQ(alive_, 100000);
  stores.clear();
  EXPECT_EQ(alive_, 0);
}

}  // namespace
}  // namespace wago::runtime
