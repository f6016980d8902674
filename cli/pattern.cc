#include "cli/pattern.h"

#include <regex.h>

namespace wago::cli {

struct Pattern::Compiled {
  regex_t expression{};
  bool good = false;
  ~Compiled() {
    if (good) regfree(&expression);
  }
};

base::Result<Pattern> Pattern::compile(std::string_view flag, const std::string& expression) {
  auto compiled = std::make_shared<Compiled>();
  if (const int code = regcomp(&compiled->expression, expression.c_str(), REG_EXTENDED | REG_NOSUB)) {
    char reason[128];
    regerror(code, &compiled->expression, reason, sizeof reason);
    return base::usage_error(std::string(flag) + ": '" + expression +
                             "' is no regular expression: " + reason);
  }
  compiled->good = true;
  return Pattern(std::move(compiled));
}

bool Pattern::matches(const std::string& text) const {
  return regexec(&compiled_->expression, text.c_str(), 0, nullptr, 0) == 0;
}

}  // namespace wago::cli
