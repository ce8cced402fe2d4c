#include "terminal.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <utility>

#include <sys/ioctl.h>
#include <unistd.h>

#include "core/fail.hpp"

namespace sheaf::cli {
namespace {

constexpr std::size_t text_width = 100;

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing here changes the environment
  return value != nullptr ? value : "";
}

bool coloured() {
  return is_terminal(STDOUT_FILENO) && environment("NO_COLOR").empty() && environment("TERM") != "dumb";
}

bool has_blocks() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const auto value = environment(name);
    if (!value.empty()) return value.find("UTF-8") != value.npos || value.find("utf8") != value.npos;
  }
  return false;
}

std::string painted(std::string_view text, std::string_view code) {
  return coloured() ? fmt::format("\033[{}m{}\033[0m", code, text) : std::string(text);
}

/// Characters as shown: escape sequences take no room, UTF-8 sequences one cell.
std::size_t shown_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\033')
      i = std::min(text.find('m', i), text.size());
    else if ((static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U)
      ++width;
  }
  return width;
}

/// Codes of painted().
constexpr std::string_view emphases[] = {"\033[0m", "\033[1m", "\033[2m", "\033[33m"};

/// Bytes of the UTF-8 character that `text` begins with, and the character; 0: it begins with none.
std::pair<std::size_t, unsigned> first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  const std::size_t size = first < 0x80   ? 1
                           : first < 0xC2 ? 0
                           : first < 0xE0 ? 2
                           : first < 0xF0 ? 3
                           : first < 0xF5 ? 4
                                          : 0;
  if (size == 0 || size > text.size()) return {0, 0};
  unsigned character = size == 1 ? first : first & (0xFFU >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return {0, 0};
    character = character << 6U | (byte(i) & 0x3FU);
  }
  const bool overlong = (size == 3 && character < 0x800) || (size == 4 && character < 0x10000);
  const bool surrogate = character >= 0xD800 && character < 0xE000;
  if (overlong || surrogate || character > 0x10FFFF) return {0, 0};
  return {size, character};
}

/// Control characters, and those that change the direction of what follows.
bool is_control(unsigned character) {
  return character < 0x20 || (character >= 0x7F && character < 0xA0) || (character >= 0x202A && character <= 0x202E) ||
         (character >= 0x2066 && character <= 0x2069);
}

/// False: the system refuses; see errno.
bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t done = ::write(descriptor, text.data(), text.size());
    if (done >= 0)
      text.remove_prefix(static_cast<std::size_t>(done));
    else if (errno != EINTR)
      return false;
  }
  return true;
}

}  // namespace

std::string printable(std::string_view text, bool with_emphasis) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    std::size_t size = 0;
    if (with_emphasis && text[0] == '\033')
      for (const auto code : emphases)
        if (text.starts_with(code)) size = code.size();
    const auto [bytes, character] = first_character(text);
    if (size == 0 && bytes > 0 && (character == '\n' || character == '\t' || !is_control(character))) size = bytes;
    if (size > 0)
      result += text.substr(0, size);
    else if (bytes < 2)
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    else
      result += fmt::format("\\u{:04x}", character);
    text.remove_prefix(std::max({size, bytes, std::size_t{1}}));
  }
  return result;
}

void print_data(std::string_view text) {
  if (!write_all(STDOUT_FILENO, text)) fail("standard output: cannot be written: {}", std::strerror(errno));
}

void print(std::string_view text) { print_data(printable(text, coloured())); }

void write_message(std::string_view text) noexcept {
  // A pipe that nobody reads raises SIGPIPE in this thread, which would end the work.
  sigset_t pipe, before, pending;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, &before);
  sigpending(&pending);
  const bool broken = !write_all(STDERR_FILENO, text) && errno == EPIPE;
  constexpr timespec at_once{};
  if (broken && sigismember(&pending, SIGPIPE) == 0) sigtimedwait(&pipe, nullptr, &at_once);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void say(std::string_view line) { write_message(printable(line, false) + "\n"); }

void warn(const std::vector<std::string>& warnings, std::string_view where) {
  constexpr std::size_t most = 10;
  for (std::size_t k = 0; k < std::min(warnings.size(), most); ++k) say("sheaf: warning: " + warnings[k]);
  if (warnings.size() > most)
    say(fmt::format("sheaf: warning: and {} more{}{}", warnings.size() - most, where.empty() ? "" : ", see ", where));
}

bool is_terminal(int descriptor) { return isatty(descriptor) == 1; }

int terminal_width() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

std::string bold(std::string_view text) { return painted(text, "1"); }
std::string dim(std::string_view text) { return painted(text, "2"); }
std::string yellow(std::string_view text) { return painted(text, "33"); }

std::string bar(double share, int width) {
  const double cells = std::clamp(share, 0.0, 1.0) * width;
  if (!has_blocks()) return fmt::format("{:#<{}}", "", std::lround(cells));
  static constexpr const char* eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto parts = static_cast<std::size_t>(std::lround(cells * 8));
  std::string text;
  for (std::size_t i = 0; i < parts / 8; ++i) text += "█";
  text += eighths[parts % 8];
  return text.empty() && share > 0 ? "▏" : text;
}

std::string shortened(const std::string& text, std::size_t width) {
  if (shown_width(text) <= width) return text;
  std::size_t bytes = 0;
  for (std::size_t shown = 0; bytes < text.size(); ++bytes)
    if ((static_cast<unsigned char>(text[bytes]) & 0xC0U) != 0x80U && ++shown == width) break;
  return text.substr(0, bytes) + (has_blocks() ? "…" : "~");
}

std::string wrapped(std::string_view text, std::size_t indent) {
  std::string result;
  std::size_t column = indent;
  while (!text.empty()) {
    const auto blank = std::min(text.find(' '), text.size());
    if (column > indent && column + 1 + blank > text_width) {
      result += fmt::format("\n{:{}}", "", indent);
      column = indent;
    } else if (column > indent) {
      result += ' ';
      ++column;
    }
    result += text.substr(0, blank);
    column += blank;
    text.remove_prefix(std::min(blank + 1, text.size()));
  }
  return result;
}

std::string table(const std::vector<std::vector<std::string>>& cells, std::string_view alignment, int indent) {
  auto rows = cells;  // as wide as they are printed
  for (auto& row : rows)
    for (auto& cell : row) cell = printable(cell, coloured());
  std::vector<std::size_t> widths(alignment.size());
  for (const auto& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], shown_width(row[c]));
  std::string text;
  for (const auto& row : rows) {
    std::string line(static_cast<std::size_t>(indent), ' ');
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string padding(widths[c] - shown_width(row[c]), ' ');
      line += (c > 0 ? "  " : "") + (alignment[c] == 'r' ? padding + row[c] : row[c] + padding);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace sheaf::cli
