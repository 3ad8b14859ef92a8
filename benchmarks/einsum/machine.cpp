// What the machine can do at most, as one line of JSON: multiply-adds per second from registers (two operations each),
// and bytes per second that a copy between large memories reads and writes. Usage: bench_machine THREADS
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
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
constexpr int64_t kSteps = 30'000'000;
constexpr int64_t kBytes = int64_t{256} << 20;
constexpr int kRounds = 7;

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

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

// The shortest time that all threads take for `work(thread)`.
template <class Work>
double shortest(int threads, Work&& work) {
  double best = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    const double start = seconds();
    std::vector<std::thread> others;
    for (int i = 1; i < threads; ++i) others.emplace_back([&work, i] { work(i); });
    work(0);
    for (std::thread& other : others) other.join();
    best = std::min(best, seconds() - start);
  }
  return best;
}

}  // namespace

int main(int count, char** arguments) {
  const int threads = count > 1 ? std::atoi(arguments[1]) : 1;
  volatile float sink = 0;
  const double fma = shortest(threads, [&](int) { sink = sink + multiply_and_add(std::make_index_sequence<kSums>()); });
  std::vector<char> from(kBytes, 1), to(kBytes, 2);
  const int64_t part = kBytes / threads;
  const double copy = shortest(threads, [&](int i) { std::memcpy(&to[i * part], &from[i * part], part); });
  std::printf("{\"operations\": %.6g, \"bytes\": %.6g}\n",
              2.0 * kSums * kSteps * (kVectorBytes / sizeof(float)) * threads / fma, 2.0 * kBytes / copy);
}
