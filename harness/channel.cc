#include "harness/channel.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace wago::harness {

namespace {
constexpr uint32_t kMaxMessage = 64 << 20;
constexpr std::array<std::string_view, 3> kKinds = {"failed", "usage", "unmeasurable"};
}  // namespace

base::Result<std::pair<Channel, Channel>> Channel::make_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return base::failed(std::string("cannot make a socket: ") + std::strerror(errno));
  }
  return std::pair(Channel(base::Fd(ends[0])), Channel(base::Fd(ends[1])));
}

bool Channel::send(const base::Json& message) {
  std::string text = message.dump();
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
  char chunk[65536];
  while (buffer_.size() <= kMaxMessage + sizeof(uint32_t)) {
    ssize_t got = ::recv(socket_.get(), chunk, sizeof chunk, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
    if (got == 0) return false;
    buffer_.append(chunk, static_cast<size_t>(got));
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
  return Message(std::move(*message));
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
