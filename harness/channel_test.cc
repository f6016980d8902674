#include "harness/channel.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <thread>

namespace wago::harness {
namespace {

using base::Json;

TEST(Channel, MessagesArriveWholeAndInOrder) {
  auto pair = Channel::make_pair();
  ASSERT_TRUE(pair);
  auto& [a, b] = *pair;
  Json large = Json::object({{"text", std::string(3'000'000, 'x')}});
  std::thread sender([&a = a, &large] {
    EXPECT_TRUE(a.send(Json::object({{"n", 1}})));
    EXPECT_TRUE(a.send(large));
  });
  EXPECT_EQ(b.receive()->find("n")->to_u64(), 1u);
  EXPECT_EQ(*b.receive(), large);
  sender.join();
}

TEST(Channel, EveryByteOfAStringArrives) {
  auto pair = Channel::make_pair();
  auto& [a, b] = *pair;
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  Json message = Json::object({{"path", all}, {"list", Json::array({all + all, "\xc3\xa9", 7, nullptr})}});
  ASSERT_TRUE(a.send(message));
  EXPECT_EQ(*b.receive(), message);
}

TEST(Channel, TheLastWordsOfTheOtherSideAreStillRead) {
  auto pair = Channel::make_pair();
  auto& [a, b] = *pair;
  ASSERT_TRUE(a.send(Json(7)));
  a.descriptor().reset();
  EXPECT_EQ(b.receive()->to_u64(), 7u);
  EXPECT_EQ(b.receive().error().message, "the other process is gone");
  EXPECT_FALSE(b.send(Json(8))) << "no signal, an answer";
}

TEST(Channel, NonsenseIsAnError) {
  auto nonsense = [](std::string bytes) {
    auto pair = Channel::make_pair();
    auto& [a, b] = *pair;
    EXPECT_EQ(::send(a.fd(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
    EXPECT_TRUE(b.fill());
    auto message = b.next();
    return message ? std::string(*message ? "message" : "nothing") : message.error().message;
  };
  EXPECT_EQ(nonsense("\xff\xff\xff\xff"), "a message of 4294967295 bytes arrived");
  EXPECT_EQ(nonsense(std::string("\x01\0\0\0{", 5)).rfind("not JSON", 0), 0u);
  EXPECT_EQ(nonsense(std::string("\x02\0\0\0{", 5)), "nothing");
  EXPECT_EQ(nonsense("\x02"), "nothing");
  EXPECT_EQ(nonsense(std::string("\x04\0\0\0\"\xc4\x80\"", 8)),
            "a message with characters above U+00FF arrived");
}

TEST(Channel, ErrorsSurviveTheTrip) {
  base::Error error =
      base::usage_error("message", {.file = "f", .section = "code section", .offset = 7, .json_path = "p"});
  Json json = error_json(error);
  base::Error back = read_error(base::JsonReader(json, "test"));
  EXPECT_EQ(back.kind, error.kind);
  EXPECT_EQ(back.to_string(), error.to_string());
  Json plain = error_json(base::failed("x"));
  EXPECT_FALSE(read_error(base::JsonReader(plain, "test")).place.offset);
}

}  // namespace
}  // namespace wago::harness
