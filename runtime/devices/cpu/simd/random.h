// Counter-based random numbers: Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3"). The
// numbers of an element depend on the seed and on the element's counter only, so that tasks may draw them in any order:
// uniform<float>(philox(seed, offset + index), 0) is the element at `index` of rand().
//
// This header is compiled for several instruction sets, so that it may contain static functions only (see simd/isa.h).
#ifndef ONEFLOW_DEVICES_CPU_SIMD_RANDOM_H_
#define ONEFLOW_DEVICES_CPU_SIMD_RANDOM_H_

#include "simd/maths.h"

namespace oneflow::cpu {

// The random bits of one counter.
struct RandomWords {
  uint32_t word0, word1, word2, word3;

  uint32_t word(int k) const { return k == 0 ? word0 : k == 1 ? word1 : k == 2 ? word2 : word3; }
};

// Applies `rounds` rounds to the words of a counter. It is recursive, because the compiler does not vectorise loops
// around a loop.
template <int rounds>
static inline RandomWords philox_rounds(uint32_t c0, uint32_t c1, uint32_t c2, uint32_t c3, uint32_t key0,
                                        uint32_t key1) {
  if constexpr (rounds == 0) {
    return {c0, c1, c2, c3};
  } else {
    const uint64_t product0 = uint64_t{0xD2511F53} * c0;
    const uint64_t product1 = uint64_t{0xCD9E8D57} * c2;
    return philox_rounds<rounds - 1>(static_cast<uint32_t>(product1 >> 32) ^ c1 ^ key0, static_cast<uint32_t>(product1),
                                     static_cast<uint32_t>(product0 >> 32) ^ c3 ^ key1, static_cast<uint32_t>(product0),
                                     key0 + 0x9E3779B9, key1 + 0xBB67AE85);
  }
}

// Returns the random bits of a counter.
static inline RandomWords philox(uint64_t seed, uint64_t counter) {
  return philox_rounds<10>(static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32), 0, 0,
                           static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32));
}

// Returns words 2k and 2k + 1 as one.
[[gnu::always_inline]] static inline uint64_t wide_word(const RandomWords& random, int k) {
  return uint64_t{random.word(2 * k)} << 32 | random.word(2 * k + 1);
}

// Returns the k-th number of an element, uniformly distributed over the integers of [0, n), where n is read as
// unsigned. It is the upper half of a 128-bit product, computed from 32-bit halves because loops over these vectorise.
template <class T>
[[gnu::always_inline]] static inline T below(const RandomWords& random, int k, T n) {
  const uint64_t word = wide_word(random, k), low = static_cast<uint32_t>(n), high = static_cast<uint64_t>(n) >> 32;
  const uint64_t word_low = static_cast<uint32_t>(word), word_high = word >> 32;
  const uint64_t middle = word_high * low + (word_low * low >> 32);
  const uint64_t carried = word_low * high + static_cast<uint32_t>(middle);
  return static_cast<T>(word_high * high + (middle >> 32) + (carried >> 32));
}

// Returns the k-th number of an element, uniformly distributed over [0, 1), from the highest 24 bits of a word, or 53
// bits in double precision. `kept_bits` clears the bits that a narrower result could not hold.
template <class T>
[[gnu::always_inline]] static inline T uniform(const RandomWords& random, int k, uint32_t kept_bits = ~uint32_t{0}) {
  if constexpr (is_same_type<T, double>) return static_cast<double>(wide_word(random, k) >> 11) * 0x1p-53;
  return static_cast<T>((random.word(k) & kept_bits) >> 8) * static_cast<T>(0x1p-24);
}

// Returns the k-th number of an element, normally distributed with mean 0 and variance 1 (Box-Muller transform).
template <class T>
[[gnu::always_inline]] static inline T normal(const RandomWords& random, int k) {
  const T radius = maths::sqrt(static_cast<T>(-2) * maths::log(static_cast<T>(1) - uniform<T>(random, 2 * k)));
  return radius * maths::cos(static_cast<T>(6.283185307179586) * uniform<T>(random, 2 * k + 1));
}

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_SIMD_RANDOM_H_
