#include "data/bytes/codecs.hpp"

#include <array>

#if SHEAF_XZ
#include <lzma.h>

#include "core/fail.hpp"
#endif

namespace sheaf {

#if SHEAF_XZ
namespace {

std::string_view describe(lzma_ret status) {
  switch (status) {
    case LZMA_BUF_ERROR:
      return "the file is cut short";
    case LZMA_MEMLIMIT_ERROR:
      return "decompressing it takes more than the memory budget; give a larger --memory";
    case LZMA_MEM_ERROR:
      return "there is not enough memory";
    case LZMA_OPTIONS_ERROR:
      return "it uses options this version of liblzma does not know";
    case LZMA_FORMAT_ERROR:
      return "something else stands behind the compressed data";
    default:
      return "the data are damaged";
  }
}

/// Ends the stream on every way out.
struct LzmaStream {
  LzmaStream() = default;
  LzmaStream(const LzmaStream&) = delete;
  LzmaStream& operator=(const LzmaStream&) = delete;
  ~LzmaStream() { lzma_end(&stream); }
  lzma_stream stream = LZMA_STREAM_INIT;
};

class XzCompressor : public Sink {
 public:
  explicit XzCompressor(Sink& to) : to_(to) {
    require(lzma_easy_encoder(&lzma_.stream, LZMA_PRESET_DEFAULT, LZMA_CHECK_CRC64) == LZMA_OK,
            "liblzma could not be started");
  }
  void write(std::string_view bytes) override {
    lzma_.stream.next_in = reinterpret_cast<const std::uint8_t*>(bytes.data());
    lzma_.stream.avail_in = bytes.size();
    while (lzma_.stream.avail_in > 0) push(LZMA_RUN);
  }
  void finish() override {
    while (push(LZMA_FINISH) != LZMA_STREAM_END) {
    }
  }

 private:
  lzma_ret push(lzma_action action) {
    lzma_.stream.next_out = reinterpret_cast<std::uint8_t*>(out_.data());
    lzma_.stream.avail_out = out_.size();
    const lzma_ret status = lzma_code(&lzma_.stream, action);
    if (status != LZMA_OK && status != LZMA_STREAM_END) fail("xz compression failed: {}", describe(status));
    to_.write({out_.data(), out_.size() - lzma_.stream.avail_out});
    return status;
  }

  Sink& to_;
  LzmaStream lzma_;
  std::array<char, codec_block> out_{};
};

}  // namespace

void xz_decompress(std::string_view bytes, const std::string& file, Stage& stage, ByteBuffer& to) {
  LzmaStream lzma;
  lzma_stream& stream = lzma.stream;
  require(lzma_stream_decoder(&stream, static_cast<std::uint64_t>(to.most()), LZMA_CONCATENATED) == LZMA_OK,
          "liblzma could not be started");
  for (lzma_ret status = LZMA_OK; status != LZMA_STREAM_END;) {
    const std::string_view block = bytes.substr(0, codec_block);
    const bool last = block.size() == bytes.size();
    stream.next_in = reinterpret_cast<const std::uint8_t*>(block.data());
    stream.avail_in = block.size();
    stream.next_out = reinterpret_cast<std::uint8_t*>(to.room(codec_block));
    const auto room = static_cast<std::size_t>(to.free_bytes());
    stream.avail_out = room;
    status = lzma_code(&stream, last ? LZMA_FINISH : LZMA_RUN);
    to.written(static_cast<std::int64_t>(room - stream.avail_out));
    if (status != LZMA_OK && status != LZMA_STREAM_END) fail_compressed(file, "xz", describe(status));
    const std::size_t used = block.size() - stream.avail_in;
    bytes.remove_prefix(used);
    stage.advance(static_cast<std::int64_t>(used));
  }
}

std::unique_ptr<Sink> xz_compress(Sink& to) { return std::make_unique<XzCompressor>(to); }

#else

void xz_decompress(std::string_view, const std::string&, Stage&, ByteBuffer&) { fail_without_library("xz", "liblzma"); }
std::unique_ptr<Sink> xz_compress(Sink&) { fail_without_library("xz", "liblzma"); }

#endif

}  // namespace sheaf
