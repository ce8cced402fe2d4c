// Hashes of sections: SHA-256 of the SHA-256 of each block of 1 MiB, so that all threads share the work.
#pragma once

#include <string_view>

#include <sheaf/context.hpp>

#include "data/sheaf_file/layout.hpp"

namespace sheaf::sheaf_file {

/// Ends with Stopped once the context is asked to stop.
Hash hash_section(const Context& context, std::string_view bytes);

/// The hash of a header with its table.
Hash hash_header(std::string_view bytes);

/// 64 hexadecimal digits.
std::string hash_text(const Hash& hash);

}  // namespace sheaf::sheaf_file
