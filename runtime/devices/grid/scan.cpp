// Runs scans: in one launch where there are enough lines. Otherwise a first launch folds chunks of lines to states, and
// a second one scans each chunk, starting from the states of the chunks before it.
#include <algorithm>

#include "entries.h"
#include "fold_plan.h"

namespace oneflow::grid {
namespace {

constexpr int kMostParts = 4;
constexpr int kMostResults = 2;
constexpr uint32_t kStateBytes = 8;
// The least number of neighbouring lines that are worth using as lanes.
constexpr uint32_t kFewestLines = 8;

// The launches of one scan.
class Scans {
 public:
  Scans(const Scan& entry, const ScanKernels& kernels, const of_kernel_context& context)
      : entry_(entry),
        context_(context),
        input_(context.inputs[0]),
        is_wide_(has_doubles(context.device)),
        kernels_(is_wide_ ? kernels.wide : kernels.narrow),
        compute_(is_wide_ ? kernels.wide_compute : kernels.compute),
        has_own_(kernels_.lines.of(input_.dtype) != nullptr),
        run_(fold_run(context.device, item_size(has_own_ ? input_.dtype : compute_))),
        layout_(input_, context.reduced, std::max(run_.min_lane_size, kFewestLines)),
        scanned_(layout_.folded.dims[0]),
        settings_(entry.settings, compute_, context.arguments) {}

  of_status run() const {
    Pieces kept(layout_.kept.rank, layout_.kept.sizes);
    of_status status = OF_OK;
    do {
      status = scan(kept);
    } while (status == OF_OK && kept.next());
    return status;
  }

 private:
  of_status scan(const Pieces& kept) const {
    ScanPlan plan = plan_scan(run_, layout_, kept.space(), is_packed(input_, piece_of(input_, kept)));
    if (plan.chunks == 1) return launch_scan(kept, plan, nullptr, 0);
    Scratch scratch(context_);
    const uint64_t bytes = uint64_t{plan.chunks} * kept.space().count * kStateBytes;
    of_status status = scratch.allocate(bytes * entry_.parts.size());
    plan.scan.only_folds = 1;
    if (status == OF_OK) status = launch_scan(kept, plan, scratch.data(), bytes);
    plan.scan.only_folds = 0;
    if (status == OF_OK) status = launch_scan(kept, plan, scratch.data(), bytes);
    return status;
  }

  // Launches the kernel. `states` has `bytes` bytes for each part of a state.
  of_status launch_scan(const Pieces& kept, const ScanPlan& plan, void* states, uint64_t bytes) const {
    of_scan scan = plan.scan;
    const DimStrides kept_strides(layout_.kept, input_.strides);
    scan.kept_strides = kept.strides(kept_strides.list);
    scan.stride = step_of(input_);
    const void* data = piece_of(input_, kept);
    scan.packs_results = scan.is_packed;
    const int32_t dtype = input_.dtype;
    Arguments arguments;
    arguments.value(scan);
    arguments.pointer(data);
    arguments.value(dtype);
    for (size_t i = 0; i < entry_.parts.size(); ++i) arguments.pointer(static_cast<char*>(states) + i * bytes);
    of_strides strides[kMostResults];
    int64_t steps[kMostResults];
    int32_t dtypes[kMostResults];
    for (int i = 0; i < entry_.results; ++i) {
      const of_kernel_tensor& result = context_.outputs[i];
      strides[i] = kept.strides(DimStrides(layout_.kept, result.strides).list);
      steps[i] = step_of(result);
      dtypes[i] = result.dtype;
      const void* first = piece_of(result, kept);
      scan.packs_results &= result.dtype == input_.dtype && is_packed(result, first);
      arguments.pointer(first);
      arguments.value(strides[i]);
      arguments.value(steps[i]);
      arguments.value(dtypes[i]);
    }
    settings_.add_to(arguments);
    const Variants& variants = layout_.is_lines ? kernels_.lines : kernels_.rows;
    return launch(context_, kernel_for(run_, layout_, input_, variants),
                  {.groups = plan.groups, .groups_y = plan.chunks, .items = run_.items}, arguments);
  }

  int64_t step_of(const of_kernel_tensor& tensor) const { return scanned_ < 0 ? 0 : tensor.strides[scanned_]; }

  static const char* at(const of_kernel_tensor& tensor, int64_t offset) {
    return static_cast<const char*>(tensor.data) + offset * item_size(tensor.dtype);
  }
  const char* piece_of(const of_kernel_tensor& tensor, const Pieces& kept) const {
    return at(tensor, kept.offset(DimStrides(layout_.kept, tensor.strides).list));
  }

  bool is_packed(const of_kernel_tensor& tensor, const void* data) const {
    return run_.packs && has_own_ &&
           has_packets(layout_, tensor, data, layout_.is_lines ? run_.line_lanes : run_.row_lanes);
  }

  const Scan& entry_;
  const of_kernel_context& context_;
  const of_kernel_tensor& input_;
  const bool is_wide_;
  const ScanKernels::Kernels& kernels_;
  const of_dtype compute_;
  const bool has_own_;  // whether there are kernels for the storage of the input
  const FoldRun run_;
  const FoldLayout layout_;
  const int32_t scanned_;  // the scanned dimension; -1 where it has one element
  const Settings settings_;
};

}  // namespace

of_status run(const Scan& entry, const ScanKernels& kernels, const of_kernel_context& context) {
  return element_count(context.inputs[0]) == 0 ? OF_OK : Scans(entry, kernels, context).run();
}

}  // namespace oneflow::grid
