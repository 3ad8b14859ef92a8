#include "tensor/overlap.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "device/device.h"

namespace oneflow {
namespace {

// Two layouts share a byte if there are integers k[i], each within its range, with sum k[i] * stride[i] = distance,
// where `distance` is that of the two base addresses. Each dimension is one term: k is the index for dimensions of one
// layout, and the negative index for dimensions of the other. The bytes of an element are a term of stride 1. Terms of
// equal stride are merged.
struct Term {
  int64_t stride;           // positive, in bytes
  int64_t lowest, highest;  // the range of k
};

// Searches for such integers.
class Search {
 public:
  // Adds a term; the stride may be negative.
  void add(int64_t stride, int64_t lowest, int64_t highest) {
    if (stride == 0 || lowest == highest) return;
    if (stride < 0) {
      stride = -stride;
      std::swap(lowest, highest);
      lowest = -lowest;
      highest = -highest;
    }
    for (Term& term : terms_) {
      if (term.stride != stride) continue;
      term.lowest += lowest;
      term.highest += highest;
      return;
    }
    terms_.push_back({stride, lowest, highest});
  }

  // Returns whether there is a solution; also returns true if the search takes too many steps.
  bool finds(int64_t distance) {
    std::sort(terms_.begin(), terms_.end(), [](const Term& a, const Term& b) { return a.stride > b.stride; });
    // The range of the sum of the terms from i on, and the greatest common divisor of their strides.
    const size_t count = terms_.size();
    lowest_.assign(count + 1, 0);
    highest_.assign(count + 1, 0);
    divisor_.assign(count + 1, 0);
    for (size_t i = count; i-- > 0;) {
      lowest_[i] = lowest_[i + 1] + terms_[i].lowest * terms_[i].stride;
      highest_[i] = highest_[i + 1] + terms_[i].highest * terms_[i].stride;
      divisor_[i] = std::gcd(divisor_[i + 1], terms_[i].stride);
    }
    return finds(0, distance);
  }

 private:
  // Searches the terms from i on. The largest strides come first, so that few multiples of each leave a remainder
  // within the range of the other terms.
  bool finds(size_t i, int64_t distance) {
    if (distance < lowest_[i] || distance > highest_[i]) return false;
    if (i == terms_.size()) return true;
    if (distance % divisor_[i] != 0) return false;
    if (--steps_ < 0) return true;
    const Term& term = terms_[i];
    const int64_t first = std::max(term.lowest, divide_up(distance - highest_[i + 1], term.stride));
    const int64_t last = std::min(term.highest, divide_down(distance - lowest_[i + 1], term.stride));
    for (int64_t k = first; k <= last; ++k)
      if (finds(i + 1, distance - k * term.stride)) return true;
    return false;
  }

  static int64_t divide_down(int64_t a, int64_t b) { return a / b - (a % b < 0); }
  static int64_t divide_up(int64_t a, int64_t b) { return -divide_down(-a, b); }

  std::vector<Term> terms_;
  std::vector<int64_t> lowest_, highest_, divisor_;
  int steps_ = 100'000;  // a limit that sliced and transposed layouts do not reach
};

}  // namespace

Overlap overlap(const Tensor& written, const Tensor& other) {
  if (written.count() == 0 || other.count() == 0 || !written.has_memory() || !other.has_memory() ||
      !(written.device() == other.device()))
    return Overlap::kNone;
  const bool same_storage = written.storage().get() == other.storage().get();
  // Lazy clones do not overlap: a write copies the shared memory first.
  if (!same_storage && &written.storage()->buffer() == &other.storage()->buffer()) return Overlap::kNone;

  const auto* a = static_cast<const char*>(written.data());
  const auto* b = static_cast<const char*>(other.data());
  if (a == b && written.dtype() == other.dtype() && written.sizes() == other.sizes() &&
      written.strides() == other.strides())
    return Overlap::kExact;
  if (written.is_contiguous() && other.is_contiguous() && (a + written.bytes() <= b || b + other.bytes() <= a))
    return Overlap::kNone;

  Search search;
  search.add(1, 1 - other.element_bytes(), written.element_bytes() - 1);
  for (int d = 0; d < written.rank(); ++d)
    search.add(written.stride(d) * written.element_bytes(), 0, written.size(d) - 1);
  for (int d = 0; d < other.rank(); ++d) search.add(other.stride(d) * other.element_bytes(), 1 - other.size(d), 0);
  return search.finds(b - a) ? Overlap::kPartial : Overlap::kNone;
}

}  // namespace oneflow
