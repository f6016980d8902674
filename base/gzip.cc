#include <zlib.h>

#include <algorithm>

#include "base/files.h"

namespace wago::base {

namespace {
// windowBits of zlib for the gzip wrapper with the largest window.
constexpr int kGzipWindow = 15 + 16;
constexpr size_t kChunk = 1 << 16;

// Hands what the bytes inflate to, piece by piece, to `take`, until that says no; then, and where all went
// well, true.
template <class Take>
bool inflate_through(std::span<const uint8_t> bytes, Take take) {
  z_stream stream{};
  WAGO_CHECK(inflateInit2(&stream, kGzipWindow) == Z_OK);
  std::vector<uint8_t> piece(kChunk);
  size_t consumed = 0;
  int status = Z_OK;
  bool wanted = true;
  while (status == Z_OK && wanted) {
    // zlib counts in 32 bits.
    stream.next_in = const_cast<Bytef*>(bytes.data()) + consumed;
    stream.avail_in = static_cast<uInt>(std::min<size_t>(bytes.size() - consumed, 1u << 30));
    const uInt given = stream.avail_in;
    stream.next_out = piece.data();
    stream.avail_out = kChunk;
    status = inflate(&stream, Z_NO_FLUSH);
    consumed += given - stream.avail_in;
    wanted = take(std::span(piece).first(kChunk - stream.avail_out));
  }
  inflateEnd(&stream);
  return !wanted || (status == Z_STREAM_END && consumed == bytes.size());
}
}  // namespace

// Twice: a few bytes can inflate to any number, so they are counted before there is room for them.
Result<std::vector<uint8_t>> inflate_if_gzip(std::vector<uint8_t> bytes, uint64_t max_bytes,
                                             const std::string& name) {
  if (bytes.size() < 2 || bytes[0] != 0x1f || bytes[1] != 0x8b) return bytes;
  uint64_t size = 0;
  const bool whole = inflate_through(bytes, [&](std::span<const uint8_t> piece) {
    size += piece.size();
    return size <= max_bytes;
  });
  if (!whole) return usage_error("is gzip, but damaged or cut off", {.file = name});
  if (size > max_bytes) {
    return usage_error("inflates to more than the limit decoded_bytes (" + std::to_string(max_bytes) + ")",
                       {.file = name});
  }
  std::vector<uint8_t> out;
  out.reserve(size);
  WAGO_CHECK(inflate_through(bytes, [&](std::span<const uint8_t> piece) {
    out.insert(out.end(), piece.begin(), piece.end());
    return true;
  }));
  return out;
}

std::vector<uint8_t> gzip(std::span<const uint8_t> bytes) {
  z_stream stream{};
  WAGO_CHECK(deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) ==
             Z_OK);
  std::vector<uint8_t> out;
  size_t consumed = 0;
  int status = Z_OK;
  while (status != Z_STREAM_END) {
    stream.next_in = const_cast<Bytef*>(bytes.data()) + consumed;
    stream.avail_in = static_cast<uInt>(std::min<size_t>(bytes.size() - consumed, 1u << 30));
    uInt given = stream.avail_in;
    bool last = given == bytes.size() - consumed;
    size_t used = out.size();
    out.resize(used + kChunk);
    stream.next_out = out.data() + used;
    stream.avail_out = kChunk;
    status = deflate(&stream, last ? Z_FINISH : Z_NO_FLUSH);
    WAGO_CHECK(status != Z_STREAM_ERROR);
    consumed += given - stream.avail_in;
    out.resize(used + (kChunk - stream.avail_out));
  }
  deflateEnd(&stream);
  return out;
}

}  // namespace wago::base
