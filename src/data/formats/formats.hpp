// The file formats, for readers and writers. The table itself is in formats.cpp.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include <sheaf/io.hpp>

#include "data/write/writing.hpp"

namespace sheaf {

/// An unknown name is a UsageError that names the known ones; `what`: is named, for messages.
const Format& format_named(std::string_view name, std::span<const Format> table = formats(),
                           std::string_view what = "format");

/// The public part of the rows of a table.
template <class Row, std::size_t count>
constexpr std::array<Format, count> public_part(const std::array<Row, count>& rows) {
  std::array<Format, count> result{};
  for (std::size_t r = 0; r < count; ++r) result[r] = rows[r].format;
  return result;
}

/// `format` is one of formats() that is written.
template <class T>
void write_as(const Format& format, const Writing<T>& writing);

}  // namespace sheaf
