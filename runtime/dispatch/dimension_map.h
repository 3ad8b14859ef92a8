// Dimension maps: which dimension of a result follows which dimension of which operand. They follow from the kind of an
// operator and the sizes of the operands, without data. Splitting tensors over devices, and graphs with sizes that vary
// from run to run, are built on them.
#ifndef ONEFLOW_DISPATCH_DIMENSION_MAP_H_
#define ONEFLOW_DISPATCH_DIMENSION_MAP_H_

#include <span>
#include <vector>

#include "dispatch/call.h"

namespace oneflow {

// How a dimension of a result depends on a dimension of an operand. If it does in several ways, the one that comes last
// in this order counts.
enum class Relation : uint8_t {
  kSame,        // index i of the result depends only on index i of the operand
  kBroadcast,   // the operand has size 1 there
  kSplit,       // the dimension of the operand becomes several: i = i1 * size2 + i2
  kMerged,      // several dimensions of the operand become one
  kWindowed,    // i = begin + the sum of factor * index over the linked dimensions of the result
  kIndexed,     // arguments or index tensors select indices of the operand
  kFolded,      // a fold runs along the dimension
  kContracted,  // products are summed along the dimension
  kOpaque,      // anything else
};

struct DimensionLink {
  int operand;     // the position of a tensor among all tensors of the arguments
  int dim;         // its dimension
  int result_dim;  // the dimension of the result; -1 if none corresponds
  Relation relation;
  int64_t factor = 1, begin = 0;  // of a window, which may reach out of the operand: there are no elements there

  friend bool operator==(const DimensionLink&, const DimensionLink&) = default;
};

// The links of a call. Every dimension of every operand has at least one. A dimension of the result without a link
// depends on no operand, as those of a generator.
struct DimensionMap {
  std::vector<DimensionLink> links;

  // Adds a link. If there is one between the same dimensions, the later relation counts.
  void add(const DimensionLink& link);
};

// Returns the dimension map of a call; all results have the same one. Throws the errors of the call that need no data,
// and Unsupported if the sizes of the results depend on data.
DimensionMap dimension_map(const Operator& op, std::span<const of_value> arguments);

// Calls visit(operand, argument, tensor) for each tensor of the arguments, including those of lists, with its number
// and the position of its argument.
template <class Visit>
void for_each_tensor(std::span<const of_value> arguments, Visit&& visit) {
  int operand = 0;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const of_value& value = arguments[i];
    const int argument = static_cast<int>(i);
    if (value.kind == OF_VALUE_TENSOR) visit(operand++, argument, *to_tensor(value.as.tensor));
    if (value.kind != OF_VALUE_TENSOR_LIST) continue;
    for (int item = 0; item < value.count; ++item)
      if (value.as.tensors[item]) visit(operand++, argument, *to_tensor(value.as.tensors[item]));
  }
}
template <class Visit>
void for_each_tensor(const Call& call, Visit&& visit) {
  for_each_tensor(std::span(call.arguments, call.schema().arguments.size()), std::forward<Visit>(visit));
}

// Adds the links of one operand, whose dimensions are aligned with those of the result at the end.
void add_broadcast(int operand, const Tensor& tensor, const Shape& result, DimensionMap& map);

// Adds the links of a call that is made of other calls, which `run` makes for inference: those of the first output.
void trace_dimensions(Call& call, void (*run)(Call&), DimensionMap& map);

// Notes an inner call for trace_dimensions(), if this thread runs it. Inference calls this after each inner call.
void note_inner_call(const Operator& op, std::span<const of_value> arguments, std::span<const of_value> results);

}  // namespace oneflow

#endif  // ONEFLOW_DISPATCH_DIMENSION_MAP_H_
