#include "base/abilities.h"

#include <algorithm>
#include <array>
#include <vector>

namespace wago::base {

namespace {

constexpr std::array kAvailableBackends = {
#define WAGO_AVAILABLE_BACKEND(name) Backend::name,
#include "base/abilities.def"
};

}  // namespace

bool is_available(Backend backend) {
  return std::ranges::find(kAvailableBackends, backend) != kAvailableBackends.end();
}

bool samples(Backend backend) {
  return backend == Backend::Pprof || backend == Backend::Guest || backend == Backend::Perf ||
         backend == Backend::Samply;
}

std::span<const std::string_view> available_backends() {
  static const std::vector<std::string_view> words = [] {
    std::vector<std::string_view> spelled;
    for (Backend backend : kAvailableBackends) spelled.push_back(spelling(backend));
    return spelled;
  }();
  return words;
}

std::string not_available(Backend backend) {
  const auto words = available_backends();
  return "backend " + std::string(spelling(backend)) + " is not available in this version; " + join(words) +
         (words.size() == 1 ? " is" : " are");
}

}  // namespace wago::base
