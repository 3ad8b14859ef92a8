// Counter-based random numbers: Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3"). The
// numbers of an element depend only on the seed and on the element's counter.
#ifndef ONEFLOW_DEVICES_GRID_KERNELS_RANDOM_H_
#define ONEFLOW_DEVICES_GRID_KERNELS_RANDOM_H_

// The random words of one counter.
typedef struct of_random_words {
  uint32_t words[4];
} of_random_words;

OF_DEVICE of_random_words of_philox(uint64_t seed, uint64_t counter) {
  uint32_t c0 = (uint32_t)counter, c1 = (uint32_t)(counter >> 32), c2 = 0, c3 = 0;
  uint32_t key0 = (uint32_t)seed, key1 = (uint32_t)(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint32_t high0 = OF_HIGH_WORD(0xD2511F53u, c0), low0 = 0xD2511F53u * c0;
    const uint32_t high1 = OF_HIGH_WORD(0xCD9E8D57u, c2), low1 = 0xCD9E8D57u * c2;
    c0 = high1 ^ c1 ^ key0;
    c1 = low1;
    c2 = high0 ^ c3 ^ key1;
    c3 = low0;
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  of_random_words random;
  random.words[0] = c0;
  random.words[1] = c1;
  random.words[2] = c2;
  random.words[3] = c3;
  return random;
}

// Returns words 2k and 2k + 1 as one word.
OF_DEVICE uint64_t of_wide_word(of_random_words random, int k) {
  return (uint64_t)random.words[2 * k] << 32 | random.words[2 * k + 1];
}

#if !defined(T_FLOATING) || T_FLOATING
// Returns the k-th number of an element, uniformly distributed over [0, 1). It is made of the highest 24 bits of a word
// (those that `kept_bits` masks), or of 53 bits in double precision.
OF_TEMPLATE(class T)
OF_DEVICE T of_uniform(of_random_words random, int k, uint32_t kept_bits) {
  if (sizeof(T) == 8) return (T)(of_wide_word(random, k) >> 11) * (T)1.1102230246251565e-16;
  return (T)((random.words[k] & kept_bits) >> 8) * (T)5.9604644775390625e-08;
}

// Returns the k-th number of an element, normally distributed with mean 0 and variance 1 (Box and Muller).
OF_TEMPLATE(class T)
OF_DEVICE T of_normal(of_random_words random, int k) {
  const T radius = of_sqrt((T)-2 * of_log((T)1 - of_uniform OF_OF(T)(random, 2 * k, ~(uint32_t)0)));
  return radius * of_cos((T)6.283185307179586 * of_uniform OF_OF(T)(random, 2 * k + 1, ~(uint32_t)0));
}

#endif

// Returns the k-th number of an element, uniformly distributed over the integers below n, which is taken as unsigned.
OF_TEMPLATE(class T)
OF_DEVICE T of_below(of_random_words random, int k, T n) {
  return (T)OF_HIGH_LONG(of_wide_word(random, k), (uint64_t)n);
}

#endif  // ONEFLOW_DEVICES_GRID_KERNELS_RANDOM_H_
