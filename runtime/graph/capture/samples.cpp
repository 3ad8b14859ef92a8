#include "graph/capture/samples.h"

#include <algorithm>

namespace oneflow::graph {

namespace {

// kNear neighbouring sizes, and kFar that are further away. A run takes little, since nothing is computed.
constexpr int64_t kNear = 32, kFar = 32;

// Returns how far a named size is from that of the example, in steps. Each size has an order of its own, so that it
// shows which one a number follows from.
int64_t distance_of(int64_t size, int64_t run) {
  const int64_t near = run * (2 * size + 1) % kNear;
  return run < kNear ? near : near + kNear * (1 + (run + size) % kFar);
}

int64_t sample(const NamedSize& size, int64_t number, int64_t run) {
  int64_t distance = distance_of(number, run);
  if (__builtin_mul_overflow(distance, size.step, &distance)) distance = 0;
  // Where the range ends, sizes below the example serve as well.
  const bool fits_above = distance <= size.maximum - size.example;
  const int64_t chosen = fits_above ? size.example + distance : size.example - distance;
  return std::clamp(chosen, size.minimum, size.maximum - (size.maximum - size.minimum) % size.step);
}

}  // namespace

std::vector<std::vector<int64_t>> sample_sizes(std::span<const NamedSize> sizes) {
  std::vector<std::vector<int64_t>> runs(static_cast<size_t>(sizes.empty() ? 1 : kNear + kFar));
  for (size_t run = 0; run < runs.size(); ++run)
    for (size_t i = 0; i < sizes.size(); ++i)
      runs[run].push_back(sample(sizes[i], static_cast<int64_t>(i), static_cast<int64_t>(run)));
  return runs;
}

}  // namespace oneflow::graph
