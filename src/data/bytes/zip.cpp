// The layout is that of PKWARE's APPNOTE 6.3: local headers and data, then the central directory, then its end record.
#include "data/bytes/zip.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include <sheaf/context.hpp>

#if SHEAF_GZIP
#include <zlib.h>
#endif

#include "core/fail.hpp"
#include "data/bytes/codecs.hpp"

namespace sheaf {

using namespace std::string_view_literals;

namespace {

constexpr auto local_signature = "PK\x03\x04"sv;
constexpr auto central_signature = "PK\x01\x02"sv;
constexpr auto end_signature = "PK\x05\x06"sv;
constexpr auto end64_signature = "PK\x06\x06"sv;
constexpr auto locator64_signature = "PK\x06\x07"sv;
constexpr std::uint64_t end_bytes = 22;
constexpr std::uint32_t large32 = 0xFFFFFFFF;  // the field stands in the zip64 record
constexpr std::uint16_t large16 = 0xFFFF;
constexpr std::uint16_t zip64_extra = 1;

/// A little-endian number; the caller has checked that it is there.
template <class Number>
Number number_at(std::string_view bytes, std::size_t at) {
  std::uint64_t value = 0;
  for (std::size_t k = sizeof(Number); k-- > 0;) value = value << 8U | static_cast<unsigned char>(bytes[at + k]);
  return static_cast<Number>(value);
}

template <class Number>
void append_bytes(std::string& out, Number value) {
  for (std::size_t k = 0; k < sizeof(Number); ++k)
    out += static_cast<char>(static_cast<std::uint64_t>(value) >> 8 * k & 0xFFU);
}

[[noreturn]] void fail_zip(const std::string& file, std::string_view problem) {
  fail("{}: is damaged as a zip archive: {}", file, problem);
}

#if SHEAF_GZIP
std::uint32_t checksum_of(std::uint32_t before, std::string_view bytes) {
  return static_cast<std::uint32_t>(crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

/// Unpacks exactly `to` from a raw deflate stream.
class RawInflater {
 public:
  RawInflater() {
    constexpr int raw_window = -15;
    require(inflateInit2(&stream_, raw_window) == Z_OK, "zlib could not be started");
  }
  RawInflater(const RawInflater&) = delete;
  RawInflater& operator=(const RawInflater&) = delete;
  ~RawInflater() { inflateEnd(&stream_); }

  bool unpack(std::string_view from, std::span<char> to) {
    constexpr std::size_t most = 1U << 30U;  // zlib counts in unsigned int
    char extra = 0;                          // an empty stream still needs room to be given
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(from.data()));
    for (std::size_t in = 0, out = 0;;) {
      const auto given = std::min(from.size() - in, most);
      const auto room = std::min(to.size() - out, most);
      stream_.avail_in = static_cast<uInt>(given);
      stream_.avail_out = room > 0 ? static_cast<uInt>(room) : 1;
      stream_.next_out = reinterpret_cast<Bytef*>(room > 0 ? to.data() + out : &extra);
      const auto offered = stream_.avail_out;
      const int status = inflate(&stream_, Z_NO_FLUSH);
      in += given - stream_.avail_in;
      const auto made = offered - stream_.avail_out;
      if (room == 0 && made > 0) return false;
      out += made;
      if (status == Z_STREAM_END) return out == to.size();
      if (status != Z_OK || (given == stream_.avail_in && made == 0)) return false;
    }
  }

 private:
  z_stream stream_{};
};
#else
std::uint32_t checksum_of(std::uint32_t, std::string_view) { fail_without_library("zip", "zlib"); }
#endif

}  // namespace

bool is_zip(std::string_view bytes) { return bytes.starts_with(local_signature); }

ZipArchive::ZipArchive(std::string_view bytes, const std::string& file) : bytes_(bytes), file_(file) {
  read_directory();
}

std::string_view ZipArchive::piece(std::uint64_t at, std::uint64_t size, std::string_view what) const {
  if (at > bytes_.size() || size > bytes_.size() - at)
    fail_zip(file_, fmt::format("{} lies behind its end, at byte {} of {}", what, at, bytes_.size()));
  return bytes_.substr(at, size);
}

void ZipArchive::read_directory() {
  constexpr std::size_t longest_comment = 65535;
  const auto tail = std::min<std::size_t>(bytes_.size(), end_bytes + longest_comment);
  const auto found = bytes_.substr(bytes_.size() - tail).rfind(end_signature);
  if (found == std::string_view::npos) fail_zip(file_, "its end is missing; the file is cut short");
  const std::uint64_t end_at = bytes_.size() - tail + found;
  const auto end = piece(end_at, end_bytes, "the end record");
  std::uint64_t count = number_at<std::uint16_t>(end, 10);
  std::uint64_t size = number_at<std::uint32_t>(end, 12);
  std::uint64_t at = number_at<std::uint32_t>(end, 16);
  constexpr std::uint64_t locator_bytes = 20;
  if ((count == large16 || size == large32 || at == large32) && end_at >= locator_bytes &&
      piece(end_at - locator_bytes, locator_bytes, "the locator").starts_with(locator64_signature)) {
    const auto end64_at = number_at<std::uint64_t>(bytes_, end_at - locator_bytes + 8);
    const auto end64 = piece(end64_at, 56, "the zip64 end record");
    if (!end64.starts_with(end64_signature)) fail_zip(file_, "its zip64 end record is not where it should be");
    count = number_at<std::uint64_t>(end64, 32);
    size = number_at<std::uint64_t>(end64, 40);
    at = number_at<std::uint64_t>(end64, 48);
  }
  piece(at, size, "the directory");
  for (std::uint64_t k = 0; k < count; ++k) members_.push_back(read_member(at));
}

ZipArchive::Member ZipArchive::read_member(std::uint64_t& at) const {
  constexpr std::uint64_t fixed_bytes = 46;
  const auto fixed = piece(at, fixed_bytes, "an entry of the directory");
  if (!fixed.starts_with(central_signature))
    fail_zip(file_, fmt::format("no entry of the directory stands at byte {}", at));
  Member member;
  member.encrypted = (number_at<std::uint16_t>(fixed, 8) & 1U) != 0;
  member.method = number_at<std::uint16_t>(fixed, 10);
  member.checksum = number_at<std::uint32_t>(fixed, 16);
  member.packed_bytes = number_at<std::uint32_t>(fixed, 20);
  member.bytes = number_at<std::uint32_t>(fixed, 24);
  member.header = number_at<std::uint32_t>(fixed, 42);
  const auto name_bytes = number_at<std::uint16_t>(fixed, 28);
  const auto extra_bytes = number_at<std::uint16_t>(fixed, 30);
  const auto comment_bytes = number_at<std::uint16_t>(fixed, 32);
  member.name = piece(at + fixed_bytes, name_bytes, "a name");
  auto extra = piece(at + fixed_bytes + name_bytes, extra_bytes, "an extra field");
  while (extra.size() >= 4) {
    const auto id = number_at<std::uint16_t>(extra, 0);
    auto field = extra.substr(4, number_at<std::uint16_t>(extra, 2));
    extra.remove_prefix(4 + field.size());
    if (id != zip64_extra) continue;
    for (auto* large : {&member.bytes, &member.packed_bytes, &member.header}) {
      if (*large != large32 || field.size() < 8) continue;
      *large = number_at<std::uint64_t>(field, 0);
      field.remove_prefix(8);
    }
  }
  at += fixed_bytes + name_bytes + extra_bytes + comment_bytes;
  return member;
}

const ZipArchive::Member* ZipArchive::find(std::string_view name) const {
  const auto found = std::find_if(members_.begin(), members_.end(), [&](const auto& one) { return one.name == name; });
  return found == members_.end() ? nullptr : &*found;
}

ZipArchive::Content ZipArchive::read(const Member& member, std::int64_t most) const {
  constexpr std::uint64_t fixed_bytes = 30;
  constexpr std::uint16_t stored = 0;
  constexpr std::uint16_t deflated = 8;
  constexpr std::uint64_t best_ratio = 1032;  // of deflate: 258 bytes in two bits
  const auto what = fmt::format("the member '{}'", member.name);
  if (member.encrypted) fail("{}: {} is encrypted; unpack it with its password", file_, what);
  const auto fixed = piece(member.header, fixed_bytes, what);
  if (!fixed.starts_with(local_signature))
    fail_zip(file_, fmt::format("{} does not begin at byte {}", what, member.header));
  const auto begin =
      member.header + fixed_bytes + number_at<std::uint16_t>(fixed, 26) + number_at<std::uint16_t>(fixed, 28);
  const auto packed = piece(begin, member.packed_bytes, what);
  Content content;
  if (member.method == stored) {
    if (member.bytes != member.packed_bytes)
      fail_zip(file_, fmt::format("{} declares {} bytes and has {}", what, member.bytes, member.packed_bytes));
    content.bytes = packed;
  } else if (member.method == deflated) {
    if (member.bytes / best_ratio > member.packed_bytes)
      fail_zip(file_, fmt::format("{} declares {} bytes, more than {} packed ones can hold", what, member.bytes,
                                  member.packed_bytes));
    if (member.bytes > static_cast<std::uint64_t>(std::max<std::int64_t>(most, 0)))
      fail("{}: {} takes {} of memory, and the budget is {}; give a larger --memory", file_, what,
           format_bytes(static_cast<std::int64_t>(member.bytes)), format_bytes(most));
#if SHEAF_GZIP
    content.memory = Array<char>(static_cast<std::int64_t>(member.bytes));
    if (!RawInflater().unpack(packed, content.memory.span()))
      fail_zip(file_, fmt::format("{} cannot be unpacked to {} bytes", what, member.bytes));
#else
    fail_without_library("zip", "zlib");
#endif
    content.bytes = {content.memory.data(), static_cast<std::size_t>(content.memory.size())};
  } else {
    fail("{}: {} is compressed by method {} of zip; only stored and deflated members are read", file_, what,
         member.method);
  }
  if (checksum_of(0, content.bytes) != member.checksum)
    fail_zip(file_, fmt::format("the checksum of {} is wrong", what));
  return content;
}

void ZipWriter::add(const std::string& name, std::initializer_list<std::string_view> pieces) {
  constexpr std::uint16_t version = 45;  // with zip64
  constexpr std::uint16_t utf8_name = 1U << 11U;
  constexpr std::uint32_t first_day = 33U << 16U;  // 1980-01-01, so that equal datasets are equal files
  std::uint64_t size = 0;
  std::uint32_t checksum = 0;
  for (const auto piece : pieces) {
    size += piece.size();
    checksum = checksum_of(checksum, piece);
  }
  // The fields that both headers begin with: version, flags, method, time, checksum, both sizes, and the length of the
  // name.
  std::string shared;
  append_bytes(shared, version);
  append_bytes(shared, utf8_name);
  append_bytes(shared, std::uint16_t{0});
  append_bytes(shared, first_day);
  append_bytes(shared, checksum);
  append_bytes(shared, large32);
  append_bytes(shared, large32);
  append_bytes(shared, static_cast<std::uint16_t>(name.size()));
  std::string local(local_signature);
  local += shared;
  append_bytes(local, std::uint16_t{20});  // bytes of the extra field
  local += name;
  append_bytes(local, zip64_extra);
  append_bytes(local, std::uint16_t{16});
  append_bytes(local, size);
  append_bytes(local, size);
  directory_ += central_signature;
  append_bytes(directory_, version);
  directory_ += shared;
  append_bytes(directory_, std::uint16_t{28});
  append_bytes(directory_, std::uint16_t{0});  // no comment
  append_bytes(directory_, std::uint16_t{0});  // the first disk
  append_bytes(directory_, std::uint16_t{0});  // internal attributes
  append_bytes(directory_, std::uint32_t{0});  // external attributes
  append_bytes(directory_, large32);
  directory_ += name;
  append_bytes(directory_, zip64_extra);
  append_bytes(directory_, std::uint16_t{24});
  append_bytes(directory_, size);
  append_bytes(directory_, size);
  append_bytes(directory_, at_);
  ++count_;
  sink_.write(local);
  for (const auto piece : pieces) sink_.write(piece);
  at_ += local.size() + size;
}

void ZipWriter::finish() {
  std::string end(end64_signature);
  append_bytes(end, std::uint64_t{44});  // bytes of this record behind this field
  append_bytes(end, std::uint16_t{45});
  append_bytes(end, std::uint16_t{45});
  append_bytes(end, std::uint32_t{0});
  append_bytes(end, std::uint32_t{0});
  append_bytes(end, count_);
  append_bytes(end, count_);
  append_bytes(end, static_cast<std::uint64_t>(directory_.size()));
  append_bytes(end, at_);
  end += locator64_signature;
  append_bytes(end, std::uint32_t{0});
  append_bytes(end, at_ + directory_.size());
  append_bytes(end, std::uint32_t{1});
  end += end_signature;
  append_bytes(end, std::uint16_t{0});
  append_bytes(end, std::uint16_t{0});
  append_bytes(end, large16);
  append_bytes(end, large16);
  append_bytes(end, large32);
  append_bytes(end, large32);
  append_bytes(end, std::uint16_t{0});
  sink_.write(directory_);
  sink_.write(end);
}

}  // namespace sheaf
