// The table of file formats, for readers and writers.
#pragma once

#include <string_view>

#include <sheaf/io.hpp>

namespace sheaf {

/// Unknown names are answered with the known ones.
const Format& format_named(std::string_view name);

/// By the end of a file's name, compression left aside; nullptr: it does not tell.
const Format* format_by_ending(std::string_view path);

}  // namespace sheaf
