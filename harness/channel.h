// Messages between a recorder and its child: JSON documents, each after its length as 32 bits, over a stream
// socket. The child may be anything by the time it writes, so what it sends is limited and checked like a
// stranger's file.
//
// Strings of messages are bytes - paths need not be UTF-8 - and arrive as they were sent: on the way each
// byte is the character of its number.
#pragma once

#include <optional>
#include <string>

#include "base/json.h"
#include "base/process.h"
#include "base/result.h"

namespace wago::harness {

class Channel {
 public:
  explicit Channel(base::Fd socket) : socket_(std::move(socket)) {}
  // A connected pair, both closed on exec.
  static base::Result<std::pair<Channel, Channel>> make_pair();

  int fd() const { return socket_.get(); }
  base::Fd& descriptor() { return socket_; }

  // False: the other side is gone.
  bool send(const base::Json& message);
  // Takes what has arrived without waiting. False: the other side is gone and everything was taken.
  bool fill();
  // The next message that has arrived in full; nothing: none has. Errors: not a message.
  base::Result<std::optional<base::Json>> next();
  // Waits for a message; an error when the other side is gone.
  base::Result<base::Json> receive();

 private:
  base::Fd socket_;
  std::string buffer_;
};

// An error as a message, and back.
base::Json error_json(const base::Error& error);
base::Error read_error(base::JsonReader reader);

}  // namespace wago::harness
