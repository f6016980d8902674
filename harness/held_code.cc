#include "harness/held_code.h"

#include <functional>
#include <string_view>
#include <vector>

#include "runtime/code_image.h"
#include "runtime/module.h"

namespace wago::harness {

namespace {

// The same object, or equal ones.
template <class T, class Equal>
bool is_same(const std::shared_ptr<T>& a, const std::shared_ptr<T>& b, Equal equal) {
  return a == b || (a && b && equal(*a, *b));
}

}  // namespace

HeldCode hold(const runtime::MappedCode& code) {
  return {code.shared_image(), code.shared_module(), code.signature(), code.debug_info()};
}

bool is_same_code(const HeldCode& a, const HeldCode& b) {
  auto equal_bytes = [](const auto& x, const auto& y) { return x.bytes == y.bytes; };
  return is_same(a.signature, b.signature, std::equal_to<FuncType>()) &&
         is_same(a.image, b.image, equal_bytes) && is_same(a.module, b.module, equal_bytes);
}

size_t hash_of(const HeldCode& code) {
  const std::vector<uint8_t>& bytes = code.image->bytes;
  return std::hash<std::string_view>()({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace wago::harness
