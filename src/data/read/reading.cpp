#include "data/read/reading.hpp"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "core/fail.hpp"
#include "core/parallel.hpp"
#include "data/budget.hpp"
#include "data/read/count_bytes.hpp"

#include <sys/mman.h>
#include <unistd.h>

namespace sheaf {
namespace {

constexpr std::size_t longest_shown = 40;

bool prints(char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f; }

/// Bytes of the UTF-8 character that begins `text`; 0: none does.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0U) != 0x80) return 0;
  const unsigned second = byte(1);  // overlong forms, surrogates, and what lies behind U+10FFFF
  const bool odd = (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
                   (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F);
  return odd ? 0 : length;
}

std::string escaped(std::string_view piece) {
  std::string result;
  while (!piece.empty()) {
    const std::size_t length = utf8_length(piece);
    if (length == 0 || !prints(piece[0])) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(piece[0]));
      piece.remove_prefix(1);
    } else {
      result += piece.substr(0, length);
      piece.remove_prefix(length);
    }
  }
  return result;
}

}  // namespace

void fail_at(const Reading& reading, const char* at, std::string_view message) {
  const char* begin = reading.text.data();
  const std::string_view before(begin, static_cast<std::size_t>(at - begin));
  const std::size_t newline = before.rfind('\n');
  const auto line_begin = newline == std::string_view::npos ? 0 : static_cast<std::int64_t>(newline) + 1;
  throw ParseError({reading.name, 1 + std::count(before.begin(), before.end(), '\n'), at - begin - line_begin + 1},
                   message);
}

void fail_changed(const Reading& reading) {
  fail("{}: was changed by another program while it was read; read it again when it is complete", reading.name);
}

void check_memory(const Reading& reading, double bytes, std::string_view what) {
  const auto need = bytes + (reading.mapped ? 0.0 : static_cast<double>(reading.text.size()));
  const auto budget = cpu_budget(reading.context);
  if (need <= static_cast<double>(budget)) return;
  constexpr double unit = 1 << 20;
  fail("{}: {} take {:.0f} MiB of memory, and the budget is {}; give --memory {:.0f}M or more", reading.name, what,
       std::ceil(need / unit), format_bytes(budget), std::ceil(need / unit));
}

std::string shown(std::string_view piece) {
  if (piece.size() <= longest_shown) return fmt::format("'{}'", escaped(piece));
  std::size_t cut = longest_shown;
  while (cut > longest_shown - 4 && (static_cast<unsigned char>(piece[cut]) & 0xC0U) == 0x80) --cut;
  return fmt::format("'{}...'", escaped(piece.substr(0, cut)));
}

std::string lower_case(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
  return result;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string checked_name(const Reading& reading, std::string_view name, const char* at) {
  if (!is_utf8(name)) fail_at(reading, at, fmt::format("the name {} is not UTF-8 text; convert the file", shown(name)));
  return std::string(name);
}

void release_pages(const Reading& reading, Chunk chunk) {
  constexpr std::int64_t large = std::int64_t{64} << 20U;
  const auto most = std::min(large, reading.context.memory() / 4);
  if (!reading.mapped || static_cast<std::int64_t>(reading.text.size()) < most) return;
  static const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<std::uintptr_t>(chunk.begin) + page - 1) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(chunk.end) / page * page;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): whole pages inside the chunk
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

void check_is_text(const Reading& reading) {
  if (reading.text.starts_with("\xFF\xFE") || reading.text.starts_with("\xFE\xFF"))
    fail_at(reading, reading.text.data(), "this is UTF-16; convert the file to UTF-8");
  const auto chunks = static_cast<std::int64_t>(reading.text.size()) / reading.chunk_bytes + 1;
  std::atomic<const char*> first = nullptr;
  parallel_for(reading.context, chunks, [&](std::int64_t k) {
    const Range range = part_of(static_cast<std::int64_t>(reading.text.size()), chunks, k);
    const char* begin = reading.text.data() + range.begin;
    const auto* nul =
        static_cast<const char*>(std::memchr(begin, 0, static_cast<std::size_t>(range.end - range.begin)));
    const char* known = first;
    while (nul != nullptr && (known == nullptr || nul < known) && !first.compare_exchange_weak(known, nul)) {
    }
    release_pages(reading, {begin, begin + (range.end - range.begin)});
  });
  if (first != nullptr) fail_at(reading, first, "a byte of value 0 stands here: this is not a text file");
}

std::vector<Chunk> cut_lines(std::string_view text, std::int64_t chunk_bytes) {
  std::vector<Chunk> chunks;
  const char* end = text.data() + text.size();
  for (const char* at = text.data(); at < end;) {
    const char* cut = end - at <= chunk_bytes ? end : line_end(at + chunk_bytes - 1, end);
    const char* next = cut == end ? end : cut + 1;
    chunks.push_back({at, next});
    at = next;
  }
  return chunks;
}

std::int64_t count_byte(Chunk chunk, char byte) {
  const char* at = chunk.begin;
  const std::int64_t counted =
      count_lanes(at, chunk.end, [&](const char* p) { return equal_lanes(load_lanes(p), byte); });
  return counted + std::count(at, chunk.end, byte);
}

const char* line_end(const char* at, const char* end) {
  const void* found = at < end ? std::memchr(at, '\n', static_cast<std::size_t>(end - at)) : nullptr;
  return found == nullptr ? end : static_cast<const char*>(found);
}

}  // namespace sheaf
