// Runs elementwise kernels: by one launch over flat memory where all operands allow it, otherwise by one strided launch
// for each piece of the iteration space.
#include <algorithm>

#include "carry.h"
#include "entries.h"
#include "space.h"
#include "transpose.h"
#include "walk.h"

namespace oneflow::grid {
namespace {

constexpr int kMostOperands = 8, kMostResults = 4, kMostTensors = kMostOperands + kMostResults;
constexpr uint32_t kItems = 256;
constexpr uintptr_t kPacket = 16;  // bytes that a work-item may load at once

// An operand as kernels take it: a tensor or a number.
struct Input {
  const of_kernel_tensor* tensor;
  alignas(8) unsigned char number[8] = {};
  uint32_t number_bytes;
  int32_t step;  // in flat kernels: 0 for a number or an element that is broadcast everywhere, otherwise 1

  bool is_number() const { return tensor->data == nullptr; }
};

// Returns whether one element is broadcast over the whole space.
bool is_one_element(const of_kernel_tensor& tensor) {
  return std::all_of(tensor.strides, tensor.strides + tensor.rank, [](int64_t stride) { return stride == 0; });
}

// The launches of one kernel call.
class Launches {
 public:
  Launches(const Elementwise& entry, const ElementwiseKernels& kernels, const of_kernel_context& context)
      : entry_(entry),
        kernels_(kernels),
        context_(context),
        results_(context.outputs, entry.results.size()),
        settings_(entry.settings, kernels.compute, context.arguments) {
    for (size_t i = 0; i < entry.operands.size(); ++i) {
      Input& input = inputs_[i];
      input.tensor = &context.inputs[entry.operands[i].position];
      const of_scalar none{};
      input.number_bytes = put_number(input.is_number() ? input.tensor->scalar : none, kernels.compute, input.number);
      input.step = input.is_number() || is_one_element(*input.tensor) ? 0 : 1;
    }
  }

  of_status run() {
    if (element_count(results_[0]) == 0) return OF_OK;
    if (entry_.fails && (report_ = report(context_)) == nullptr) return OF_OUT_OF_MEMORY;
    storage_ = common_storage();
    const Flat flat = flat_kernel();
    return flat.kernel != nullptr ? launch_flat(flat) : launch_strided();
  }

 private:
  // Returns the dtype in which all operands of the compute type are stored (the compute type itself if there are none).
  // Returns kAny if they differ, or if an operand of a fixed type is stored in another dtype.
  int32_t common_storage() const {
    int32_t common = kAny;
    bool agree = true;
    const auto add = [&](Form form, of_dtype dtype) {
      if (form != Form::kCompute) {
        agree &= dtype == dtype_of(form, dtype);
      } else {
        agree &= common == kAny || common == dtype;
        common = dtype;
      }
    };
    for (size_t i = 0; i < results_.size(); ++i) add(entry_.results[i], results_[i].dtype);
    for (size_t i = 0; i < entry_.operands.size(); ++i)
      if (!inputs_[i].is_number()) add(entry_.operands[i].form, inputs_[i].tensor->dtype);
    if (!agree) return kAny;
    return common == kAny ? static_cast<int32_t>(kernels_.compute) : common;
  }

  struct Flat {
    Handle kernel = nullptr;
    Run run{};
  };

  // Returns the kernel for flat memory. There is none where an operand is strided or unaligned, where no kernel was
  // compiled for the storage, and on devices whose strided kernels take blocks: those cover contiguous memory as well.
  Flat flat_kernel() const {
    if (strided_run(context_.device).in_blocks) return {};
    const Handle own = kernels_.flat.of(storage_), kernel = own != nullptr ? own : kernels_.flat.of(kAny);
    if (kernel == nullptr) return {};
    const uint32_t bytes = own != nullptr ? item_size(static_cast<of_dtype>(storage_)) : OF_ANY_BYTES;
    const Run run = flat_run(context_.device, bytes);
    const auto is_aligned = [run](const of_kernel_tensor& tensor) {
      const uintptr_t bytes =
          std::min<uintptr_t>(kPacket, static_cast<uintptr_t>(run.length) * item_size(tensor.dtype));
      return reinterpret_cast<uintptr_t>(tensor.data) % bytes == 0;
    };
    for (const of_kernel_tensor& result : results_)
      if (!is_contiguous(result) || !is_aligned(result)) return {};
    for (size_t i = 0; i < entry_.operands.size(); ++i) {
      if (inputs_[i].step == 1 && !(is_contiguous(*inputs_[i].tensor) && is_aligned(*inputs_[i].tensor))) return {};
    }
    return {kernel, run};
  }

  of_status launch_flat(const Flat& flat) {
    const int64_t count = element_count(results_[0]);
    const Run& run = flat.run;
    Arguments arguments;
    arguments.value(count);
    for (const of_kernel_tensor& result : results_) {
      arguments.pointer(result.data);
      arguments.value(result.dtype);
    }
    for (size_t i = 0; i < entry_.operands.size(); ++i) {
      arguments.pointer(inputs_[i].tensor->data);
      arguments.value(inputs_[i].tensor->dtype);
      arguments.value(inputs_[i].step);
      arguments.bytes(inputs_[i].number, inputs_[i].number_bytes);
    }
    add_rest(arguments);
    return launch(context_, flat.kernel,
                  {.groups = groups_for(divide_up(count, run.length), run.items), .items = run.items}, arguments);
  }

