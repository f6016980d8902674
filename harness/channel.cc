#include "harness/channel.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

namespace wago::harness {

namespace {
constexpr uint32_t kMaxMessage = 64 << 20;
constexpr std::array<std::string_view, 3> kKinds = {"failed", "usage", "unmeasurable"};

using Translate = std::optional<std::string> (*)(const std::string&);

// Bytes as the characters U+0000..U+00FF, in UTF-8.
std::optional<std::string> characters(const std::string& bytes) {
  std::string text;
  for (unsigned char c : bytes) {
    if (c >= 0x80) text += static_cast<char>(0xc0 | c >> 6);
    text += static_cast<char>(c < 0x80 ? c : 0x80 | (c & 0x3f));
  }
  return text;
}

// And back; nothing: there are others among them.
std::optional<std::string> bytes_of(const std::string& text) {
  std::string bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned char c = static_cast<unsigned char>(text[i]);
    if (c >= 0x80) {
      if (c > 0xc3 || i + 1 == text.size()) return std::nullopt;
      c = static_cast<unsigned char>(c << 6 | (text[++i] & 0x3f));
    }
    bytes += static_cast<char>(c);
  }
  return bytes;
}

// The same value with every string in it translated.
std::optional<base::Json> translated(const base::Json& json, Translate translate) {
  if (json.is_string()) {
    auto text = translate(json.as_string());
    return text ? std::optional(base::Json(std::move(*text))) : std::nullopt;
  }
  if (json.is_array()) {
    base::Json array = base::Json::array();
    for (const base::Json& item : json.items()) {
      auto one = translated(item, translate);
      if (!one) return std::nullopt;
      array.push(std::move(*one));
    }
    return array;
  }
  if (json.is_object()) {
    base::Json object = base::Json::object();
    for (const auto& [key, value] : json.members()) {
      auto one = translated(value, translate);
      if (!one) return std::nullopt;
      object.append(key, std::move(*one));
    }
    return object;
  }
  return json;
}

}  // namespace

base::Result<std::pair<Channel, Channel>> Channel::make_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return base::failed(std::string("cannot make a socket: ") + std::strerror(errno));
  }
  return std::pair(Channel(base::Fd(ends[0])), Channel(base::Fd(ends[1])));
}

bool Channel::send(const base::Json& message) {
  std::string text = translated(message, characters)->dump();
  auto size = static_cast<uint32_t>(text.size());
  std::string frame(reinterpret_cast<const char*>(&size), sizeof size);
  frame += text;
  std::string_view rest = frame;
  while (!rest.empty()) {
    ssize_t sent = ::send(socket_.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    rest.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

bool Channel::fill() {
  // Not on the stack, which may be as small as the user's limit says.
  std::vector<char> chunk(65536);
  while (buffer_.size() <= kMaxMessage + sizeof(uint32_t)) {
    ssize_t got = ::recv(socket_.get(), chunk.data(), chunk.size(), MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
    if (got == 0) return false;
    buffer_.append(chunk.data(), static_cast<size_t>(got));
  }
  return true;
}

base::Result<std::optional<base::Json>> Channel::next() {
  using Message = std::optional<base::Json>;
  uint32_t size = 0;
  if (buffer_.size() < sizeof size) return Message();
  std::memcpy(&size, buffer_.data(), sizeof size);
  if (size > kMaxMessage) return base::failed("a message of " + std::to_string(size) + " bytes arrived");
  if (buffer_.size() - sizeof size < size) return Message();
  auto message = base::parse_json(std::string_view(buffer_).substr(sizeof size, size), "message",
                                  {.string_bytes = kMaxMessage});
  buffer_.erase(0, sizeof size + size);
  if (!message) return message.error();
  auto exact = translated(*message, bytes_of);
  if (!exact) return base::failed("a message with characters above U+00FF arrived");
  return exact;
}

base::Result<base::Json> Channel::receive() {
  bool open = true;
  while (true) {
    auto message = next();
    if (!message) return message.error();
    if (*message) return std::move(**message);
    if (!open) return base::failed("the other process is gone");
    pollfd poll_one{socket_.get(), POLLIN, 0};
    ::poll(&poll_one, 1, -1);
    open = fill();
  }
}

base::Json error_json(const base::Error& error) {
  base::Json offset;
  if (error.place.offset) offset = base::Json(*error.place.offset);
  return base::Json::object({{"kind", kKinds.at(static_cast<size_t>(error.kind))},
                             {"message", error.message},
                             {"file", error.place.file},
                             {"section", error.place.section},
                             {"offset", std::move(offset)},
                             {"json_path", error.place.json_path}});
}

base::Error read_error(base::JsonReader reader) {
  base::Error error;
  error.kind = static_cast<base::ErrorKind>(reader.word("kind", kKinds));
  error.message = reader.string("message");
  error.place.file = reader.string("file");
  error.place.section = reader.string("section");
  error.place.offset = reader.optional_u64("offset");
  error.place.json_path = reader.string("json_path");
  return error;
}

}  // namespace wago::harness
