// What the machine can do at most, for the benchmark to time in turn with the contestants: multiply-adds from
// registers, and copies between large memories.
#include <cstdint>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

namespace {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif
typedef float Vector __attribute__((vector_size(kVectorBytes)));

constexpr int kSums = 12;  // hide the latency of the units
constexpr int64_t kSteps = 8'000'000;
constexpr int64_t kBytes = int64_t{256} << 20;

// Written with indices that are known from the start, so that the sums stay in registers.
template <size_t... k>
float multiply_and_add(std::index_sequence<k...>) {
  Vector sums[sizeof...(k)] = {}, factor = Vector{} + 0.999f, added = Vector{} + 0.001f;
  const auto step = [&](Vector& sum) {
    sum = sum * factor + added;
    asm("" : "+v"(sum));  // each step is wanted
  };
  for (int64_t i = 0; i < kSteps; ++i) (step(sums[k]), ...);
  return (sums[k][0] + ...);
}

template <class Work>
void run_on(int threads, Work&& work) {
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back([&work, i] { work(i); });
  work(0);
  for (std::thread& other : others) other.join();
}

}  // namespace

// How many operations it did, two for each multiply-add of a number.
extern "C" int64_t bench_multiply_and_add(int threads) {
  run_on(threads, [](int) {
    volatile float sink = multiply_and_add(std::make_index_sequence<kSums>());
    (void)sink;
  });
  return 2 * kSums * kSteps * (kVectorBytes / static_cast<int64_t>(sizeof(float))) * threads;
}

// How many bytes it read and wrote.
extern "C" int64_t bench_copy(int threads) {
  static const std::vector<char> from(kBytes, 1);
  static std::vector<char> to(kBytes, 2);
  const int64_t part = kBytes / threads;
  run_on(threads, [part](int i) { std::memcpy(&to[i * part], &from[i * part], part); });
  return 2 * part * threads;
}
