#include "data/bytes/codecs.hpp"

#include <algorithm>
#include <array>

#include <sheaf/error.hpp>

#if SHEAF_GZIP
#include <zlib.h>
#endif

namespace sheaf {

#if SHEAF_GZIP
namespace {

constexpr int gzip_window = 15 + 16;  // the largest window, and gzip's frame

class Inflater {
 public:
  Inflater() { require(inflateInit2(&stream_, gzip_window) == Z_OK, "zlib could not be started"); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { inflateEnd(&stream_); }

  /// One member from the front of `bytes`, which shrinks.
  void member(std::string_view& bytes, const std::string& file, Stage& stage, ByteBuffer& to) {
    inflateReset(&stream_);
    for (int status = Z_OK; status != Z_STREAM_END;) {
      if (bytes.empty()) fail_compressed(file, "gzip", "the file is cut short");
      const auto given = static_cast<uInt>(std::min<std::size_t>(bytes.size(), codec_block));
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
      stream_.avail_in = given;
      status = fill(to);
      if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
        fail_compressed(file, "gzip", stream_.msg != nullptr ? stream_.msg : "the data are damaged");
      bytes.remove_prefix(given - stream_.avail_in);
      stage.advance(given - stream_.avail_in);
    }
  }

 private:
  /// Turns what was given into output, as long as some comes.
  int fill(ByteBuffer& to) {
    int status = Z_OK;
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(to.room(codec_block));
      const auto room = static_cast<uInt>(std::min<std::int64_t>(to.free_bytes(), 1 << 30));
      stream_.avail_out = room;
      status = inflate(&stream_, Z_NO_FLUSH);
      to.written(room - stream_.avail_out);
    } while (status == Z_OK && stream_.avail_out == 0);
    return status;
  }

  z_stream stream_{};
};

class Deflater : public Sink {
 public:
  explicit Deflater(Sink& to) : to_(to) {
    require(deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip_window, 8, Z_DEFAULT_STRATEGY) == Z_OK,
            "zlib could not be started");
  }
  ~Deflater() override { deflateEnd(&stream_); }

  void write(std::string_view bytes) override {
    while (!bytes.empty()) {
      const std::string_view block = bytes.substr(0, codec_block);
      push(block, Z_NO_FLUSH);
      bytes.remove_prefix(block.size());
    }
  }
  void finish() override { push({}, Z_FINISH); }

 private:
  void push(std::string_view block, int flush) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(block.data()));
    stream_.avail_in = static_cast<uInt>(block.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(out_.data());
      stream_.avail_out = static_cast<uInt>(out_.size());
      deflate(&stream_, flush);
      to_.write({out_.data(), out_.size() - stream_.avail_out});
    } while (stream_.avail_out == 0);
  }

  Sink& to_;
  z_stream stream_{};
  std::array<char, codec_block> out_{};
};

}  // namespace

void gzip_decompress(std::string_view bytes, const std::string& file, Stage& stage, ByteBuffer& to) {
  constexpr std::string_view magic = "\x1f\x8b";
  Inflater inflater;
  do {
    inflater.member(bytes, file, stage, to);
  } while (bytes.starts_with(magic));
  // Some programs fill up with zeros behind the last member.
  if (bytes.find_first_not_of('\0') != std::string_view::npos)
    fail_compressed(file, "gzip", "something else stands behind the compressed data");
}

std::unique_ptr<Sink> gzip_compress(Sink& to) { return std::make_unique<Deflater>(to); }

#else

void gzip_decompress(std::string_view, const std::string&, Stage&, ByteBuffer&) {
  fail_without_library("gzip", "zlib");
}
std::unique_ptr<Sink> gzip_compress(Sink&) { fail_without_library("gzip", "zlib"); }

#endif

}  // namespace sheaf
