/* generated from opdefs by codegen, do not edit
 *
 * The operators as typed functions. For each record of the operator definitions:
 *
 *   of_<name>(arguments..., &result...)   allocates the results, which belong to the caller: of_tensor_release() them
 *   of_<name>_out(arguments..., result)   writes to tensors of the exact shape that the caller gives
 *   of_<name>_(input, arguments...)       writes the result to `input` itself
 *
 * The overload `dim` of `max` is of_max_dim(). Every argument is given, in the order of the signature that each comment
 * shows:
 *
 *   Tensor            of_tensor; NULL for None where the signature says Tensor?
 *   Tensor|Number     an of_tensor, a number or an of_value in C11; an of_value in C++
 *   Number            the same; of_none() for None, of_absent() for the default
 *   int, dim, size    int64_t
 *   float             double
 *   T[]               a pointer and a count; a NULL pointer for None
 *   T?                a pointer to the value; NULL for None
 *
 * A failure returns its status, leaves the results as they are, and has its text in of_last_error().
 */
#ifndef ONEFLOW_OPERATORS_H_
#define ONEFLOW_OPERATORS_H_

#include <oneflow/values.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Adds two tensors, element by element.
 *
 *     add(Tensor|Number input, Tensor|Number other) -> Tensor
 */
static inline of_status of_add(of_value input, of_value other, of_tensor* result) {
  static of_op op;
  const of_value args[] = {input, other};
  of_tensor* const results[] = {result};
  return of_call_new(&op, "add", args, 2, results, 1);
}
static inline of_status of_add_out(of_value input, of_value other, of_tensor result) {
  static of_op op;
  const of_value args[] = {input, other};
  const of_tensor results[] = {result};
  return of_call_into(&op, "add", args, 2, results, 1);
}
static inline of_status of_add_(of_tensor input, of_value other) {
  static of_op op;
  const of_value args[] = {of_tensor_value(input), other};
  const of_tensor results[] = {input};
  return of_call_into(&op, "add", args, 2, results, 1);
}

/* Gaussian error linear unit.
 *
 *     gelu(Tensor input, *, str approximate='none') -> Tensor
 */
static inline of_status of_gelu(of_tensor input, const char* approximate, of_tensor* result) {
  static of_op op;
  const of_value args[] = {of_tensor_value(input), of_string_value(approximate)};
  of_tensor* const results[] = {result};
  return of_call_new(&op, "gelu", args, 2, results, 1);
}
static inline of_status of_gelu_out(of_tensor input, const char* approximate, of_tensor result) {
  static of_op op;
  const of_value args[] = {of_tensor_value(input), of_string_value(approximate)};
  const of_tensor results[] = {result};
  return of_call_into(&op, "gelu", args, 2, results, 1);
}
static inline of_status of_gelu_(of_tensor input, const char* approximate) {
  static of_op op;
  const of_value args[] = {of_tensor_value(input), of_string_value(approximate)};
  const of_tensor results[] = {input};
  return of_call_into(&op, "gelu", args, 2, results, 1);
}

/* The largest element along one dimension, and where it is.
 *
 *     max(Tensor input, dim dim, bool keepdim=False) -> (Tensor values, Tensor indices)
 */
static inline of_status of_max_dim(of_tensor input, int64_t dim, bool keepdim, of_tensor* values, of_tensor* indices) {
  static of_op op;
  const of_value args[] = {of_tensor_value(input), of_int_value(dim), of_bool_value(keepdim)};
  of_tensor* const results[] = {values, indices};
  return of_call_new(&op, "max.dim", args, 3, results, 2);
}
static inline of_status of_max_dim_out(of_tensor input, int64_t dim, bool keepdim, of_tensor values,
                                       of_tensor indices) {
  static of_op op;
  const of_value args[] = {of_tensor_value(input), of_int_value(dim), of_bool_value(keepdim)};
  const of_tensor results[] = {values, indices};
  return of_call_into(&op, "max.dim", args, 3, results, 2);
}

/* A tensor of zeros.
 *
 *     zeros(size[] size, *, dtype? dtype=None, device? device=None) -> Tensor
 */
static inline of_status of_zeros(const int64_t* size, size_t size_count, const of_dtype* dtype, const of_device* device,
                                 of_tensor* result) {
  static of_op op;
  const of_value args[] = {of_int_list_value(size, size_count), of_optional_dtype(dtype), of_optional_device(device)};
  of_tensor* const results[] = {result};
  return of_call_new(&op, "zeros", args, 3, results, 1);
}
static inline of_status of_zeros_out(const int64_t* size, size_t size_count, const of_dtype* dtype,
                                     const of_device* device, of_tensor result) {
  static of_op op;
  const of_value args[] = {of_int_list_value(size, size_count), of_optional_dtype(dtype), of_optional_device(device)};
  const of_tensor results[] = {result};
  return of_call_into(&op, "zeros", args, 3, results, 1);
}

/* The elements from `start` up to `end` along a dimension, in steps. The result is a view.
 *
 *     slice(Tensor(a) input, dim dim=0, int? start=None, int? end=None, int step=1) -> Tensor(a)
 */
static inline of_status of_slice(of_tensor input, int64_t dim, const int64_t* start, const int64_t* end, int64_t step,
                                 of_tensor* result) {
  static of_op op;
  const of_value args[] = {of_tensor_value(input), of_int_value(dim), of_optional_int(start), of_optional_int(end),
                           of_int_value(step)};
  of_tensor* const results[] = {result};
  return of_call_new(&op, "slice", args, 5, results, 1);
}

/* Every second of every second element, twice over.
 *
 *     double_slice(Tensor input) -> Tensor
 */
static inline of_status of_double_slice(of_tensor input, of_tensor* result) {
  static of_op op;
  const of_value args[] = {of_tensor_value(input)};
  of_tensor* const results[] = {result};
  return of_call_new(&op, "double_slice", args, 1, results, 1);
}

#ifdef __cplusplus
}
#else
/* Arguments that take tensors and numbers take either as it is. */
#define of_add(input, other, result) of_add(OF_VALUE(input), OF_VALUE(other), result)
#define of_add_out(input, other, result) of_add_out(OF_VALUE(input), OF_VALUE(other), result)
#define of_add_(input, other) of_add_(input, OF_VALUE(other))
#endif

#endif /* ONEFLOW_OPERATORS_H_ */
