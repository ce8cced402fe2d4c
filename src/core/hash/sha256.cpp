// FIPS 180-4, section 6.2. The constants are the first 32 bits of the fractional parts of the square roots (state) and
// cube roots (rounds) of the first primes, as the standard defines them.
#include "core/hash/sha256.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "core/fail.hpp"
#include "core/hash/sha256_instructions.hpp"

namespace sheaf {
namespace {

using State = ShaState;

std::array<int, 64> first_primes() {
  std::array<int, 64> primes{};
  std::size_t count = 0;
  for (int candidate = 2; count < primes.size(); ++candidate) {
    bool prime = true;
    for (std::size_t k = 0; k < count; ++k) prime = prime && candidate % primes[k] != 0;
    if (prime) primes[count++] = candidate;
  }
  return primes;
}

std::uint32_t fraction_bits(long double root) {
  return static_cast<std::uint32_t>((root - std::floor(root)) * 4294967296.0L);
}

const ShaConstants& round_constants() {
  static const auto constants = [] {
    ShaConstants k{};
    const auto primes = first_primes();
    for (std::size_t i = 0; i < k.size(); ++i) k[i] = fraction_bits(std::cbrt(static_cast<long double>(primes[i])));
    return k;
  }();
  return constants;
}

State first_state() {
  State state{};
  const auto primes = first_primes();
  for (std::size_t i = 0; i < state.size(); ++i)
    state[i] = fraction_bits(std::sqrt(static_cast<long double>(primes[i])));
  return state;
}

std::array<std::uint32_t, 64> schedule(const unsigned char* block) {
  std::array<std::uint32_t, 64> w{};
  for (std::size_t i = 0; i < 16; ++i)
    w[i] = std::uint32_t{block[4 * i]} << 24U | std::uint32_t{block[4 * i + 1]} << 16U |
           std::uint32_t{block[4 * i + 2]} << 8U | std::uint32_t{block[4 * i + 3]};
  for (std::size_t i = 16; i < 64; ++i) {
    const auto a = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3U);
    const auto b = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10U);
    w[i] = w[i - 16] + a + w[i - 7] + b;
  }
  return w;
}

void compress(State& state, const unsigned char* block, const ShaConstants& constants) {
  const auto w = schedule(block);
  auto [a, b, c, d, e, f, g, h] = state;
  using Word = std::uint32_t;
  const auto round = [&](Word p, Word q, Word r, Word& s, Word t, Word u, Word v, Word& x, std::size_t i) {
    const Word s1 = std::rotr(t, 6) ^ std::rotr(t, 11) ^ std::rotr(t, 25);
    const Word t1 = x + s1 + ((t & u) ^ (~t & v)) + constants[i] + w[i];
    const Word s0 = std::rotr(p, 2) ^ std::rotr(p, 13) ^ std::rotr(p, 22);
    s += t1;
    x = t1 + s0 + ((p & q) ^ (p & r) ^ (q & r));
  };
  for (std::size_t i = 0; i < 64; i += 8) {  // the letters change places instead of the words
    round(a, b, c, d, e, f, g, h, i);
    round(h, a, b, c, d, e, f, g, i + 1);
    round(g, h, a, b, c, d, e, f, i + 2);
    round(f, g, h, a, b, c, d, e, i + 3);
    round(e, f, g, h, a, b, c, d, i + 4);
    round(d, e, f, g, h, a, b, c, i + 5);
    round(c, d, e, f, g, h, a, b, i + 6);
    round(b, c, d, e, f, g, h, a, i + 7);
  }
  const State more{a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < state.size(); ++i) state[i] += more[i];
}

constexpr std::size_t block_bytes = 64;

}  // namespace

Sha256::Sha256() : state_(first_state()) {}

void Sha256::add_blocks(std::string_view blocks) {
  static const bool by_instructions = has_sha_instructions();
  const auto& constants = round_constants();
  for (std::size_t at = 0; at < blocks.size(); at += block_bytes) {
    const auto* block = reinterpret_cast<const unsigned char*>(blocks.data() + at);
    if (by_instructions)
      compress_by_instructions(state_, block, constants);
    else
      compress(state_, block, constants);
  }
  bytes_ += blocks.size();
}

void Sha256::add(std::string_view bytes) {
  if (!rest_.empty()) {
    const auto more = std::min(block_bytes - rest_.size(), bytes.size());
    rest_ += bytes.substr(0, more);
    bytes.remove_prefix(more);
    if (rest_.size() < block_bytes) return;
    add_blocks(rest_);
    rest_.clear();
  }
  const auto whole = bytes.size() / block_bytes * block_bytes;
  add_blocks(bytes.substr(0, whole));
  rest_ = bytes.substr(whole);
}

std::string Sha256::finish() {
  const auto bits = (bytes_ + rest_.size()) * 8;
  auto last = std::move(rest_);
  last += '\x80';
  last.resize((last.size() + 8 + block_bytes - 1) / block_bytes * block_bytes, '\0');
  for (unsigned i = 0; i < 8; ++i) last[last.size() - 1 - i] = static_cast<char>(bits >> (8 * i) & 0xFFU);
  add_blocks(last);
  std::string text;
  for (const auto word : state_) text += fmt::format("{:08x}", word);
  return text;
}

std::string sha256(std::string_view bytes) {
  Sha256 hash;
  hash.add(bytes);
  return hash.finish();
}

FileHash hash_file(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (!file) fail("{}: {}", path, std::strerror(errno));
  Sha256 hash;
  FileHash result;
  std::vector<char> buffer(std::size_t{1} << 20U);
  while (true) {
    const auto got = std::fread(buffer.data(), 1, buffer.size(), file.get());
    result.size += static_cast<std::int64_t>(got);
    if (std::ferror(file.get()) != 0) fail("{}: cannot be read: {}", path, std::strerror(errno));
    hash.add({buffer.data(), got});
    if (got == buffer.size()) continue;
    result.sha256 = hash.finish();
    return result;
  }
}

}  // namespace sheaf