  of_status launch_strided() {
    const Handle own = storage_ == kAny ? nullptr : kernels_.strided.of(storage_);
    const Handle kernel = own != nullptr ? own : kernels_.strided.of(kAny);
    StridedRun run = strided_run(context_.device);
    if (own == nullptr) run.length = 1;
    const Walk walk = run.in_blocks ? walk_of_blocks() : Walk(results_[0]);
    Pieces pieces(walk.rank(), walk.sizes());
    of_status status = OF_OK;
    do {
      status = launch_piece(kernel, run, walk, pieces);
    } while (status == OF_OK && pieces.next());
    return status;
  }

  Walk walk_of_blocks() const {
    const of_kernel_tensor* tensors[kMostTensors];
    size_t count = 0;
    for (const of_kernel_tensor& result : results_) tensors[count++] = &result;
    for (size_t i = 0; i < entry_.operands.size(); ++i) tensors[count++] = inputs_[i].tensor;
    return Walk::for_blocks({tensors, count});
  }

  of_status launch_piece(Handle kernel, const StridedRun& run, const Walk& walk, const Pieces& pieces) {
    Arguments arguments;
    of_strides strides[kMostTensors];
    int32_t dtypes[kMostTensors];
    int used = 0;
    const auto add_tensor = [&](const of_kernel_tensor& tensor) {
      const bool has_layout = tensor.data != nullptr;
      int64_t sorted[OF_MAX_RANK] = {};
      if (has_layout) walk.sort(tensor.strides, sorted);
      const int64_t offset = pieces.offset(sorted) * item_size(tensor.dtype);
      strides[used] = pieces.strides(sorted);
      dtypes[used] = tensor.dtype;
      arguments.pointer(has_layout ? static_cast<const char*>(tensor.data) + offset : nullptr);
      arguments.value(strides[used]);
      arguments.value(dtypes[used]);
      ++used;
    };
    const of_space& space = pieces.space();
    const of_block block = run.in_blocks ? walk.block(space) : of_block{};
    arguments.value(space);
    if (run.in_blocks) arguments.value(block);
    for (const of_kernel_tensor& result : results_) add_tensor(result);
    for (size_t i = 0; i < entry_.operands.size(); ++i) {
      add_tensor(*inputs_[i].tensor);
      arguments.bytes(inputs_[i].number, inputs_[i].number_bytes);
    }
    add_rest(arguments);
    const uint32_t items = run.in_blocks ? 1 : kItems;
    const uint32_t groups =
        run.in_blocks ? groups_for(block.count, block.turns) : groups_for(space.count, kItems * run.length);
    return launch(context_, kernel, {.groups = groups, .items = items}, arguments);
  }

  // Appends the settings and, for kernels that can fail, the report and the operator's name.
  void add_rest(Arguments& arguments) {
    settings_.add_to(arguments);
    if (entry_.fails) {
      op_ = reinterpret_cast<uintptr_t>(context_.op);
      arguments.pointer(report_);
      arguments.value(op_);
    }
  }

  const Elementwise& entry_;
  const ElementwiseKernels& kernels_;
  const of_kernel_context& context_;
  const std::span<const of_kernel_tensor> results_;
  const Settings settings_;
  Input inputs_[kMostOperands];
  int32_t storage_ = kAny;
  of_report* report_ = nullptr;
  uint64_t op_ = 0;
};

bool is_floating(of_dtype dtype) { return dtype >= OF_FLOAT16 && dtype <= OF_FLOAT64; }

// Returns the type through which elements are converted from one dtype to another. It represents every value of `from`,
// so that a value is rounded only once, when it is stored.
of_dtype carrier(of_dtype from, of_dtype to) {
  if (from == to) {
    const uint32_t bytes = item_size(from);
    return bytes == 8 ? OF_INT64 : OF_INT32;
  }
  if (!is_floating(from)) return from == OF_UINT64 ? OF_UINT64 : OF_INT64;
  return from == OF_FLOAT64 || (to == OF_FLOAT64) ? OF_FLOAT64 : OF_FLOAT32;
}

// Returns the integer dtype of the same size, whose kernels copy elements bit by bit.
of_dtype bytes_of(of_dtype dtype) {
  constexpr of_dtype kIntegers[] = {OF_UINT8, OF_UINT16, OF_INT32, OF_INT64};
  const uint32_t bytes = item_size(dtype);
  return kIntegers[bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3];
}

}  // namespace

of_status run(const Elementwise& entry, const ElementwiseKernels& kernels, const of_kernel_context& context) {
  return Launches(entry, kernels, context).run();
}

of_status run_copy(int input, const of_kernel_context& context) {
  of_kernel_tensor source = context.inputs[input], result = context.outputs[0];
  const of_dtype type = carrier(source.dtype, result.dtype);
  if (source.data != nullptr && source.dtype == result.dtype) {
    source.dtype = result.dtype = bytes_of(source.dtype);
    const of_status status = transpose(source, result, context);
    if (status != OF_UNSUPPORTED) return status;
  }
  of_kernel_context bytes = context;
  bytes.inputs = &source;
  bytes.outputs = &result;
  return run(carry, carry_kernels(type), bytes);
}

}  // namespace oneflow::grid
