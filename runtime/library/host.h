// What liboneflow offers to a library of operators: the functions that the generated schemas and programs call.
//
// The library has a definition of each of these functions that calls the one in the table (library/entry.cpp), so that
// liboneflow exports none of them.
#ifndef ONEFLOW_LIBRARY_HOST_H_
#define ONEFLOW_LIBRARY_HOST_H_

#include <string>
#include <vector>

#include "dispatch/call.h"
#include "dispatch/dimension_map.h"
#include "dispatch/dispatch.h"
#include "einsum/contraction.h"
#include "einsum/contraction_adjoint.h"
#include "ops/axes.h"
#include "ops/complex.h"
#include "ops/composite.h"
#include "ops/dimension_rules.h"
#include "ops/elementwise.h"
#include "ops/fold.h"
#include "ops/gather.h"
#include "ops/generator.h"
#include "ops/operations.h"
#include "ops/program_functions.h"
#include "ops/selection_adjoint.h"
#include "ops/unsigned_order.h"
#include "ops/view.h"

namespace oneflow {

// X(result, name, (parameters), (arguments)) for each function: what runs the calls of each kind, what gives their
// dimension maps, and what programs call.
// clang-format off
#define OF_LIBRARY_FUNCTIONS(X)                                                                                        \
  X(void, run_composite, (Call& call), (call))                                                                         \
  X(void, run_complex_body, (Call& call), (call))                                                                      \
  X(void, run_by_parts, (Call& call), (call))                                                                          \
  X(void, run_elementwise, (Call& call), (call))                                                                       \
  X(void, run_copy, (Call& call), (call))                                                                              \
  X(void, run_generator, (Call& call), (call))                                                                         \
  X(void, run_complex_generator, (Call& call), (call))                                                                 \
  X(void, run_reduction, (Call& call), (call))                                                                         \
  X(void, run_reduction_by_parts, (Call& call), (call))                                                                \
  X(void, run_scan, (Call& call), (call))                                                                              \
  X(void, run_gather, (Call& call), (call))                                                                            \
  X(void, run_gather_by_parts, (Call& call), (call))                                                                   \
  X(void, run_view, (Call& call), (call))                                                                              \
  X(void, run_copied_view, (Call& call), (call))                                                                       \
  X(void, run_contraction, (Call& call), (call))                                                                       \
  X(void, run_contraction_adjoint, (Call& call), (call))                                                               \
  X(void, run_selection_adjoint, (Call& call), (call))                                                                 \
  X(bool, compare_unsigned, (Call& call, Comparison comparison), (call, comparison))                                   \
  X(void, composite_dimensions, (Call& call, const Shape& result, DimensionMap& map), (call, result, map))             \
  X(void, broadcast_dimensions, (Call& call, const Shape& result, DimensionMap& map), (call, result, map))             \
  X(void, kept_dimensions, (Call& call, const Shape& result, DimensionMap& map), (call, result, map))                  \
  X(void, opaque_dimensions, (Call& call, const Shape& result, DimensionMap& map), (call, result, map))                \
  X(void, reduction_dimensions, (Call& call, const Shape& result, DimensionMap& map), (call, result, map))             \
  X(void, scan_dimensions, (Call& call, const Shape& result, DimensionMap& map), (call, result, map))                  \
  X(void, gather_dimensions, (Call& call, const Shape& result, DimensionMap& map), (call, result, map))                \
  X(void, view_dimensions, (Call& call, const Shape& result, DimensionMap& map), (call, result, map))                  \
  X(void, contraction_dimensions, (Call& call, const Shape& result, DimensionMap& map), (call, result, map))           \
  X(double, operations_of_result, (const Call& call), (call))                                                          \
  X(double, operations_of_input, (const Call& call), (call))                                                           \
  X(double, count_operations, (const Call& call), (call))                                                              \
  X(int, match_variant, (const Call& call), (call))                                                                    \
  X(void, prepare_writes, (const Call& call), (call))                                                                  \
  X(void, set_result, (Call& call, int position, TensorRef tensor), (call, position, std::move(tensor)))               \
  X(void, set_results, (Call& call, std::vector<TensorRef> tensors), (call, std::move(tensors)))                       \
  X(void, call_inside, (const Operator& op, const char* name, std::span<const of_value> arguments,                     \
                        std::span<of_value> results, bool infer_only, const Tensor* donated, const of_box* box),       \
    (op, name, arguments, results, infer_only, donated, box))                                                          \
  X(of_scalar, item, (const Tensor& tensor), (tensor))                                                                 \
  X(bool, can_repeat, (const of_value& indices), (indices))                                                            \
  X(Integers, kept_sizes, (const Tensor& tensor, const of_value& dims), (tensor, dims))                                \
  X(Integers, inverse, (Sizes permutation), (permutation))                                                             \
  X(Integer, floor, (double number), (number))                                                                         \
  X(Integer, range_length, (const of_scalar& start, const of_scalar& end, const of_scalar& step), (start, end, step))  \
  X(double, epsilon, (of_dtype dtype), (dtype))                                                                        \
  X(double, largest, (of_dtype dtype), (dtype))                                                                        \
  X(double, lowest, (of_dtype dtype), (dtype))                                                                         \
  X(double, largest_below, (double number, of_dtype dtype), (number, dtype))                                           \
  X(std::string, printable, (std::string_view text), (text))
// clang-format on

struct LibraryHost {
#define OF_MEMBER(result, name, parameters, arguments) result(*name) parameters;
  OF_LIBRARY_FUNCTIONS(OF_MEMBER)
#undef OF_MEMBER
  // Members of classes, and functions whose parameters cannot be passed on.
  void (*destroy_tensor)(Tensor& tensor);
  const Operator& (*find)(const char* name);  // throws Unsupported
  void (*note_write)(const Tensor& tensor);
  Axes (*repeated)(Axes axes);
  std::optional<AxesList> (*regrouped)(const Shape& sizes, const AxesList& steps, const Shape& to);
  void (*fail)(of_status status, const char* text);
  void (*fail_with_texts)(of_status status, std::string_view text, std::initializer_list<std::string> values);
};

}  // namespace oneflow

#endif  // ONEFLOW_LIBRARY_HOST_H_
