#include "parallel/local/patterns.h"

#include "device/device.h"
#include "dispatch/dispatch.h"
#include "parallel/local/access.h"
#include "parallel/local/merge.h"
#include "parallel/local/ranks.h"
#include "tensor/overlap.h"

namespace oneflow::collective {

namespace {

using Tensors = std::vector<const Tensor*>;

// Allocates a result.
TensorRef allocate(const Call& call, Sizes sizes, of_dtype dtype, of_device device) {
  return call.infer_only ? Tensor::without_memory(sizes, dtype, device) : Tensor::allocate(sizes, dtype, device);
}

Shape resized(const Tensor& tensor, int64_t dim, int64_t size) {
  Shape sizes = tensor.sizes();
  sizes[static_cast<int>(dim)] = size;
  return sizes;
}

// Copies a tensor to several targets of its shape.
void copy_to_all(const Call& call, const Tensor& source, const std::vector<TensorRef>& targets) {
  bool is_flat = source.count() > 0;
  for (const TensorRef& each : targets) is_flat &= each->is_contiguous();
  if (!is_flat) {
    for (const TensorRef& each : targets) copy_elements(call.name, *each, source);
    return;
  }
  const TensorRef whole = packed(call.name, source);
  Job job{source.device(), {flat(*whole)}, {}};
  for (const TensorRef& each : targets) job.targets.push_back(flat(*each));
  run_jobs({call.name}, {job});
}

std::span<const of_device> devices_of(const Call& call, int argument) {
  const auto devices = call.devices(argument);
  if (devices.empty()) fail(OF_INVALID_ARGUMENT, "%s must not be empty", call.schema().arguments[argument].name);
  return devices;
}

// Returns the device of a single result: the value of the argument, or the device of the first tensor.
of_device target_device(const Call& call, int argument, const Tensors& tensors) {
  return call.is_given(argument) ? call.arguments[argument].as.device : tensors[0]->device();
}

// The sizes of a concatenation of tensors, and the part of each along the dimension.
struct Concatenation {
  Shape sizes;
  std::vector<Part> parts;
};
Concatenation concatenate(const Tensors& tensors, int64_t dim) {
  check_has_dims(*tensors[0], "tensors");
  check_same_shape_outside(tensors, dim);
  Concatenation result;
  int64_t total = 0;
  for (const Tensor* each : tensors) {
    const int64_t size = each->size(static_cast<int>(dim));
    result.parts.push_back({total, size});
    if (__builtin_add_overflow(total, size, &total))
      fail(OF_SHAPE_ERROR, "the result has more elements than can be counted");
  }
  result.sizes = resized(*tensors[0], dim, total);
  return result;
}

// Returns the operators that merge the tensors of the ranks, for the value of the matched attribute. Throws DTypeError
// or ShapeError if they cannot be merged.
MergeOperators operators_of(const Call& call, const Tensors& tensors) {
  const MergeOperators operators = merge_operators(call, "tensors[0]", tensors[0]->dtype());
  check_same_shape(tensors);
  return operators;
}

// Returns a part of each tensor as a vector.
std::vector<TensorRef> flat_parts(const std::vector<TensorRef>& whole, Part part) {
  std::vector<TensorRef> parts;
  for (const TensorRef& each : whole) parts.push_back(flat(*each, part));
  return parts;
}

// Tensors with fewer bytes are merged by a single job on the first rank, because a job per rank costs more.
constexpr int64_t kMinBytesToSplit = 16 << 10;

// Merges the tensors of the ranks into targets of their shape. The device of each rank merges a part of the elements.
void merge_all(const MergeOperators& operators, const Tensors& tensors, const std::vector<TensorRef>& targets) {
  std::vector<TensorRef> sources;
  for (const Tensor* each : tensors) sources.push_back(packed(operators.name, *each));
  const int64_t count = tensors[0]->bytes() < kMinBytesToSplit ? 1 : static_cast<int64_t>(tensors.size());
  std::vector<Job> jobs;
  for (int64_t r = 0; r < count; ++r) {
    const Part part = even_part(tensors[0]->count(), r, count);
    jobs.push_back({tensors[static_cast<size_t>(r)]->device(), flat_parts(sources, part), flat_parts(targets, part)});
  }
  run_jobs(operators, jobs);
}

// Returns whether the merge can write to the caller's tensor directly: it is like the result, and does not overlap one
// of the operands partially.
bool can_write_to(const Tensor& given, const Tensor& like, const Tensors& tensors) {
  if (given.dtype() != like.dtype() || !(given.device() == like.device()) || given.sizes() != like.sizes() ||
      !given.is_contiguous())
    return false;
  given.mutable_data();  // ends the sharing with lazy clones before overlaps are checked
  for (const Tensor* each : tensors)
    if (each->device() == given.device() && overlap(given, *each) == Overlap::kPartial) return false;
  return true;
}

}  // namespace

void broadcast(Call& call) {
  const Tensor& input = call.tensor(0);
  std::vector<TensorRef> results;
  for (const of_device device : devices_of(call, 1))
    results.push_back(allocate(call, input.sizes(), input.dtype(), device));
  if (!call.infer_only) copy_to_all(call, input, results);
  set_results(call, std::move(results));
}

void scatter(Call& call) {
  const Tensor& input = call.tensor(0);
  const auto devices = devices_of(call, 1);
  const int64_t dim = call.integer(2);
  check_has_dims(input, "input");
  std::vector<TensorRef> results;
  for (size_t r = 0; r < devices.size(); ++r) {
    const Part part =
        even_part(input.size(static_cast<int>(dim)), static_cast<int64_t>(r), static_cast<int64_t>(devices.size()));
    results.push_back(allocate(call, resized(input, dim, part.size), input.dtype(), devices[r]));
    if (!call.infer_only) copy_elements(call.name, *results[r], *narrow(input, dim, part));
  }
  set_results(call, std::move(results));
}

void gather(Call& call) {
  const Tensors tensors = ranks(call, 0);
  const int64_t dim = call.integer(1);
  const Concatenation concatenated = concatenate(tensors, dim);
  const TensorRef result = allocate(call, concatenated.sizes, tensors[0]->dtype(), target_device(call, 2, tensors));
  for (size_t r = 0; r < tensors.size() && !call.infer_only; ++r)
    copy_elements(call.name, *narrow(*result, dim, concatenated.parts[r]), *tensors[r]);
  set_result(call, 0, result);
}

void all_gather(Call& call) {
  const Tensors tensors = ranks(call, 0);
  const int64_t dim = call.integer(1);
  const Concatenation concatenated = concatenate(tensors, dim);
  std::vector<TensorRef> results;
  for (const Tensor* each : tensors)
    results.push_back(allocate(call, concatenated.sizes, each->dtype(), each->device()));
  for (size_t r = 0; r < tensors.size() && !call.infer_only; ++r) {
    std::vector<TensorRef> targets;
    for (const TensorRef& result : results) targets.push_back(narrow(*result, dim, concatenated.parts[r]));
    copy_to_all(call, *tensors[r], targets);
  }
  set_results(call, std::move(results));
}

void reduce(Call& call) {
  const Tensors tensors = ranks(call, 0);
  const MergeOperators operators = operators_of(call, tensors);
  const TensorRef result = allocate(call, tensors[0]->sizes(), tensors[0]->dtype(), target_device(call, 2, tensors));
  if (!call.infer_only) merge_all(operators, tensors, {result});
  set_result(call, 0, result);
}

void all_reduce(Call& call) {
  const Tensors tensors = ranks(call, 0);
  const MergeOperators operators = operators_of(call, tensors);
  const auto given = destination_list(call);
  if (given.size() == tensors.size())  // checks all before the first is written
    for (size_t r = 0; r < given.size(); ++r)
      check_destination(*to_tensor(given[r]), tensors[r]->sizes(), tensors[r]->dtype());
  std::vector<TensorRef> results;
  for (size_t r = 0; r < tensors.size(); ++r) {
    const bool is_in_place =
        given.size() == tensors.size() && !call.infer_only && can_write_to(*to_tensor(given[r]), *tensors[r], tensors);
    results.push_back(is_in_place ? share(*to_tensor(given[r]))
                                  : allocate(call, tensors[r]->sizes(), tensors[r]->dtype(), tensors[r]->device()));
  }
  if (!call.infer_only) merge_all(operators, tensors, results);
  set_results(call, std::move(results));
}

void reduce_scatter(Call& call) {
  const Tensors tensors = ranks(call, 0);
  const MergeOperators operators = operators_of(call, tensors);
  const int64_t dim = call.integer(2);
  check_has_dims(*tensors[0], "tensors");
  std::vector<TensorRef> results;
  std::vector<Job> jobs;
  for (size_t r = 0; r < tensors.size(); ++r) {
    const Part part = even_part(tensors[0]->size(static_cast<int>(dim)), static_cast<int64_t>(r),
                                static_cast<int64_t>(tensors.size()));
    results.push_back(allocate(call, resized(*tensors[0], dim, part.size), tensors[0]->dtype(), tensors[r]->device()));
    if (call.infer_only) continue;
    Job job{tensors[r]->device(), {}, {flat(*results[r])}};
    for (const Tensor* each : tensors) job.sources.push_back(flat(*packed(call.name, *narrow(*each, dim, part))));
    jobs.push_back(std::move(job));
  }
  if (!call.infer_only) run_jobs(operators, jobs);
  set_results(call, std::move(results));
}

void all_to_all(Call& call) {
  const Tensors tensors = ranks(call, 0);
  const int64_t split = call.integer(1), join = call.integer(2);
  const auto count = static_cast<int64_t>(tensors.size());
  check_has_dims(*tensors[0], "tensors");
  check_same_shape(tensors);
  std::vector<TensorRef> results;
  for (int64_t r = 0; r < count; ++r) {
    const Part cut = even_part(tensors[0]->size(static_cast<int>(split)), r, count);
    Shape sizes = resized(*tensors[0], split, cut.size);
    const int64_t size = sizes[static_cast<int>(join)];
    if (__builtin_mul_overflow(size, count, &sizes[static_cast<int>(join)]))
      fail(OF_SHAPE_ERROR, "the result has more elements than can be counted");
    results.push_back(allocate(call, sizes, tensors[0]->dtype(), tensors[static_cast<size_t>(r)]->device()));
    for (int64_t k = 0; k < count && !call.infer_only; ++k)
      copy_elements(call.name, *narrow(*results.back(), join, {k * size, size}),
                    *narrow(*tensors[static_cast<size_t>(k)], split, cut));
  }
  set_results(call, std::move(results));
}

}  // namespace oneflow::collective
