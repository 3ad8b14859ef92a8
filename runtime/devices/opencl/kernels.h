// Support for generated sources. They contain the source text of kernels, which the plugin compiles at run time, and
// handles for each kernel of a program, compute type and storage.
#ifndef ONEFLOW_DEVICES_OPENCL_KERNELS_H_
#define ONEFLOW_DEVICES_OPENCL_KERNELS_H_

#include "../grid/carry.h"
#include "../grid/entries.h"
#include "kernel.h"

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

// Returns the variants of both lists.
inline Variants either(Variants variants, const Variants& others) {
  for (int i = 0; i < others.count; ++i) variants.list[variants.count++] = others.list[i];
  return variants;
}

// A program is compiled for each compute type and storage that is used. Tables therefore have as few storages as
// possible.
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
#define OF_STATE_KERNELS(T, name) OF_FOLD_KERNELS(T, T, name)  // reuses the program that computed the states
#define OF_KERNELS(T, name) OF_FOLD_KERNELS(T, T, name)
#define OF_CAST_KERNELS(T, name) OF_FOLD_KERNELS(T, T, name)

// Includes a handwritten program, ../grid/programs/<name>.h, in the source file next to it:
//   namespace {
//   #include OF_PROGRAM(name)
//   const Variants kernels[] = {OF_KERNELS(float, a_kernel_of_it), ...};
// clang-format off
#define OF_PROGRAM(name) OF_QUOTE(texts/name.inc)
// clang-format on
#define OF_QUOTE(path) #path

}  // namespace oneflow::grid

#endif  // ONEFLOW_DEVICES_OPENCL_KERNELS_H_
