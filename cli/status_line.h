// One line on a terminal, rewritten in place while something takes long.
#pragma once

#include <string_view>

namespace wago::cli {

class StatusLine {
 public:
  // `shown`: there is a terminal that wants it; otherwise nothing is ever written.
  explicit StatusLine(bool shown) : shown_(shown) {}
  ~StatusLine() { clear(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  bool shown() const { return shown_; }
  void show(std::string_view text);
  // Before anything else is written to the terminal.
  void clear();

 private:
  bool shown_;
  bool dirty_ = false;
};

}  // namespace wago::cli
