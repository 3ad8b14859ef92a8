// The state of one call of an operator, which dispatch passes to the function of the operator's kind.
#ifndef ONEFLOW_DISPATCH_CALL_H_
#define ONEFLOW_DISPATCH_CALL_H_

#include <oneflow/oneflow.h>

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/scalar.h"
#include "dispatch/operator.h"
#include "tensor/defaults.h"
#include "tensor/tensor.h"

namespace oneflow {

// Whether a kernel can write a result to the memory of an operand.
enum class Aliasing {
  kForbidden,  // no: such a result is computed in other memory, and copied
  kAllowed,    // yes, if both have the same elements at the same indices: each element is read before it is written
};

// The arguments are checked: they have the right types, defaults are filled in, dims are non-negative, names of dtypes
// and devices are resolved, and all tensors are on one device, unless the schema allows others.
struct Call {
  Call(const Operator& op, const char* name, std::span<of_value> results, bool infer_only, const Tensor* donated)
      : op(op), name(name), results(results), infer_only(infer_only), donated(donated) {}
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  const Operator& op;
  const char* const name;       // the operator that the user called, which may call this one internally
  std::span<of_value> results;  // the caller's: ABSENT, or the tensor or the list of tensors to write to
  const bool infer_only;        // computes only shapes and dtypes: no data is read, and results have no memory
  const Tensor* const donated;  // an operand that is not used after the call, so that a result may reuse its memory; or
                                // null
  const of_box* box = nullptr;  // the checked part of the result that is computed; null: all of it
  bool is_complex = false;      // whether the arguments include a complex tensor or dtype
  bool writes_given = false;    // whether at least one result goes to a tensor of the caller
  bool is_done = false;         // whether a layer has passed the call on, and it succeeded
  int8_t misplaced = -1;        // the first argument with a tensor on another device than `device`; -1: none
  int8_t placed = -1;           // the first argument with a tensor, which is on `device`
  uint32_t carried_layers = 0;  // a bit for each layer whose data a tensor of the call carries
  // A bit for each layer that wants the call, for those that it may still enter, and for those that the calls of its
  // body may enter. They are set only if a layer wants the call.
  uint32_t wanted_layers, open_layers, body_layers;
  of_device device{};  // the device of the tensors, that of the `device` argument, or the default device
  int dim_count = 0;   // the number of items in `dims`
  // Aligned so that each value is within one cache line. A value is written in parts and then loaded as a whole, which
  // is slow across two cache lines.
  alignas(64) of_value arguments[kMaxArguments];
  TensorRef outputs[kMaxResults];      // the results, which the kind's function stores
  TensorRef converted_index;           // the argument of indices, if it had another dtype than kernels read
  std::vector<TensorRef> output_list;  // the results of an operator that returns a list
  std::optional<RandomState> random;   // the position of the random numbers that the call has drawn
  of_device single_device{};           // memory for a single device that was given in place of a list
  int64_t dims[2 * OF_MAX_RANK];       // memory for checked lists of integers

  const Schema& schema() const { return op.schema(); }

  // Returns whether an optional argument is not None.
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
  // Returns the generator that an argument gives, or else the default one.
  Generator& generator(int argument) const {
    return is_given(argument) ? *to_generator(arguments[argument].as.generator) : default_generator();
  }
  Sizes integers(int argument) const {
    return {arguments[argument].as.integers, static_cast<size_t>(arguments[argument].count)};
  }
  std::string_view string(int argument) const {
    return {arguments[argument].as.string, static_cast<size_t>(arguments[argument].count)};
  }
};

// Calls visit(tensor) for each tensor that the caller wants results to be written to.
template <class Visit>
void for_each_given(std::span<const of_value> results, Visit&& visit) {
  for (const of_value& result : results) {
    if (result.kind == OF_VALUE_ABSENT) [[likely]]
      continue;
    if (result.kind == OF_VALUE_TENSOR) visit(*to_tensor(result.as.tensor));
    if (result.kind != OF_VALUE_TENSOR_LIST) continue;
    for (int i = 0; i < result.count; ++i) visit(*to_tensor(result.as.tensors[i]));
  }
}

// Returns the index of the expression that the matched attribute selects; 0 for an operator without one. Throws
// InvalidArgument for an unknown value.
int match_variant(const Call& call);

// The dtypes of a call.
struct DTypes {
  of_dtype results[kMaxResults];
  of_dtype compute;  // the compute type: float32, float64, int32, int64 or bool
};
// Computes the dtypes by the dtype rule of the operator. Throws DTypeError if the operands have no common dtype, or the
// dtype argument is not a floating-point type where it must be.
DTypes dtypes_of(const Call& call);
// Like dtypes_of(), and converts the numbers that become elements of the result to its dtype, as far as kernels would
// not do so exactly. Throws InvalidArgument if one does not fit.
DTypes resolve_dtypes(Call& call);

// Returns the promoted dtype of the operands. Throws DTypeError if they have no common dtype.
of_dtype promote_operands(const Call& call);

// Returns the compute type for values of `dtype`; for complex dtypes, that of their parts.
of_dtype compute_type(of_dtype dtype);

// Returns the tensor that a kernel must write the result at `position` to, and stores it as an output of the call: the
// caller's tensor if the kernel can write to it, otherwise the donated operand or a new tensor. With infer_only, the
// tensor has no memory. Throws an error unless the caller's tensor has these sizes, a dtype that can hold the result,
// and memory that overlaps neither itself nor, in part, an operand.
//
// Must be called before the addresses of operands are read: it may replace shared memory of the result by a copy.
Tensor& prepare_result(Call& call, int position, Sizes sizes, of_dtype dtype, Aliasing aliasing);
// Like prepare_result(), for kernels that only write elements of type `dtype`, and do not allow aliasing.
Tensor& prepare_exact_result(Call& call, int position, Sizes sizes, of_dtype dtype);

// Makes the memory of all arguments that the operator writes to writable, before a body writes to the first of them:
// where memory runs out, none is written.
void prepare_writes(const Call& call);

// Returns the caller's tensors for the results of an operator that returns a list; empty if the list is to be
// allocated.
std::span<const of_tensor> destination_list(const Call& call);

// Throws InvalidArgument if several elements of a tensor share memory, as in an expanded tensor.
void check_writable(const Tensor& tensor);

// Throws an error unless a result of the given sizes and dtype can be stored in the caller's tensor.
void check_destination(const Tensor& destination, Sizes sizes, of_dtype dtype);

// Returns another reference to a tensor.
inline TensorRef share(const Tensor& tensor) { return TensorRef::share(const_cast<Tensor*>(&tensor)); }

// Stores an existing tensor as the output at `position`: a view, or the result of another operator.
void set_result(Call& call, int position, TensorRef tensor);

// Stores the outputs of an operator that returns a list.
void set_results(Call& call, std::vector<TensorRef> tensors);

// Transfers the outputs to the caller at the end of a call. Copies them to the caller's tensors where the kernel has
// not written to these.
void store_results(Call& call);

}  // namespace oneflow

#endif  // ONEFLOW_DISPATCH_CALL_H_
