// SHA-256's compression by the processor's own instructions, if it has them.
#pragma once

#include <array>
#include <cstdint>

namespace sheaf {

using ShaState = std::array<std::uint32_t, 8>;
using ShaConstants = std::array<std::uint32_t, 64>;

bool has_sha_instructions();
/// Requires that there are such instructions. `block`: 64 bytes.
void compress_by_instructions(ShaState& state, const unsigned char* block, const ShaConstants& constants);

}  // namespace sheaf
