// One pair of functions for each kind of compression; see Compression.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "data/bytes/sink.hpp"
#include "data/bytes/text_source.hpp"

namespace sheaf {

void gzip_decompress(std::string_view bytes, const std::string& file, Stage& stage, ByteBuffer& to);
void xz_decompress(std::string_view bytes, const std::string& file, Stage& stage, ByteBuffer& to);
void zstd_decompress(std::string_view bytes, const std::string& file, Stage& stage, ByteBuffer& to);

std::unique_ptr<Sink> gzip_compress(Sink& to);
std::unique_ptr<Sink> xz_compress(Sink& to);
std::unique_ptr<Sink> zstd_compress(Sink& to);

/// Bytes handed to or asked from a library at a time.
inline constexpr std::int64_t codec_block = std::int64_t{1} << 18;

[[noreturn]] void fail_compressed(const std::string& file, std::string_view kind, std::string_view problem);
[[noreturn]] void fail_without_library(std::string_view kind, std::string_view library);

}  // namespace sheaf
