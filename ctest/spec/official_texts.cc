#include "ctest/spec/official_texts.h"

namespace wago::spec {

namespace {

struct Row {
  std::string_view assertion;
  std::string_view official;
  std::string_view fact;
};

constexpr Row kRows[] = {
#define WAGO_TEXT(assertion, official, fact) {assertion, official, fact},
#include "ctest/spec/official_texts.def"
};

}  // namespace

std::string difference_in_meaning(std::string_view assertion, std::string_view official,
                                  std::string_view message) {
  for (const Row& row : kRows) {
    if (row.assertion != assertion || row.official != official) continue;
    if (message.find(row.fact) != std::string_view::npos) return {};
    return "said \"" + std::string(message) + "\", which does not state \"" + std::string(row.fact) +
           "\"; the suite says \"" + std::string(official) + "\"";
  }
  return "official_texts.def has no row for the suite's \"" + std::string(official) + "\" of " +
         std::string(assertion);
}

}  // namespace wago::spec
