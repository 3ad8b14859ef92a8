/* generated from opdefs by codegen, do not edit
 *
 * The operators as methods of Tensor. Included by <oneflow/oneflow.hpp>.
 */
#ifndef ONEFLOW_TENSOR_METHODS_HPP_
#define ONEFLOW_TENSOR_METHODS_HPP_

#include <oneflow/oneflow.hpp>

namespace oneflow {

struct MaxDimResult;

/// The base of Tensor: every operator whose first tensor is called `input`, with that tensor bound.
class TensorMethods {
 public:
  /// Adds two tensors, element by element.
  ///
  ///     add(Tensor|Number input, Tensor|Number other) -> Tensor
  Tensor add(const Operand& other) const;
  Tensor& add_(const Operand& other);
  /// Every second of every second element, twice over.
  ///
  ///     double_slice(Tensor input) -> Tensor
  Tensor double_slice() const;
  /// Every second of every second element, twice over.
  ///
  ///     double_slice(Tensor input) -> Tensor
  Tensor doubled() const;
  /// Gaussian error linear unit.
  ///
  ///     gelu(Tensor input, *, str approximate='none') -> Tensor
  Tensor gelu(std::string_view approximate = "none") const;
  Tensor& gelu_(std::string_view approximate = "none");
  /// The largest element along one dimension, and where it is.
  ///
  ///     max(Tensor input, dim dim, bool keepdim=False) -> (Tensor values, Tensor indices)
  MaxDimResult max(int64_t dim, bool keepdim = false) const;
  /// The elements from `start` up to `end` along a dimension, in steps. The result is a view.
  ///
  ///     slice(Tensor(a) input, dim dim=0, int? start=None, int? end=None, int step=1) -> Tensor(a)
  Tensor slice(int64_t dim = 0, std::optional<int64_t> start = std::nullopt, std::optional<int64_t> end = std::nullopt,
               int64_t step = 1) const;

 protected:
  TensorMethods() = default;
  ~TensorMethods() = default;

 private:
  const Tensor& self() const;
  Tensor& self();
};

}  // namespace oneflow

#endif  // ONEFLOW_TENSOR_METHODS_HPP_
