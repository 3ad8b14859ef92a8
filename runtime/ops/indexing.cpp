#include "ops/indexing.h"

#include <vector>

#include "base/error.h"
#include "dispatch/dispatch.h"
#include "dispatch/layers.h"
#include "ops/view.h"
#include "tensor/create.h"

namespace oneflow {

namespace {

constinit const OperatorName kCopy("copy");
constinit const OperatorName kFill("fill");
constinit const OperatorName kIndex("index");
constinit const OperatorName kIndexPut("index_put_");
constinit const OperatorName kSelect("select");
constinit const OperatorName kSlice("slice");
constinit const OperatorName kUnsqueeze("unsqueeze");

// The outcome of an indexing expression: the view that the basic parts give, and the tensors that index it.
struct Selection {
  TensorRef held;      // keeps the view alive; NULL if it is the indexed tensor itself
  const Tensor* view;  // reference counts, which are atomic, take a considerable part of the time of a small view
  std::vector<TensorRef> indices;  // for each dimension of the view up to the last indexed one; NULL: not indexed
  bool is_advanced = false;        // whether `indices` has to be applied

  void replace(TensorRef next) {
    held = std::move(next);
    view = held.get();
  }
  std::vector<of_tensor> handles() const {
    std::vector<of_tensor> result;
    for (const TensorRef& index : indices) result.push_back(index.get());
    return result;
  }
};

// Returns the number of dimensions that a part indexes.
int dims_taken(const of_index& part) {
  switch (part.kind) {
    case OF_INDEX_INT:
    case OF_INDEX_SLICE:
      return 1;
    case OF_INDEX_TENSOR:
      return to_tensor(part.tensor)->dtype() == OF_BOOL ? to_tensor(part.tensor)->rank() : 1;
    case OF_INDEX_ELLIPSIS:
    case OF_INDEX_NEW:
    case OF_INDEX_BOOL:
      return 0;
  }
  fail(OF_INVALID_ARGUMENT, "invalid index kind %d", static_cast<int>(part.kind));
}

// Applies the basic parts of an indexing expression and collects the advanced ones.
class Selector {
 public:
  Selector(const Tensor& tensor, std::span<const of_index> parts)
      : parts_(parts),
        makes_one_view_(tensor.has_memory() && !wanted_layers(tensor.carried_layers())),
        layout_(layout_of(tensor)) {
    selection_.view = &tensor;
    bool has_ellipsis = false;
    int taken = 0;
    for (const of_index& part : parts) {
      if (part.kind == OF_INDEX_TENSOR && !part.tensor)
        fail(OF_INVALID_ARGUMENT, "an index of kind TENSOR has no tensor");
      if (part.kind == OF_INDEX_ELLIPSIS && has_ellipsis)
        fail(OF_INVALID_ARGUMENT, "an index may have one ellipsis, got several");
      has_ellipsis |= part.kind == OF_INDEX_ELLIPSIS;
      selection_.is_advanced |= part.kind == OF_INDEX_TENSOR || part.kind == OF_INDEX_BOOL;
      taken += dims_taken(part);
    }
    if (taken > tensor.rank())
      fail(OF_INDEX_OUT_OF_RANGE, "too many indices: the tensor has %d dimension%s, got %d", tensor.rank(),
           tensor.rank() == 1 ? "" : "s", taken);
    rest_ = tensor.rank() - taken;
  }

  Selection select() {
    for (const of_index& part : parts_) apply(part);
    if (makes_one_view_ && has_views_) selection_.replace(view_of(*selection_.view, layout_));
    return std::move(selection_);
  }

 private:
  void apply(const of_index& part) {
    switch (part.kind) {
      case OF_INDEX_INT:
        return apply_int(part.start);
      case OF_INDEX_SLICE:
        return apply_slice(part);
      case OF_INDEX_ELLIPSIS:
        caller_dim_ += rest_;
        return keep(rest_);
      case OF_INDEX_NEW:
        apply_view(kUnsqueeze);
        return keep(1);
      case OF_INDEX_TENSOR:
        dim_ += dims_taken(part);
        caller_dim_ += dims_taken(part);
        return add_index(share(*to_tensor(part.tensor)));
      case OF_INDEX_BOOL:
        return add_index(scalar_tensor(bool_scalar(part.start != 0), OF_BOOL, selection_.view->device()));
    }
  }

