#include <zlib.h>

#include <algorithm>

#include "base/files.h"

namespace wago::base {

namespace {
// windowBits of zlib for the gzip wrapper with the largest window.
constexpr int kGzipWindow = 15 + 16;
constexpr size_t kChunk = 1 << 16;

Error damaged(const std::string& name) {
  return usage_error("is gzip, but damaged or cut off", {.file = name});
}
}  // namespace

Result<std::vector<uint8_t>> inflate_if_gzip(std::vector<uint8_t> bytes, uint64_t max_bytes,
                                             const std::string& name) {
  if (bytes.size() < 2 || bytes[0] != 0x1f || bytes[1] != 0x8b) return bytes;
  z_stream stream{};
  WAGO_CHECK(inflateInit2(&stream, kGzipWindow) == Z_OK);
  std::vector<uint8_t> out;
  size_t consumed = 0;
  int status = Z_OK;
  while (status == Z_OK) {
    // zlib counts in 32 bits.
    stream.next_in = bytes.data() + consumed;
    stream.avail_in = static_cast<uInt>(std::min<size_t>(bytes.size() - consumed, 1u << 30));
    uInt given = stream.avail_in;
    size_t used = out.size();
    out.resize(used + std::max(kChunk, used / 2));
    stream.next_out = out.data() + used;
    stream.avail_out = static_cast<uInt>(std::min<size_t>(out.size() - used, 1u << 30));
    uInt room = stream.avail_out;
    status = inflate(&stream, Z_NO_FLUSH);
    consumed += given - stream.avail_in;
    out.resize(used + (room - stream.avail_out));
    if (out.size() > max_bytes) {
      inflateEnd(&stream);
      return usage_error("inflates to more than the limit decoded_bytes (" + std::to_string(max_bytes) + ")",
                         {.file = name});
    }
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END || consumed != bytes.size()) return damaged(name);
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
