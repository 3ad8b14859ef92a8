// Measures the limits of the machine, which the benchmark times in the same rounds as the contestants: multiply-adds in
// registers, and copies between large buffers.
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

constexpr int kSums = 12;  // independent sums, enough to hide the latency of a multiply-add
constexpr int64_t kSteps = 8'000'000;
constexpr int64_t kBytes = int64_t{256} << 20;

// Multiplies and adds in independent sums. Their indices are compile-time constants, so that they stay in registers.
template <size_t... k>
float multiply_and_add(std::index_sequence<k...>) {
  Vector sums[sizeof...(k)] = {}, factor = Vector{} + 0.999f, added = Vector{} + 0.001f;
  const auto step = [&](Vector& sum) {
    sum = sum * factor + added;
    asm("" : "+v"(sum));  // keeps the compiler from merging steps
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

// Returns the number of operations that were done, two for each multiply-add of an element.
extern "C" int64_t bench_multiply_and_add(int threads) {
  run_on(threads, [](int) {
    volatile float sink = multiply_and_add(std::make_index_sequence<kSums>());
    (void)sink;
  });
  return 2 * kSums * kSteps * (kVectorBytes / static_cast<int64_t>(sizeof(float))) * threads;
}

// Returns the number of bytes that were read and written.
extern "C" int64_t bench_copy(int threads) {
  static const std::vector<char> from(kBytes, 1);
  static std::vector<char> to(kBytes, 2);
  const int64_t part = kBytes / threads;
  run_on(threads, [part](int i) { std::memcpy(&to[i * part], &from[i * part], part); });
  return 2 * part * threads;
}
