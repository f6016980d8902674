#include "cli/status_line.h"

#include <cstdio>

namespace wago::cli {

void StatusLine::show(std::string_view text) {
  if (!shown_) return;
  std::fprintf(stderr, "\r\x1b[K%.*s", static_cast<int>(text.size()), text.data());
  std::fflush(stderr);
  dirty_ = true;
}

void StatusLine::clear() {
  if (dirty_) std::fputs("\r\x1b[K", stderr);
  dirty_ = false;
}

}  // namespace wago::cli
