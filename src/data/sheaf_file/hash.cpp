#include "data/sheaf_file/hash.hpp"

#include <algorithm>
#include <charconv>
#include <string>

#include <fmt/format.h>

#include "core/hash/sha256.hpp"
#include "core/parallel.hpp"

namespace sheaf::sheaf_file {
namespace {

Hash hash_bytes(std::string_view bytes) {
  const auto digits = sha256(bytes);
  Hash hash{};
  for (std::size_t k = 0; k < hash.size(); ++k)
    std::from_chars(digits.data() + 2 * k, digits.data() + 2 * k + 2, hash[k], 16);
  return hash;
}

}  // namespace

Hash hash_section(const Context& context, std::string_view bytes) {
  const auto size = static_cast<std::int64_t>(bytes.size());
  std::string hashes(static_cast<std::size_t>((size + hash_block - 1) / hash_block) * sizeof(Hash), '\0');
  parallel_for(context, (size + hash_block - 1) / hash_block, [&](std::int64_t k) {
    const auto hash = hash_bytes(bytes.substr(static_cast<std::size_t>(k * hash_block), hash_block));
    std::copy(hash.begin(), hash.end(), hashes.begin() + k * static_cast<std::int64_t>(sizeof(Hash)));
  });
  return hash_bytes(hashes);
}

Hash hash_header(std::string_view bytes) {
  std::string copy(bytes);
  std::fill_n(copy.begin() + offsetof(Header, hash), sizeof(Hash), '\0');
  return hash_bytes(copy);
}

std::string hash_text(const Hash& hash) {
  std::string text;
  for (const auto byte : hash) text += fmt::format("{:02x}", byte);
  return text;
}

}  // namespace sheaf::sheaf_file
