// What generated sources are made of here: the text of kernels, which the plugin compiles when it runs, and handles
// that name one kernel of a text for one compute type and storage.
#ifndef ONEFLOW_DEVICES_OPENCL_KERNELS_H_
#define ONEFLOW_DEVICES_OPENCL_KERNELS_H_

#include "../grid/carry.h"
#include "../grid/entries.h"
#include "program.h"

namespace oneflow::grid {

using opencl::Kernel;
using opencl::Program;

template <class T>
constexpr of_dtype compute_type = OF_INT64;
template <>
inline constexpr of_dtype compute_type<bool> = OF_BOOL;
template <>
inline constexpr of_dtype compute_type<int32_t> = OF_INT32;
template <>
inline constexpr of_dtype compute_type<uint32_t> = OF_UINT32;
template <>
inline constexpr of_dtype compute_type<uint64_t> = OF_UINT64;
template <>
inline constexpr of_dtype compute_type<float> = OF_FLOAT32;
template <>
inline constexpr of_dtype compute_type<double> = OF_FLOAT64;

inline Variants either(Variants variants, const Variants& others) {
  for (int i = 0; i < others.count; ++i) variants.list[variants.count++] = others.list[i];
  return variants;
}

// A text is compiled once for each compute type and storage that is asked for: as few storages as will do.
template <int storage, class Make>
Variants one_variant(Make make) {
  return {{{storage, make()}}, 1};
}
#define OF_KERNEL_HANDLE(T, S, name)                          \
  one_variant<S>([] {                                         \
    static Kernel kernel(program, #name, compute_type<T>, S); \
    return static_cast<Handle>(&kernel);                      \
  })
#define OF_FLAT_KERNELS(T, name) OF_KERNEL_HANDLE(T, compute_type<T>, name)
#define OF_FOLD_KERNELS(W, T, name) either(OF_KERNEL_HANDLE(W, compute_type<T>, name), OF_KERNEL_HANDLE(W, kAny, name))
#define OF_STATE_KERNELS(T, name) OF_FOLD_KERNELS(T, T, name)  // of the program that folded: no other is compiled
#define OF_KERNELS(T, name) OF_FOLD_KERNELS(T, T, name)
#define OF_CAST_KERNELS(T, name) OF_FOLD_KERNELS(T, T, name)

// A program that is written by hand, ../grid/programs/<name>.h, for the source beside it:
//   namespace {
//   #include OF_PROGRAM(name)
//   const Variants kernels[] = {OF_KERNELS(float, a_kernel_of_it), ...};
// clang-format off
#define OF_PROGRAM(name) OF_QUOTE(texts/name.inc)
// clang-format on
#define OF_QUOTE(path) #path

}  // namespace oneflow::grid

#endif  // ONEFLOW_DEVICES_OPENCL_KERNELS_H_
