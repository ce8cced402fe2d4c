// The file formats, for readers and writers. The table itself is in formats.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <sheaf/io.hpp>

#include "data/write/writing.hpp"

namespace sheaf {

std::vector<std::string> format_names();

/// An unknown name is a UsageError that names the known ones.
const Format& format_named(std::string_view name);

/// By the end of a file's name, compression left aside; nullptr: it does not show the format.
const Format* format_by_ending(std::string_view path);

/// `format` is one of formats() that is written.
template <class T>
void write_as(const Format& format, const Writing<T>& writing);

}  // namespace sheaf
