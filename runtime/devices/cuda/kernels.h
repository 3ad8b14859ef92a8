// Support for generated sources. They contain kernels as templates, which the tables instantiate for the compute types
// and storages of operands.
#ifndef ONEFLOW_DEVICES_CUDA_KERNELS_H_
#define ONEFLOW_DEVICES_CUDA_KERNELS_H_

// Each header needs those before it.
// clang-format off
#include "../grid/kernels/dialect.h"
#include "../grid/kernels/layout.h"
#include "../grid/kernels/element.h"
// clang-format on

#define T float
#define T_FLOATING 1
#include "../grid/kernels/maths.h"
#include "../grid/kernels/special_functions.h"
#undef T
#define T double
#include "../grid/kernels/maths.h"
#include "../grid/kernels/special_functions.h"
#undef T
#undef T_FLOATING
#define T_FLOATING 0
#define T_BOOL 0
#define T int32_t
#define T_WRAPPING uint32_t
#include "../grid/kernels/maths.h"
#undef T
#undef T_WRAPPING
#define T_WRAPPING uint64_t
#define T int64_t
#include "../grid/kernels/maths.h"
#undef T
#undef T_WRAPPING
#undef T_BOOL
#define T bool
#define T_BOOL 1
#define T_WRAPPING uint8_t
#include "../grid/kernels/maths.h"
#undef T
#undef T_WRAPPING
#undef T_BOOL
#undef T_FLOATING

#include <type_traits>

#include "../grid/carry.h"
#include "../grid/entries.h"
#include "../grid/kernels/random.h"
#include "../grid/kernels/runs.h"

// These need of_packet.
#include "../grid/kernels/blocks.h"
#include "../grid/kernels/contraction.h"
#include "../grid/kernels/fold_layout.h"
#include "../grid/kernels/folds.h"

namespace oneflow::grid {

// The storages for which kernels of a compute type are instantiated: first the type itself, then the types whose
// elements are computed in it.
template <int... storages>
struct Storages {};

template <class T>
struct Computed;
template <>
struct Computed<float> {
  static constexpr of_dtype kType = OF_FLOAT32;
  using Stored = Storages<OF_FLOAT32, OF_FLOAT16, OF_BFLOAT16>;
};
template <>
struct Computed<double> {
  static constexpr of_dtype kType = OF_FLOAT64;
  using Stored = Storages<OF_FLOAT64>;
};
template <>
struct Computed<int32_t> {
  static constexpr of_dtype kType = OF_INT32;
  using Stored = Storages<OF_INT32, OF_UINT8, OF_INT8, OF_INT16, OF_UINT16>;
};
template <>
struct Computed<int64_t> {
  static constexpr of_dtype kType = OF_INT64;
  using Stored = Storages<OF_INT64>;
};
template <>
struct Computed<uint32_t> {
  static constexpr of_dtype kType = OF_UINT32;
  using Stored = Storages<OF_UINT32>;
};
template <>
struct Computed<uint64_t> {
  static constexpr of_dtype kType = OF_UINT64;
  using Stored = Storages<OF_UINT64>;
};
template <>
struct Computed<bool> {
  static constexpr of_dtype kType = OF_BOOL;
  using Stored = Storages<OF_BOOL>;
};

template <class T>
constexpr of_dtype compute_type = Computed<T>::kType;

// Returns the handle of a kernel: the address of its host stub.
template <auto* kernel>
Handle handle_of() {
  return reinterpret_cast<Handle>(kernel);
}

// Returns a variant for each storage.
template <int... storages, class Make>
Variants flat_variants(Storages<storages...>, Make make) {
  return {{{storages, make(std::integral_constant<int, storages>())}...}, sizeof...(storages)};
}
// Returns a variant for the first storage, and one for any storage.
template <int first, int... storages, class Make>
Variants variants(Storages<first, storages...>, Make make) {
  return {{{first, make(std::integral_constant<int, first>())}, {kAny, make(std::integral_constant<int, kAny>())}}, 2};
}

// The storages of folds. Narrow integers have no kernels of their own, because their sums are computed in int64; the
// other folds use the kernel for any storage.
template <class T>
using FoldStorages = std::conditional_t<std::is_same_v<T, int32_t>, Storages<OF_INT32>, typename Computed<T>::Stored>;
// Returns a variant for each storage, and one for any storage.
template <int... storages, class Make>
Variants all_variants(Storages<storages...>, Make make) {
  return flat_variants(Storages<storages..., kAny>{}, make);
}

#define OF_HANDLES(T, name) [](auto storage) { return handle_of<name<T, decltype(storage)::value>>(); }
#define OF_CAST_KERNELS(T, name) all_variants(typename Computed<T>::Stored{}, OF_HANDLES(T, name))
#define OF_FLAT_KERNELS(T, name) flat_variants(typename Computed<T>::Stored{}, OF_HANDLES(T, name))
#define OF_KERNELS(T, name) variants(typename Computed<T>::Stored{}, OF_HANDLES(T, name))
#define OF_FOLD_KERNELS(W, T, name) all_variants(FoldStorages<T>{}, OF_HANDLES(W, name))
#define OF_STATE_KERNELS(T, name) OF_KERNEL_HANDLE(T, kAny, name)
#define OF_KERNEL_HANDLE(T, S, name) flat_variants(Storages<S>{}, OF_HANDLES(T, name))

// Includes a handwritten program, ../grid/programs/<name>.h, in the source file next to it.
// clang-format off
#define OF_PROGRAM(name) OF_QUOTE(programs/name.h)
// clang-format on
#define OF_QUOTE(path) #path

}  // namespace oneflow::grid

#endif  // ONEFLOW_DEVICES_CUDA_KERNELS_H_
