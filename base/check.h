// Checks for our own mistakes: on in every build, never for bad input (that is Result's) and never for
// WebAssembly behaviour (that is Trap's).
#pragma once

namespace wago::base {

// Prints "file:line: check failed: condition (detail)" and whatever the innermost CheckContext adds, then
// aborts.
[[noreturn]] void check_failed(const char* file, int line, const char* condition, const char* detail);

// While alive, `describe(state)` is called by a failing check on this thread, so that a failure inside a
// compiler pass can name the pass and print its IR. Nests; the innermost prints first.
class CheckContext {
 public:
  using Describe = void (*)(void* state);
  CheckContext(Describe describe, void* state);
  ~CheckContext();
  CheckContext(const CheckContext&) = delete;
  CheckContext& operator=(const CheckContext&) = delete;

 private:
  friend void check_failed(const char*, int, const char*, const char*);
  Describe describe_;
  void* state_;
  CheckContext* outer_;
};

}  // namespace wago::base

#define WAGO_CHECK(condition)                        \
  (__builtin_expect(static_cast<bool>(condition), 1) \
       ? static_cast<void>(0)                        \
       : ::wago::base::check_failed(__FILE__, __LINE__, #condition, nullptr))
#define WAGO_CHECK_MSG(condition, detail)            \
  (__builtin_expect(static_cast<bool>(condition), 1) \
       ? static_cast<void>(0)                        \
       : ::wago::base::check_failed(__FILE__, __LINE__, #condition, detail))
#define WAGO_UNREACHABLE(detail) ::wago::base::check_failed(__FILE__, __LINE__, "unreachable", detail)
