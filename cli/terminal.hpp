// Colours, bars and tables for the terminal, and the functions that print results.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sheaf::cli {

/// Text for people on standard output, at once. Control characters of names in it are escaped, so that no file can send
/// commands to the terminal. A full disk is an Error.
void print(std::string_view text);
/// The same of data for programs (JSON, CSV), as they are.
void print_data(std::string_view text);
/// A line for people on standard error, escaped likewise. If it cannot be written, the work goes on without it.
void say(std::string_view line);
/// The same of bytes as they are.
void write_message(std::string_view text) noexcept;
/// `text` with escapes (\x1b, \u009b) for control characters other than line ends and tabs, and for bytes that are no
/// UTF-8. `with_emphasis`: the codes of bold(), dim() and yellow() stay.
std::string printable(std::string_view text, bool with_emphasis);
/// The first warnings, and how many more there are; `where` is the place of all of them.
void warn(const std::vector<std::string>& warnings, std::string_view where = {});

bool is_terminal(int descriptor);
int terminal_width();

/// Emphasis if standard output is a terminal that supports it (NO_COLOR is heeded), else the plain text.
std::string bold(std::string_view text);
std::string dim(std::string_view text);
std::string yellow(std::string_view text);

/// A bar of up to `width` cells; whole cells of '#' if the locale has no block characters.
std::string bar(double share, int width);

/// Cut to `width` characters with an ellipsis; UTF-8 is not torn.
std::string shortened(const std::string& text, std::size_t width);

/// Breaks `text` at blanks into lines of up to 100 characters; lines after the first are indented.
std::string wrapped(std::string_view text, std::size_t indent);

/// Columns padded to their widest cell. Columns named in `right` (by letter r in a string such as "lrr") are flush
/// right.
std::string table(const std::vector<std::vector<std::string>>& rows, std::string_view alignment, int indent);

}  // namespace sheaf::cli
