// The conversion loops; compiled once per instruction set.
#include "simd/convert.h"
#include "simd/element.h"
#include "simd/halves.h"

namespace oneflow::cpu::OF_ISA {
namespace {

template <class From, class To>
void convert_all(const void* source, void* destination, int64_t count) {
  const auto* from = static_cast<const Stored<From>*>(source);
  auto* to = static_cast<To*>(destination);
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) to[i] = convert<To>(static_cast<From>(from[i]));
}

template <>
void convert_all<float, float16>(const void* source, void* destination, int64_t count) {
  const auto* from = static_cast<const float*>(source);
  auto* to = static_cast<float16*>(destination);
  int64_t i = 0;
  for (; i + kLanes<float> <= count; i += kLanes<float>) store_halves(to + i, load(from + i));
  for (; i < count; ++i) to[i] = convert<float16>(from[i]);
}

template <>
void convert_all<float16, float>(const void* source, void* destination, int64_t count) {
  const auto* from = static_cast<const float16*>(source);
  auto* to = static_cast<float*>(destination);
  int64_t i = 0;
  for (; i + kLanes<float> <= count; i += kLanes<float>) store(to + i, load_halves(from + i));
  for (; i < count; ++i) to[i] = convert<float>(from[i]);
}

}  // namespace

Convert conversion(of_dtype from, of_dtype to) {
  return visit_dtype(from, [to](auto source) {
    return visit_dtype(
        to, [](auto destination) -> Convert { return convert_all<decltype(source), decltype(destination)>; });
  });
}

}  // namespace oneflow::cpu::OF_ISA
