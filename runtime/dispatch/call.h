// One call of an operator on its way through dispatch, as the kinds' functions see it.
#ifndef ONEFLOW_DISPATCH_CALL_H_
#define ONEFLOW_DISPATCH_CALL_H_

#include <oneflow/types.h>

#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/scalar.h"
#include "dispatch/operator.h"
#include "tensor/tensor.h"

namespace oneflow {

// How a kernel treats a result that shares memory with an operand: whether it may be the operand itself.
enum class Aliasing {
  kForbidden,  // results never share memory with operands: a result in the place of an operand is computed aside
  kAllowed,    // exactly the same elements are fine: each is read before it is written
};

// Arguments are checked: of the right types, with defaults filled in, dims non-negative, names of dtypes and devices
// resolved, tensors on one device.
struct Call {
  Call(const Operator& op, const char* name, std::span<of_value> results, bool infer_only, const Tensor* spare)
      : op(op), name(name), results(results), infer_only(infer_only), spare(spare) {}
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  const Operator& op;
  const char* const name;       // of the operator that the user called, which this one may be a part of
  std::span<of_value> results;  // as the caller gave them: ABSENT, or the tensor or the tensors to write to
  const bool infer_only;        // only shapes and dtypes are asked for: no data is read, results have no memory
  const Tensor* const spare;  // an operand that nobody reads afterwards, so that a result may take its memory; or NULL
  bool is_complex = false;    // whether a tensor or a dtype among the arguments is
  of_device device{};         // of the tensors, of the `device` argument, or the default one
  int dim_count = 0;          // of `dims`
  TensorRef brought;          // an argument, copied to the device of the others
  // Each within a cache line: they are written in parts and read at once, which processors wait for across two lines (a
  // quarter of the cost of a small call).
  alignas(64) of_value arguments[kMaxArguments];
  TensorRef outputs[kMaxResults];  // what the kind's function leaves
  std::vector<TensorRef> listed;   // the same for an operator that gives a list
  of_device single_device{};       // one in the place of a list of them
  int64_t dims[2 * OF_MAX_RANK];   // where the checked lists of dims lie

  const Schema& schema() const { return op.schema(); }

  bool is_given(int argument) const { return arguments[argument].kind != OF_VALUE_NONE; }
  bool is_tensor(int argument) const { return arguments[argument].kind == OF_VALUE_TENSOR; }
  const Tensor& tensor(int argument) const { return *to_tensor(arguments[argument].as.tensor); }
  std::span<const of_tensor> tensors(int argument) const {
    return {arguments[argument].as.tensors, static_cast<size_t>(arguments[argument].count)};
  }
  std::span<const of_device> devices(int argument) const {
    return {arguments[argument].as.devices, static_cast<size_t>(arguments[argument].count)};
  }
  int64_t integer(int argument) const { return arguments[argument].as.integer; }
  bool boolean(int argument) const { return arguments[argument].as.boolean; }
  double real(int argument) const { return to_double(scalar_of(arguments[argument])); }
  of_scalar number(int argument) const { return scalar_of(arguments[argument]); }
  Sizes integers(int argument) const {
    return {arguments[argument].as.integers, static_cast<size_t>(arguments[argument].count)};
  }
  std::string_view string(int argument) const {
    return {arguments[argument].as.string, static_cast<size_t>(arguments[argument].count)};
  }
};

// Which of the expressions the matched attribute picks; 0 without one. InvalidArgument for an unknown value.
int match_variant(const Call& call);

// The dtypes of a call, by the record's rule.
struct DTypes {
  of_dtype results[kMaxResults];
  of_dtype compute;  // the type to compute in: float32, float64, int32, int64 or bool
};
DTypes resolve_dtypes(const Call& call);

// The common dtype of all operands that take part.
of_dtype promote_operands(const Call& call);

// The type that values of `dtype` are computed in.
of_dtype compute_type(of_dtype dtype);

// The tensor that a kernel shall write result `position` to: the caller's where there is one that fits, otherwise a
// new one (without memory when only shapes are asked for). A caller's tensor must have these sizes, a dtype that takes
// the result, and memory that does not overlap itself or, partly, an operand. Call it before reading the addresses of
// operands: writing may un-share memory.
Tensor& prepare_result(Call& call, int position, Sizes sizes, of_dtype dtype, Aliasing aliasing);
// The same for kernels that write `dtype` and nothing else.
Tensor& prepare_exact_result(Call& call, int position, Sizes sizes, of_dtype dtype);

// The tensors that the caller gave for the list of results; empty where the list is to be made.
std::span<const of_tensor> given_list(const Call& call);

// InvalidArgument where a write to one element would change another, as in an expanded tensor.
void check_writable(const Tensor& tensor);

// An error unless a result of these sizes and dtype can be stored in the caller's tensor.
void check_given(const Tensor& given, Sizes sizes, of_dtype dtype);

// Another reference to a tensor.
inline TensorRef share(const Tensor& tensor) { return TensorRef::share(const_cast<Tensor*>(&tensor)); }

// Leaves an existing tensor as a result: a view, or what another operator gave.
void set_result(Call& call, int position, TensorRef tensor);

// Leaves the list of results.
void set_results(Call& call, std::vector<TensorRef> tensors);

// The end of a call: hands the outputs to the caller.
void store_results(Call& call);

}  // namespace oneflow

#endif  // ONEFLOW_DISPATCH_CALL_H_
