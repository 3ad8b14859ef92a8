// The conversion loops; compiled once per instruction set.
#include "convert.h"
#include "element.h"

namespace oneflow::cpu::OF_ISA {
namespace {

template <class From, class To>
void convert_all(const void* source, void* destination, int64_t count) {
  const auto* from = static_cast<const From*>(source);
  auto* to = static_cast<To*>(destination);
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) to[i] = convert<To>(from[i]);
}

}  // namespace

Convert conversion(of_dtype from, of_dtype to) {
  return visit_dtype(from, [to](auto source) {
    return visit_dtype(
        to, [](auto destination) -> Convert { return convert_all<decltype(source), decltype(destination)>; });
  });
}

}  // namespace oneflow::cpu::OF_ISA
