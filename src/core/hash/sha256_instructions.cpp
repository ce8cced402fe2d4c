// The build lets the compiler use the instructions in this source alone; the processor is checked for them when the
// program runs.
#include "core/hash/sha256_instructions.hpp"

#include <cstddef>

#include <sheaf/error.hpp>

#if defined(__ARM_FEATURE_SHA2)
#include <arm_neon.h>
#include <asm/hwcap.h>
#include <sys/auxv.h>
#elif defined(__SHA__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace sheaf {

#if defined(__ARM_FEATURE_SHA2)

bool has_sha_instructions() { return (getauxval(AT_HWCAP) & HWCAP_SHA2) != 0; }

void compress_by_instructions(ShaState& state, const unsigned char* block, const ShaConstants& constants) {
  uint32x4_t abcd = vld1q_u32(state.data());
  uint32x4_t efgh = vld1q_u32(state.data() + 4);
  const uint32x4_t abcd_before = abcd;
  const uint32x4_t efgh_before = efgh;
  std::array<uint32x4_t, 4> words;  // 16 of the schedule's words, four a vector
  for (std::size_t i = 0; i < 4; ++i) words[i] = vreinterpretq_u32_u8(vrev32q_u8(vld1q_u8(block + 16 * i)));
  for (std::size_t i = 0; i < 16; ++i) {
    const uint32x4_t sum = vaddq_u32(words[i % 4], vld1q_u32(constants.data() + 4 * i));
    if (i < 12)
      words[i % 4] =
          vsha256su1q_u32(vsha256su0q_u32(words[i % 4], words[(i + 1) % 4]), words[(i + 2) % 4], words[(i + 3) % 4]);
    const uint32x4_t first = abcd;
    abcd = vsha256hq_u32(abcd, efgh, sum);
    efgh = vsha256h2q_u32(efgh, first, sum);
  }
  vst1q_u32(state.data(), vaddq_u32(abcd, abcd_before));
  vst1q_u32(state.data() + 4, vaddq_u32(efgh, efgh_before));
}

#elif defined(__SHA__)

bool has_sha_instructions() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  constexpr unsigned sha_bit = 1U << 29U;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & sha_bit) != 0;
}

void compress_by_instructions(ShaState& state, const unsigned char* block, const ShaConstants& constants) {
  const auto load = [](const void* from) { return _mm_loadu_si128(static_cast<const __m128i*>(from)); };
  const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
  // The instructions take the state as ABEF and CDGH.
  const __m128i cdab = _mm_shuffle_epi32(load(state.data()), 0xB1);
  const __m128i hgfe = _mm_shuffle_epi32(load(state.data() + 4), 0x1B);
  __m128i abef = _mm_alignr_epi8(cdab, hgfe, 8);
  __m128i cdgh = _mm_blend_epi16(hgfe, cdab, 0xF0);
  const __m128i abef_before = abef;
  const __m128i cdgh_before = cdgh;
  __m128i words[4];  // 16 of the schedule's words, four a vector
  for (std::size_t i = 0; i < 4; ++i) words[i] = _mm_shuffle_epi8(load(block + 16 * i), swap);
  for (std::size_t i = 0; i < 16; ++i) {
    const __m128i sum = _mm_add_epi32(words[i % 4], load(constants.data() + 4 * i));
    if (i < 12) {
      const __m128i between = _mm_alignr_epi8(words[(i + 3) % 4], words[(i + 2) % 4], 4);
      const __m128i part = _mm_add_epi32(_mm_sha256msg1_epu32(words[i % 4], words[(i + 1) % 4]), between);
      words[i % 4] = _mm_sha256msg2_epu32(part, words[(i + 3) % 4]);
    }
    cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
    abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0E));
  }
  abef = _mm_shuffle_epi32(_mm_add_epi32(abef, abef_before), 0x1B);  // FEBA
  cdgh = _mm_shuffle_epi32(_mm_add_epi32(cdgh, cdgh_before), 0xB1);  // DCHG
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state.data()), _mm_blend_epi16(abef, cdgh, 0xF0));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state.data() + 4), _mm_alignr_epi8(cdgh, abef, 8));
}

#else

bool has_sha_instructions() { return false; }

void compress_by_instructions(ShaState& /*state*/, const unsigned char* /*block*/, const ShaConstants& /*constants*/) {
  throw InternalError("this build has no instructions for SHA-256");
}

#endif

}  // namespace sheaf
