// Runs reductions: one launch folds elements into results. Where several groups share the elements of a result, it
// folds them into states, which a second launch merges.
#include <algorithm>

#include "entries.h"
#include "fold_plan.h"

namespace oneflow::grid {
namespace {

constexpr int kMostParts = 4;
constexpr int kMostResults = 2;
constexpr uint32_t kStateBytes = 8;

// The launches of one reduction.
class Folds {
 public:
  Folds(const Reduction& entry, const ReductionKernels& kernels, const of_kernel_context& context)
      : entry_(entry),
        kernels_(kernels),
        context_(context),
        input_(context.inputs[0]),
        has_own_(kernels.lines.of(input_.dtype) != nullptr),
        run_(fold_run(context.device, item_size(has_own_ ? input_.dtype : kernels.compute))),
        layout_(input_, context.reduced, run_.min_lane_size),
        kept_strides_(layout_.kept, input_.strides),
        folded_strides_(layout_.folded, input_.strides),
        positions_(layout_.folded, input_.strides),
        settings_(entry.settings, kernels.compute, context.arguments) {
    // Positions number the folded elements in row-major order of the tensor, whatever order the layout gives them.
    int64_t position = 1;
    int64_t steps[OF_MAX_RANK] = {};
    for (int32_t d = input_.rank - 1; d >= 0; --d) {
      if ((context.reduced >> d & 1) == 0) continue;
      steps[d] = position;
      position *= input_.sizes[d];
    }
    count_ = position;
    positions_ = DimStrides(layout_.folded, steps);
  }

  of_status run() const {
    Pieces kept(layout_.kept.rank, layout_.kept.sizes);
    of_status status = OF_OK;
    do {
      status = fold(kept);
    } while (status == OF_OK && kept.next());
    return status;
  }

 private:
  // The arrays of states, one for each part.
  struct States {
    void* parts[kMostParts] = {};
  };

  of_status fold(const Pieces& kept) const {
    uint32_t splits = 0;
    if (count_ != 0) {
      Pieces folded(layout_.folded.rank, layout_.folded.sizes);
      do {
        splits += plan(kept, folded).splits;
      } while (folded.next());
      if (splits == 1) return launch_folds(kept, {});
    }
    Scratch scratch(context_);
    const uint64_t bytes = uint64_t{splits} * kept.space().count * kStateBytes;
    if (bytes != 0) {
      if (const of_status status = scratch.allocate(bytes * entry_.parts.size()); status != OF_OK) return status;
    }
    States states;
    for (size_t i = 0; i < entry_.parts.size(); ++i) states.parts[i] = static_cast<char*>(scratch.data()) + i * bytes;
    if (splits != 0) {
      if (const of_status status = launch_folds(kept, states); status != OF_OK) return status;
    }
    return merge(kept, states, splits);
  }

  of_status launch_folds(const Pieces& kept, const States& states) const {
    Pieces folded(layout_.folded.rank, layout_.folded.sizes);
    uint32_t first_split = 0;
    of_status status = OF_OK;
    do {
      FoldPlan plan = this->plan(kept, folded);
      of_fold& fold = plan.fold;
      fold.kept_strides = kept.strides(kept_strides_.list);
      fold.folded_strides = folded.strides(folded_strides_.list);
      fold.positions = folded.strides(positions_.list);
      fold.first_position = folded.offset(positions_.list);
      fold.count = count_;
      fold.first_split = first_split;
      first_split += plan.splits;
      const void* data = first_element(kept, folded);
      const int32_t dtype = input_.dtype;
      Arguments arguments;
      arguments.value(fold);
      arguments.pointer(data);
      arguments.value(dtype);
      Results results;
      add_rest(arguments, states, kept, results);
      const Variants& variants = layout_.is_lines ? kernels_.lines : kernels_.rows;
      status = launch(context_, kernel_for(run_, layout_, input_, variants),
                      {.groups = plan.groups, .groups_y = plan.splits, .items = run_.items}, arguments);
    } while (status == OF_OK && folded.next());
    return status;
  }

  of_status merge(const Pieces& kept, const States& states, uint32_t splits) const {
    const MergePlan plan = plan_merge(run_, kept.space(), splits, count_);
    Arguments arguments;
    arguments.value(plan.merge);
    Results results;
    add_rest(arguments, states, kept, results);
    return launch(context_, kernels_.merge.best(input_.dtype), plan.geometry, arguments);
  }

  // The values of results that arguments refer to.
  struct Results {
    of_strides strides[kMostResults];
    int32_t dtypes[kMostResults];
  };

  void add_rest(Arguments& arguments, const States& states, const Pieces& kept, Results& results) const {
    for (size_t i = 0; i < entry_.parts.size(); ++i) arguments.pointer(states.parts[i]);
    for (int i = 0; i < entry_.results; ++i) {
      const of_kernel_tensor& result = context_.outputs[i];
      const DimStrides strides(layout_.kept, result.strides);
      results.strides[i] = kept.strides(strides.list);
      results.dtypes[i] = result.dtype;
      arguments.pointer(static_cast<char*>(result.data) + kept.offset(strides.list) * item_size(result.dtype));
      arguments.value(results.strides[i]);
      arguments.value(results.dtypes[i]);
    }
    settings_.add_to(arguments);
  }

  const char* first_element(const Pieces& kept, const Pieces& folded) const {
    const int64_t offset = kept.offset(kept_strides_.list) + folded.offset(folded_strides_.list);
    return static_cast<const char*>(input_.data) + offset * item_size(input_.dtype);
  }

  FoldPlan plan(const Pieces& kept, const Pieces& folded) const {
    const bool is_packed =
        run_.packs && has_own_ &&
        has_packets(layout_, input_, first_element(kept, folded), layout_.is_lines ? run_.line_lanes : run_.row_lanes);
    return plan_fold(run_, layout_, kept.space(), folded.space(), is_packed);
  }

  const Reduction& entry_;
  const ReductionKernels& kernels_;
  const of_kernel_context& context_;
  const of_kernel_tensor& input_;
  const bool has_own_;  // whether there are kernels for the storage of the input
  const FoldRun run_;
  const FoldLayout layout_;
  const DimStrides kept_strides_, folded_strides_;
  DimStrides positions_;
  const Settings settings_;
  int64_t count_ = 0;
};

}  // namespace

of_status run(const Reduction& entry, const ReductionKernels& kernels, const of_kernel_context& context) {
  return element_count(context.outputs[0]) == 0 ? OF_OK : Folds(entry, kernels, context).run();
}

}  // namespace oneflow::grid
