#include "data/bytes/codecs.hpp"

#include <array>

#if SHEAF_ZSTD
#include <zstd.h>

#include "core/fail.hpp"
#endif

namespace sheaf {

#if SHEAF_ZSTD
namespace {

struct Free {
  void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
  void operator()(ZSTD_CStream* stream) const { ZSTD_freeCStream(stream); }
};

class ZstdCompressor : public Sink {
 public:
  explicit ZstdCompressor(Sink& to) : to_(to), stream_(ZSTD_createCStream()) {
    require(stream_ != nullptr, "zstd could not be started");
    ZSTD_CCtx_setParameter(stream_.get(), ZSTD_c_checksumFlag, 1);
  }
  void write(std::string_view bytes) override {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    while (in.pos < in.size) push(in, ZSTD_e_continue);
  }
  void finish() override {
    ZSTD_inBuffer nothing{nullptr, 0, 0};
    while (push(nothing, ZSTD_e_end) != 0) {
    }
  }

 private:
  std::size_t push(ZSTD_inBuffer& in, ZSTD_EndDirective directive) {
    ZSTD_outBuffer out{out_.data(), out_.size(), 0};
    const std::size_t left = ZSTD_compressStream2(stream_.get(), &out, &in, directive);
    if (ZSTD_isError(left) != 0) fail("zstd compression failed: {}", ZSTD_getErrorName(left));
    to_.write({out_.data(), out.pos});
    return left;
  }

  Sink& to_;
  std::unique_ptr<ZSTD_CStream, Free> stream_;
  std::array<char, codec_block> out_{};
};

}  // namespace

void zstd_decompress(std::string_view bytes, const std::string& file, Stage& stage, ByteBuffer& to) {
  const std::unique_ptr<ZSTD_DStream, Free> stream(ZSTD_createDStream());
  require(stream != nullptr, "zstd could not be started");
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  std::size_t wanted = 1;  // 0: a frame is complete
  bool room_left = false;
  while (in.pos < in.size || (wanted != 0 && !room_left)) {
    char* room = to.room(codec_block);
    ZSTD_outBuffer out{room, static_cast<std::size_t>(to.free_bytes()), 0};
    const std::size_t before = in.pos;
    wanted = ZSTD_decompressStream(stream.get(), &out, &in);
    if (ZSTD_isError(wanted) != 0) fail_compressed(file, "zstd", ZSTD_getErrorName(wanted));
    to.written(static_cast<std::int64_t>(out.pos));
    stage.advance(static_cast<std::int64_t>(in.pos - before));
    room_left = out.pos < out.size;
  }
  if (wanted != 0) fail_compressed(file, "zstd", "the file is cut short");
}

std::unique_ptr<Sink> zstd_compress(Sink& to) { return std::make_unique<ZstdCompressor>(to); }

#else

void zstd_decompress(std::string_view, const std::string&, Stage&, ByteBuffer&) {
  fail_without_library("zstd", "libzstd");
}
std::unique_ptr<Sink> zstd_compress(Sink&) { fail_without_library("zstd", "libzstd"); }

#endif

}  // namespace sheaf
