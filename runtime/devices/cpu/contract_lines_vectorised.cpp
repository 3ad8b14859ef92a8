// Sums along the memory of both operands, of many lines with a few others; compiled once per instruction set.
#include "contract_direct_kernels.h"
#include "contract_kernels.h"
#include "vectors.h"

namespace oneflow::cpu::OF_ISA {
namespace {

// How many lines are multiplied by how many others at a time: their sums fill half of the registers.
constexpr int kTogether = 4;
#if defined(__AVX512F__)
constexpr int kOthers = 4;
#else
constexpr int kOthers = 2;
#endif
// In whole vectors.
template <class T>
constexpr int kSums = (kOthers * kTogether + kLanes<T> - 1) / kLanes<T>* kLanes<T>;
// Pieces of lines that stay in the first-level cache while the others pass by, in vectors.
constexpr int64_t kPiece = (int64_t{4} << 10) / kVectorBytes;

// Parts as even as can be, of at most so many.
inline Panels parts_of(int64_t total, int64_t most) { return {total, (total + most - 1) / most, 0, 0, 1}; }

// The sums of one piece of the lines, of `length` elements, with so many others, as sums[other][line]; the others lie
// vector by vector, one of each in turn.
template <class T, int others>
inline void multiply(const T* const* lines, const T* other, int64_t length, T* sums) {
  constexpr int width = kLanes<T>, count = others * kTogether;
  Vector<T> products[kSums<T>] = {};
  const auto add = [&](auto&& load_part) {
    Vector<T> of[kTogether];
#pragma GCC unroll 4
    for (int n = 0; n < kTogether; ++n) of[n] = load_part(lines[n]);
#pragma GCC unroll 4
    for (int m = 0; m < others; ++m, other += width) {
      const Vector<T> by = load(other);
#pragma GCC unroll 4
      for (int n = 0; n < kTogether; ++n) products[m * kTogether + n] += of[n] * by;
    }
  };
  int64_t i = 0;
  for (; i + width <= length; i += width) add([&](const T* line) { return load(line + i); });
  if (i < length) add([&](const T* line) { return load_some(line + i, length - i); });
#pragma GCC unroll 4
  for (int first = 0; first < count; first += width) store(sums + first, add_lanes<T>(products + first));
}

template <class T, int others>
void multiply_by(int64_t number, const T* const* lines, const T* other, int64_t length, T* sums) {
  if (number == others) return multiply<T, others>(lines, other, length, sums);
  if constexpr (others > 1) multiply_by<T, others - 1>(number, lines, other, length, sums);
}

template <class T>
void lines(const LineProduct& product) {
  constexpr int width = kLanes<T>;
  const int64_t vectors = (product.length + width - 1) / width;
  const Panels chunks = parts_of(product.other_count, kOthers), pieces = parts_of(vectors, kPiece);
  for (int64_t first = 0; first < product.line_count; first += kTogether) {
    const int64_t number = product.line_count - first < kTogether ? product.line_count - first : kTogether;
    for (int64_t piece = 0; piece < pieces.count; ++piece) {
      const int64_t start = pieces.start(piece), begin = start * width;
      const int64_t end = piece + 1 == pieces.count ? product.length : pieces.start(piece + 1) * width;
      const T* here[kTogether];
      for (int n = 0; n < kTogether; ++n)  // what is missing repeats the first
        here[n] = static_cast<const T*>(product.lines) + product.from_lines[first + (n < number ? n : 0)] + begin;
      for (int64_t chunk = 0; chunk < chunks.count; ++chunk) {
        const int64_t from = chunks.start(chunk), to = chunks.start(chunk + 1);
        const T* others = static_cast<const T*>(product.others) + (from * vectors + start * (to - from)) * width;
        T sums[kSums<T>];
        multiply_by<T, kOthers>(to - from, here, others, end - begin, sums);
        for (int64_t m = from; m < to; ++m) {
          for (int64_t n = 0; n < number; ++n) {
            T& c = static_cast<T*>(product.c)[product.to_lines[first + n] + product.to_others[m]];
            const T sum = sums[(m - from) * kTogether + n];
            c = piece > 0 ? c + sum : sum;
          }
        }
      }
    }
  }
}

template <class T>
void collect_others(const LineProduct& product, const int64_t* from, void* collected) {
  constexpr int width = kLanes<T>;
  const Panels chunks = parts_of(product.other_count, kOthers);
  T* to = static_cast<T*>(collected);
  for (int64_t chunk = 0; chunk < chunks.count; ++chunk) {
    for (int64_t i = 0; i < product.length; i += width) {
      for (int64_t m = chunks.start(chunk); m < chunks.start(chunk + 1); ++m, to += width)
        store(to, load_some(static_cast<const T*>(product.others) + from[m] + i, product.length - i));
    }
  }
}

}  // namespace

template <class T>
void add_line_kernels(ContractKernels& kernels) {
  kernels.collect_others = collect_others<T>;
  kernels.lines = lines<T>;
}

template void add_line_kernels<float>(ContractKernels&);
template void add_line_kernels<double>(ContractKernels&);
template void add_line_kernels<uint32_t>(ContractKernels&);
template void add_line_kernels<uint64_t>(ContractKernels&);

}  // namespace oneflow::cpu::OF_ISA
