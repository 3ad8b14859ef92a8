#include "tensor/overlap.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "device/device.h"

namespace oneflow {
namespace {

// Two layouts share a byte when integers k exist with sum k[i] * stride[i] = distance, each k[i] within its range: a
// dimension of the one counts upwards, one of the other downwards, and equal strides join into one term.
struct Term {
  int64_t stride;  // positive, in bytes
  int64_t lowest, highest;
};

class Search {
 public:
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

  bool finds(int64_t distance) {
    std::sort(terms_.begin(), terms_.end(), [](const Term& a, const Term& b) { return a.stride > b.stride; });
    // What the terms from i on reach, and which steps they make.
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
  // Large strides come first, so that only few multiples leave a rest that the smaller ones reach.
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
  int steps_ = 100'000;  // far more than sliced and transposed layouts take
};

}  // namespace

Overlap overlap(const Tensor& written, const Tensor& other) {
  if (written.count() == 0 || other.count() == 0 || !written.has_memory() || !other.has_memory() ||
      !(written.device() == other.device()))
    return Overlap::kNone;
  const bool same_storage = written.storage().get() == other.storage().get();
  // Lazy clones: the write gets memory of its own first.
  if (!same_storage && &written.storage()->buffer() == &other.storage()->buffer()) return Overlap::kNone;

  const auto* a = static_cast<const char*>(written.data());
  const auto* b = static_cast<const char*>(other.data());
  if (a == b && written.dtype() == other.dtype() && written.sizes() == other.sizes() &&
      written.strides() == other.strides())
    return Overlap::kExact;

  Search search;
  search.add(1, 1 - other.element_bytes(), written.element_bytes() - 1);
  for (int d = 0; d < written.rank(); ++d)
    search.add(written.stride(d) * written.element_bytes(), 0, written.size(d) - 1);
  for (int d = 0; d < other.rank(); ++d) search.add(other.stride(d) * other.element_bytes(), 1 - other.size(d), 0);
  return search.finds(b - a) ? Overlap::kPartial : Overlap::kNone;
}

}  // namespace oneflow
