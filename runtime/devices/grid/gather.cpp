// Runs gather kernels: an index map gives the position in the input from which each element of the result is read.
#include "entries.h"
#include "merged.h"
#include "space.h"

namespace oneflow::grid {
namespace {

constexpr uint32_t kItems = 256;
constexpr size_t kMostLists = 4;

enum { kResult, kInput, kIndex };  // the operands of the iteration space

// The launches of one gather.
class Launches {
 public:
  Launches(const Gather& entry, const GatherKernels& kernels, const of_kernel_context& context)
      : entry_(entry),
        kernel_(kernels.kernels.best(kAny)),
        context_(context),
        input_(context.inputs[0]),
        result_(context.outputs[0]),
        settings_(entry.settings, OF_INT64, context.arguments) {
    const of_value& dims = context.arguments[entry.dims_argument];
    const bool is_list = dims.kind == OF_VALUE_INT_LIST;
    named_ = is_list ? dims.as.integers : &dims.as.integer;
    named_count_ = static_cast<int32_t>(is_list ? dims.count : 1);
    if (entry.index_input >= 0) index_ = &context.inputs[entry.index_input];
    for (int32_t d = 0; d < result_.rank; ++d) add(d);
    const uint32_t bytes = item_size(result_.dtype);
    const uintptr_t addresses = reinterpret_cast<uintptr_t>(result_.data) | reinterpret_cast<uintptr_t>(input_.data);
    bytes_ = static_cast<int32_t>(bytes * space_.join(2, bytes, addresses));
  }

  of_status run() {
    if (element_count(result_) == 0) return OF_OK;
    if (space_.rank() > OF_GRID_RANK) return fail(OF_UNSUPPORTED, "too many dimensions");
    if ((report_ = report(context_)) == nullptr) return OF_OUT_OF_MEMORY;
    for (size_t i = 0; i < entry_.lists.size(); ++i) {
      const of_value& list = context_.arguments[entry_.lists[i]];
      for (int32_t k = 0; k < named_count_; ++k) lists_[i].members[k] = list.as.integers[k];
    }
    Pieces pieces(space_.rank(), space_.sizes());
    of_status status = OF_OK;
    do {
      status = launch_piece(pieces);
    } while (status == OF_OK && pieces.next());
    return status;
  }

 private:
  // A dimension of the space: the named dimension of the input that it stands for, if any.
  struct Dim {
    int32_t ordinal = -1, dim = 0;
    int64_t size = 0;
  };

  // Returns the index of an input dimension in the list of named dimensions, or -1.
  int32_t ordinal_of(int32_t dim) const {
    for (int32_t k = 0; k < named_count_; ++k) {
      if (named_[k] == dim) return k;
    }
    return -1;
  }

  void add(int32_t dim) {
    const int32_t ordinal = ordinal_of(dim);
    const int64_t index_stride = entry_.index_everywhere ? index_->strides[dim] : 0;
    const Merged<3>::Strides strides = {result_.strides[dim], input_.strides[dim], index_stride};
    if (ordinal < 0) return space_.add(result_.sizes[dim], strides);
    dims_[space_.add_separate(result_.sizes[dim], strides)] = {ordinal, dim, input_.sizes[dim]};
  }

  of_gather gather_for(const Pieces& pieces) const {
    of_gather gather{};
    const int32_t rank = gather.rank = space_.rank();
    for (int32_t i = 0; i < rank; ++i) {
      const int32_t d = rank - 1 - i;
      gather.ordinals[i] = dims_[d].ordinal;
      gather.dims[i] = dims_[d].dim;
      gather.first[i] = pieces.first(d);
      gather.sizes[i] = dims_[d].size;
      gather.strides[i] = space_.strides(kInput)[d];
    }
    return gather;
  }

  of_status launch_piece(const Pieces& pieces) {
    const of_space& space = pieces.space();
    const of_gather gather = gather_for(pieces);
    const of_strides result_strides = pieces.strides(space_.strides(kResult));
    of_strides index_strides{};
    int32_t index_dtype = OF_INT64;
    const uint64_t op = reinterpret_cast<uintptr_t>(context_.op);

    Arguments arguments;
    arguments.value(space);
    arguments.value(gather);
    arguments.value(bytes_);
    arguments.pointer(static_cast<char*>(result_.data) + pieces.offset(space_.strides(kResult)) * bytes_);
    arguments.value(result_strides);
    arguments.pointer(input_.data);
    if (index_ != nullptr) {
      int64_t offset = 0;
      index_dtype = index_->dtype;
      if (entry_.index_everywhere) {
        index_strides = pieces.strides(space_.strides(kIndex));
        offset = pieces.offset(space_.strides(kIndex));
      } else {
        index_strides.dims[0] = index_->rank == 0 ? 0 : index_->strides[0];
      }
      arguments.pointer(static_cast<const char*>(index_->data) + offset * item_size(index_->dtype));
      arguments.value(index_strides);
      arguments.value(index_dtype);
    }
    settings_.add_to(arguments);
    for (size_t i = 0; i < entry_.lists.size(); ++i) arguments.value(lists_[i]);
    arguments.pointer(report_);
    arguments.value(op);
    return launch(context_, kernel_, {.groups = groups_for(space.count, kItems), .items = kItems}, arguments);
  }

  const Gather& entry_;
  const Handle kernel_;
  const of_kernel_context& context_;
  const of_kernel_tensor& input_;
  const of_kernel_tensor& result_;
  const of_kernel_tensor* index_ = nullptr;
  const Settings settings_;
  const int64_t* named_;
  int32_t named_count_;
  Merged<3> space_;
  Dim dims_[OF_MAX_RANK];
  int32_t bytes_;  // moved by one access
  of_list lists_[kMostLists] = {};
  of_report* report_ = nullptr;
};

}  // namespace

of_status run(const Gather& entry, const GatherKernels& kernels, const of_kernel_context& context) {
  return Launches(entry, kernels, context).run();
}

}  // namespace oneflow::grid
