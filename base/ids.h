// Typed index ids: a `ValueId` cannot be passed where a `BlockId` is meant, and each has a reserved invalid
// value.
#pragma once

#include <cstdint>
#include <functional>

namespace wago::base {

template <class Tag>
class Id {
 public:
  constexpr Id() = default;  // invalid
  constexpr explicit Id(uint32_t index) : index_(index) {}
  constexpr uint32_t index() const { return index_; }
  constexpr bool valid() const { return index_ != kInvalid; }
  constexpr explicit operator bool() const { return valid(); }
  friend constexpr bool operator==(Id a, Id b) { return a.index_ == b.index_; }
  friend constexpr bool operator!=(Id a, Id b) { return a.index_ != b.index_; }
  friend constexpr bool operator<(Id a, Id b) { return a.index_ < b.index_; }

 private:
  static constexpr uint32_t kInvalid = ~uint32_t{0};
  uint32_t index_ = kInvalid;
};

}  // namespace wago::base

template <class Tag>
struct std::hash<wago::base::Id<Tag>> {
  size_t operator()(wago::base::Id<Tag> id) const noexcept { return id.index(); }
};
