#include "data/bytes/compression.hpp"

#include <array>

#include <sheaf/io.hpp>

#include "core/fail.hpp"
#include "data/bytes/codecs.hpp"

namespace sheaf {
namespace {

using namespace std::string_view_literals;

constexpr std::array<Compression, 3> table{{
    {".gz", "\x1f\x8b"sv, SHEAF_GZIP != 0, gzip_decompress, gzip_compress},
    {".xz",
     "\xfd"
     "7zXZ\0"sv,
     SHEAF_XZ != 0, xz_decompress, xz_compress},
    {".zst", "\x28\xb5\x2f\xfd"sv, SHEAF_ZSTD != 0, zstd_decompress, zstd_compress},
}};

template <class Wanted>
const Compression* find(Wanted wanted) {
  for (const auto& row : table)
    if (wanted(row)) return &row;
  return nullptr;
}

}  // namespace

const Compression* find_compression(std::string_view bytes) {
  return find([&](const Compression& row) { return bytes.starts_with(row.magic); });
}

const Compression* find_compression_by_ending(std::string_view path) {
  return find([&](const Compression& row) { return path.ends_with(row.ending); });
}

std::vector<std::string_view> compressions() {
  std::vector<std::string_view> endings;
  for (const auto& row : table)
    if (row.built) endings.push_back(row.ending);
  return endings;
}

void fail_compressed(const std::string& file, std::string_view kind, std::string_view problem) {
  fail("{}: {} as {}-compressed data: {}", file, "cannot be read", kind, problem);
}

void fail_without_library(std::string_view kind, std::string_view library) {
  fail("this build of Sheaf has no {} compression: it was built without {}", kind, library);
}

}  // namespace sheaf
