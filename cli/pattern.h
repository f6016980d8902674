// A regular expression that the user wrote, for names that strangers wrote: POSIX extended, matched without
// recursion by the C library.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace wago::cli {

class Pattern {
 public:
  // The error (Usage) names the flag and what is wrong.
  static base::Result<Pattern> compile(std::string_view flag, const std::string& expression);
  // Anywhere in `text`.
  bool matches(const std::string& text) const;

 private:
  struct Compiled;
  explicit Pattern(std::shared_ptr<Compiled> compiled) : compiled_(std::move(compiled)) {}
  std::shared_ptr<Compiled> compiled_;
};

}  // namespace wago::cli
