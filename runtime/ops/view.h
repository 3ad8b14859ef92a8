// Operators of kind `view`: the record's program maps the input to other sizes and strides over the same memory.
#ifndef ONEFLOW_OPS_VIEW_H_
#define ONEFLOW_OPS_VIEW_H_

#include "ops/axes.h"
#include "ops/index_map.h"
#include "ops/size_body.h"

namespace oneflow {

// What the generated program of a view sees: its arguments, of which the tensor is an index map.
template <class Numbers>
class MapBody : public SizeBody {
 public:
  using Map = IndexMap<Numbers>;

  MapBody(const Call& call, const Map& input) : SizeBody(call), input_(input) {}

  const Map& map(int) const { return input_; }

 private:
  const Map& input_;
};

// The same program, for strides and for the dimension map.
struct ViewRule {
  IndexMap<StridedNumbers> (*map)(const MapBody<StridedNumbers>&);
  IndexMap<AxisNumbers> (*axes)(const MapBody<AxisNumbers>&);
};

// A layout to which views are applied one after the other, before a tensor is made of the last one: of a tensor with
// memory whose views no layer wants to see.
using Layout = IndexMap<StridedNumbers>;
Layout layout_of(const Tensor& tensor);
// Returns the layout of a view. `arguments` are those of the operator, checked; the tensor is not read. Throws the
// errors of call().
Layout view_layout(const Operator& op, const Layout& layout, std::span<const of_value> arguments);
// Returns the view of a tensor that has a layout. Throws InvalidArgument if the layout reaches outside of the storage.
TensorRef view_of(const Tensor& input, const Layout& layout);

// Returns a view of the input. If the strides do not allow one, it is a view of a copy.
void run_view(Call& call);
// Copies the elements of the view to a new tensor.
void run_copied_view(Call& call);

void view_dimensions(Call& call, const Shape& result, DimensionMap& map);

}  // namespace oneflow

#endif  // ONEFLOW_OPS_VIEW_H_
