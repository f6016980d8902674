#include "base/sha256.h"

#include <gtest/gtest.h>

#include <vector>

namespace wago::base {
namespace {

std::string hex_of(std::string_view text) {
  Sha256 hash;
  hash.update(text);
  return to_hex(hash.finish());
}

// FIPS 180-4 examples and NIST's long message.
TEST(Sha256, PublishedVectors) {
  EXPECT_EQ(hex_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hex_of(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesOfAnySizeGiveTheSameDigest) {
  std::vector<uint8_t> bytes(300);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 7);
  Digest whole = sha256(bytes);
  for (size_t piece : {1u, 3u, 63u, 64u, 65u, 127u}) {
    Sha256 hash;
    for (size_t at = 0; at < bytes.size(); at += piece) {
      hash.update(std::span(bytes).subspan(at, std::min(piece, bytes.size() - at)));
    }
    EXPECT_EQ(hash.finish(), whole) << piece;
  }
}

TEST(Sha256, HexadecimalDigestsParseBackOrNotAtAll) {
  Digest digest = sha256({});
  EXPECT_EQ(parse_digest(to_hex(digest)), digest);
  EXPECT_FALSE(parse_digest(""));
  EXPECT_FALSE(parse_digest(to_hex(digest) + "0"));
  EXPECT_FALSE(parse_digest(std::string(63, '0') + "g"));
}

}  // namespace
}  // namespace wago::base
