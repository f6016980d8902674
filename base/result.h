// The channel for bad input: a value, or one clear sentence with its place.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/check.h"

namespace wago::base {

// What went wrong, in terms of the documented exit codes (see exit_code()).
enum class ErrorKind : uint8_t {
  Failed,        // it ran and failed: invalid module, wrong result, failed capture
  Usage,         // used wrongly, unreadable input, output that exists, contracts that differ
  Unmeasurable,  // cannot be measured here: collector missing or not permitted, environment invalid
};

// Where it went wrong. Empty parts are left out of the sentence.
struct Place {
  std::string file;                // as the user named it
  std::string section;             // wasm section ("code section"), or the like
  std::optional<uint64_t> offset;  // bytes from the start of the file
  std::string json_path;           // "workloads[3].calls[0].want"
};

struct [[nodiscard]] Error {
  ErrorKind kind = ErrorKind::Failed;
  std::string message;  // one sentence without a final full stop; names the cure where there is one
  Place place;

  Error() = default;
  Error(ErrorKind k, std::string m, Place p = {}) : kind(k), message(std::move(m)), place(std::move(p)) {}

  // "fib.wasm: code section at offset 0x2a: message"
  std::string to_string() const;
};

inline Error failed(std::string message, Place place = {}) {
  return Error(ErrorKind::Failed, std::move(message), std::move(place));
}
inline Error usage_error(std::string message, Place place = {}) {
  return Error(ErrorKind::Usage, std::move(message), std::move(place));
}
inline Error unmeasurable(std::string message, Place place = {}) {
  return Error(ErrorKind::Unmeasurable, std::move(message), std::move(place));
}

// 1, 2 or 5.
int exit_code(ErrorKind kind);

// A T or an Error. Asking for the one that is not there is our own mistake and checks.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & {
    WAGO_CHECK_MSG(ok(), ok() ? nullptr : std::get<1>(state_).message.c_str());
    return std::get<0>(state_);
  }
  const T& value() const& {
    WAGO_CHECK_MSG(ok(), ok() ? nullptr : std::get<1>(state_).message.c_str());
    return std::get<0>(state_);
  }
  T&& value() && { return std::move(value()); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(value()); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  Error& error() {
    WAGO_CHECK(!ok());
    return std::get<1>(state_);
  }
  const Error& error() const {
    WAGO_CHECK(!ok());
    return std::get<1>(state_);
  }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  Error& error() {
    WAGO_CHECK(!ok());
    return *error_;
  }
  const Error& error() const {
    WAGO_CHECK(!ok());
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

}  // namespace wago::base
