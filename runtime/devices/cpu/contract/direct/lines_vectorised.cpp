// Dot products of many lines with a few packed ones; compiled once per instruction set. A register tile holds vectors
// of partial sums for kTileLines x kTileFew dot products: each vector that is loaded is multiplied several times.
#include "contract/direct/kernels.h"
#include "contract/kernels.h"
#include "simd/vectors.h"

namespace oneflow::cpu::OF_ISA {
namespace {

// The size of a register tile, whose sums fill half of the registers.
constexpr int kTileLines = 4;
#if defined(__AVX512F__)
constexpr int kTileFew = 4;
#else
constexpr int kTileFew = 2;
#endif
// The sums of a tile, rounded up to full vectors.
template <class T>
constexpr int kSums = (kTileFew * kTileLines + kLanes<T> - 1) / kLanes<T>* kLanes<T>;
// The length of a piece of the lines in vectors. A piece stays in the first-level cache while it is multiplied by all
// of the few lines.
constexpr int64_t kPiece = (int64_t{4} << 10) / kVectorBytes;

// Returns the division of `total` into parts of at most `most`, which are as even as possible.
inline Panels parts_of(int64_t total, int64_t most) { return {total, (total + most - 1) / most, 0, 0, 1}; }

// Computes sums[few][line] over a piece of `length` elements of kTileLines lines and `few` packed ones.
template <class T, int few>
inline void multiply_tile(const T* const* lines, const T* packed, int64_t length, T* sums) {
  constexpr int width = kLanes<T>, count = few * kTileLines;
  Vector<T> products[kSums<T>] = {};
  const auto add = [&](auto&& load_part) {
    Vector<T> parts[kTileLines];
#pragma GCC unroll 4
    for (int n = 0; n < kTileLines; ++n) parts[n] = load_part(lines[n]);
#pragma GCC unroll 4
    for (int m = 0; m < few; ++m, packed += width) {
      const Vector<T> factor = load(packed);
#pragma GCC unroll 4
      for (int n = 0; n < kTileLines; ++n) products[m * kTileLines + n] += parts[n] * factor;
    }
  };
  int64_t i = 0;
  for (; i + width <= length; i += width) add([&](const T* line) { return load(line + i); });
  if (i < length) add([&](const T* line) { return load_some(line + i, length - i); });
#pragma GCC unroll 4
  for (int first = 0; first < count; first += width) store(sums + first, add_lanes<T>(products + first));
}

// Calls multiply_tile() for `number` packed lines, at most `few`.
template <class T, int few>
void multiply(int64_t number, const T* const* lines, const T* packed, int64_t length, T* sums) {
  if (number == few) return multiply_tile<T, few>(lines, packed, length, sums);
  if constexpr (few > 1) multiply<T, few - 1>(number, lines, packed, length, sums);
}

template <class T>
void line_product(const LineProduct& product) {
  constexpr int width = kLanes<T>;
  const int64_t vectors = (product.length + width - 1) / width;
  const Panels chunks = parts_of(product.few_count, kTileFew), pieces = parts_of(vectors, kPiece);
  for (int64_t first = 0; first < product.line_count; first += kTileLines) {
    const int64_t number = product.line_count - first < kTileLines ? product.line_count - first : kTileLines;
    for (int64_t piece = 0; piece < pieces.count; ++piece) {
      const int64_t start = pieces.start(piece), begin = start * width;
      const int64_t end = piece + 1 == pieces.count ? product.length : pieces.start(piece + 1) * width;
      const T* lines[kTileLines];
      for (int n = 0; n < kTileLines; ++n)  // missing lines repeat the first
        lines[n] = static_cast<const T*>(product.lines) + product.line_offsets[first + (n < number ? n : 0)] + begin;
      for (int64_t chunk = 0; chunk < chunks.count; ++chunk) {
        const int64_t from = chunks.start(chunk), to = chunks.start(chunk + 1);
        const T* packed = static_cast<const T*>(product.few_lines) + (from * vectors + start * (to - from)) * width;
        T sums[kSums<T>];
        multiply<T, kTileFew>(to - from, lines, packed, end - begin, sums);
        for (int64_t m = from; m < to; ++m) {
          for (int64_t n = 0; n < number; ++n) {
            T& c = static_cast<T*>(product.c)[product.line_offsets_c[first + n] + product.few_offsets_c[m]];
            const T sum = sums[(m - from) * kTileLines + n];
            c = piece > 0 ? c + sum : sum;
          }
        }
      }
    }
  }
}

template <class T>
void pack_few_lines(const LineProduct& product, const int64_t* offsets, void* packed) {
  constexpr int width = kLanes<T>;
  const Panels chunks = parts_of(product.few_count, kTileFew);
  T* to = static_cast<T*>(packed);
  for (int64_t chunk = 0; chunk < chunks.count; ++chunk) {
    for (int64_t i = 0; i < product.length; i += width) {
      for (int64_t m = chunks.start(chunk); m < chunks.start(chunk + 1); ++m, to += width)
        store(to, load_some(static_cast<const T*>(product.few_lines) + offsets[m] + i, product.length - i));
    }
  }
}

}  // namespace

template <class T>
void add_line_kernels(ContractKernels& kernels) {
  kernels.pack_few_lines = pack_few_lines<T>;
  kernels.line_product = line_product<T>;
}

template void add_line_kernels<float>(ContractKernels&);
template void add_line_kernels<double>(ContractKernels&);
template void add_line_kernels<uint32_t>(ContractKernels&);
template void add_line_kernels<uint64_t>(ContractKernels&);

}  // namespace oneflow::cpu::OF_ISA