  // Applies a view along the next dimension, of which `values` are the further arguments.
  template <class... Values>
  void apply_view(const OperatorName& name, const Values&... values) {
    if (makes_one_view_) {
      const of_value arguments[] = {kNone, to_value(dim_), to_value(values)...};
      layout_ = view_layout(*name, layout_, arguments);
    } else {
      selection_.replace(call_operator(name, *selection_.view, dim_, values...));
      layout_ = layout_of(*selection_.view);
    }
    has_views_ = true;
  }

  void apply_int(int64_t position) {
    const int64_t size = layout_.sizes[dim_];
    if (position < -size || position >= size)
      fail(OF_INDEX_OUT_OF_RANGE, "index %lld is out of range for dimension %d of size %lld",
           static_cast<long long>(position), caller_dim_, static_cast<long long>(size));
    ++caller_dim_;
    if (!selection_.is_advanced) {
      apply_view(kSelect, position);
      return;
    }
    // In advanced indexing, an integer counts as a 0-d index tensor: it has an influence on the position of the common
    // shape in the result.
    add_index(scalar_tensor(int_scalar(position), OF_INT64, selection_.view->device()));
    ++dim_;
  }

  void apply_slice(const of_index& part) {
    const of_value start = part.has_start ? to_value(part.start) : kNone;
    const of_value stop = part.has_stop ? to_value(part.stop) : kNone;
    if (part.has_start || part.has_stop || part.step != 1) apply_view(kSlice, start, stop, part.step);
    ++caller_dim_;
    keep(1);
  }

  // Skips `count` dimensions of the view, which are not indexed.
  void keep(int count) {
    dim_ += count;
    places_ += static_cast<size_t>(count);
  }

  // Adds a tensor that indexes the next dimension of the view.
  void add_index(TensorRef index) {
    selection_.indices.resize(places_++);
    selection_.indices.push_back(std::move(index));
  }

  std::span<const of_index> parts_;
  // Whether the basic parts together make one view, rather than one each, as no layer wants to see them.
  const bool makes_one_view_;
  bool has_views_ = false;  // whether a part has been applied
  Layout layout_;           // after the parts so far
  Selection selection_;
  int rest_;            // the number of dimensions that the ellipsis, or the missing parts, stand for
  int dim_ = 0;         // the next dimension of the view
  size_t places_ = 0;   // the number of indices, with those that are NULL, for the dimensions before it
  int caller_dim_ = 0;  // the next dimension of the tensor, for error texts
};

// Removes leading dimensions of size 1 beyond `rank`: as in NumPy, assigned values may have more dimensions than the
// elements that they are assigned to.
TensorRef without_leading_ones(const Tensor& value, int rank) {
  TensorRef result = share(value);
  while (result->rank() > rank && result->size(0) == 1) result = call_operator(kSelect, result, 0, 0);
  return result;
}

}  // namespace

TensorRef get_items(const Tensor& tensor, std::span<const of_index> parts) {
  Selection selection = Selector(tensor, parts).select();
  if (!selection.is_advanced) return selection.held ? std::move(selection.held) : share(tensor);
  std::vector<of_tensor> handles = selection.handles();
  return call_operator(kIndex, *selection.view, std::span<of_tensor>(handles));
}

void set_items(const Tensor& tensor, std::span<const of_index> parts, const of_value& value) {
  if (!is_number(value) && !(value.kind == OF_VALUE_TENSOR && value.as.tensor))
    fail(OF_TYPE_MISMATCH, "the value to assign must be a tensor or a number");
  const Selection selection = Selector(tensor, parts).select();
  const TensorRef values = is_number(value) ? TensorRef()
                                            : without_leading_ones(*to_tensor(value.as.tensor),
                                                                   selection.is_advanced ? 0 : selection.view->rank());
  if (selection.is_advanced) {
    std::vector<of_tensor> handles = selection.handles();
    if (is_number(value)) check_fits(scalar_of(value), tensor.dtype(), "value");
    const TensorRef number =
        is_number(value) ? scalar_tensor(scalar_of(value), tensor.dtype(), tensor.device()) : TensorRef();
    call_operator(kIndexPut, *selection.view, std::span<of_tensor>(handles), number ? number : values);
    return;
  }
  const of_value arguments[] = {to_value(*selection.view), values ? to_value(values) : value};
  of_value result = arguments[0];
  call(*(is_number(value) ? kFill : kCopy), arguments, {&result, 1});
}

}  // namespace oneflow
