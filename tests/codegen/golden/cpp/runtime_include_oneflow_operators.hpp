/* generated from opdefs by codegen, do not edit
 *
 * The operators as functions of C++ tensors, their out and in-place forms, and the operators of the language. Included
 * by <oneflow/oneflow.hpp>.
 */
#ifndef ONEFLOW_OPERATORS_HPP_
#define ONEFLOW_OPERATORS_HPP_

#include <oneflow/oneflow.hpp>

namespace oneflow {

/// What max gives; it also unpacks: auto [values, indices] = ...
struct MaxDimResult {
  Tensor values;
  Tensor indices;
};

/// Adds two tensors, element by element.
///
///     add(Tensor|Number input, Tensor|Number other) -> Tensor
inline Tensor add(const Operand& input, const Operand& other) {
  static of_op op;
  return detail::call<1>(op, "add", {detail::value_of(input), detail::value_of(other)})[0];
}
inline void add_out(const Operand& input, const Operand& other, Tensor& result) {
  static of_op op;
  detail::call_into(op, "add", {detail::value_of(input), detail::value_of(other)}, {result.get()});
}
inline Tensor& add_(Tensor& input, const Operand& other) {
  static of_op op;
  detail::call_into(op, "add", {detail::value_of(input), detail::value_of(other)}, {input.get()});
  return input;
}

/// Every second of every second element, twice over.
///
///     double_slice(Tensor input) -> Tensor
inline Tensor double_slice(const Tensor& input) {
  static of_op op;
  return detail::call<1>(op, "double_slice", {detail::value_of(input)})[0];
}

/// Every second of every second element, twice over.
///
///     double_slice(Tensor input) -> Tensor
inline Tensor doubled(const Tensor& input) {
  static of_op op;
  return detail::call<1>(op, "double_slice", {detail::value_of(input)})[0];
}

/// Gaussian error linear unit.
///
///     gelu(Tensor input, *, str approximate='none') -> Tensor
inline Tensor gelu(const Tensor& input, std::string_view approximate = "none") {
  static of_op op;
  return detail::call<1>(op, "gelu", {detail::value_of(input), detail::value_of(approximate)})[0];
}
inline void gelu_out(const Tensor& input, std::string_view approximate, Tensor& result) {
  static of_op op;
  detail::call_into(op, "gelu", {detail::value_of(input), detail::value_of(approximate)}, {result.get()});
}
inline Tensor& gelu_(Tensor& input, std::string_view approximate = "none") {
  static of_op op;
  detail::call_into(op, "gelu", {detail::value_of(input), detail::value_of(approximate)}, {input.get()});
  return input;
}

/// The largest element along one dimension, and where it is.
///
///     max(Tensor input, dim dim, bool keepdim=False) -> (Tensor values, Tensor indices)
inline MaxDimResult max(const Tensor& input, int64_t dim, bool keepdim = false) {
  static of_op op;
  auto results = detail::call<2>(op, "max.dim", {detail::value_of(input), detail::value_of(dim),
                                                 detail::value_of(keepdim)});
  return {std::move(results[0]), std::move(results[1])};
}
inline void max_out(const Tensor& input, int64_t dim, bool keepdim, Tensor& values, Tensor& indices) {
  static of_op op;
  detail::call_into(op, "max.dim", {detail::value_of(input), detail::value_of(dim),
                                    detail::value_of(keepdim)}, {values.get(), indices.get()});
}

/// The elements from `start` up to `end` along a dimension, in steps. The result is a view.
///
///     slice(Tensor(a) input, dim dim=0, int? start=None, int? end=None, int step=1) -> Tensor(a)
inline Tensor slice(const Tensor& input, int64_t dim = 0, std::optional<int64_t> start = std::nullopt,
                    std::optional<int64_t> end = std::nullopt, int64_t step = 1) {
  static of_op op;
  return detail::call<1>(op, "slice", {detail::value_of(input), detail::value_of(dim), detail::value_of(start),
                                       detail::value_of(end), detail::value_of(step)})[0];
}

/// A tensor of zeros.
///
///     zeros(size[] size, *, dtype? dtype=None, device? device=None) -> Tensor
inline Tensor zeros(const Ints& size, std::optional<DType> dtype = std::nullopt,
                    const std::optional<Device>& device = std::nullopt) {
  static of_op op;
  return detail::call<1>(op, "zeros", {detail::value_of(size), detail::value_of(dtype), detail::value_of(device)})[0];
}
inline void zeros_out(const Ints& size, std::optional<DType> dtype, const std::optional<Device>& device,
                      Tensor& result) {
  static of_op op;
  detail::call_into(op, "zeros", {detail::value_of(size), detail::value_of(dtype),
                                  detail::value_of(device)}, {result.get()});
}

// ---------------------------------------------------------------- operators of the language: element by element

inline Tensor operator+(const Tensor& left, const Operand& right) { return add(left, right); }
template <typename T>
  requires std::is_arithmetic_v<T>
Tensor operator+(T left, const Tensor& right) {
  return add(Operand(left), right);
}

// ---------------------------------------------------------------- methods

inline const Tensor& TensorMethods::self() const { return static_cast<const Tensor&>(*this); }
inline Tensor& TensorMethods::self() { return static_cast<Tensor&>(*this); }
inline Tensor TensorMethods::add(const Operand& other) const {
  return oneflow::add(self(), other);
}
inline Tensor& TensorMethods::add_(const Operand& other) {
  return oneflow::add_(self(), other);
}
inline Tensor TensorMethods::double_slice() const {
  return oneflow::double_slice(self());
}
inline Tensor TensorMethods::doubled() const {
  return oneflow::doubled(self());
}
inline Tensor TensorMethods::gelu(std::string_view approximate) const {
  return oneflow::gelu(self(), approximate);
}
inline Tensor& TensorMethods::gelu_(std::string_view approximate) {
  return oneflow::gelu_(self(), approximate);
}
inline MaxDimResult TensorMethods::max(int64_t dim, bool keepdim) const {
  return oneflow::max(self(), dim, keepdim);
}
inline Tensor TensorMethods::slice(int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end,
                                   int64_t step) const {
  return oneflow::slice(self(), dim, start, end, step);
}

}  // namespace oneflow

#endif  // ONEFLOW_OPERATORS_HPP_
