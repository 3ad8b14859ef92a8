// Operators that split a tensor along a dimension. The results are views.
#include "ops/parts.h"

#include <algorithm>
#include <vector>

#include "ops/native.h"
#include "ops/view_functions.h"

namespace oneflow {

Part even_part(int64_t size, int64_t index, int64_t count) {
  const int64_t whole = size / count, larger = size % count;
  return {index * whole + std::min(index, larger), whole + (index < larger)};
}

TensorRef narrow(const Tensor& tensor, int64_t dim, Part part) {
  const Shape sizes = replace(tensor.sizes(), dim, part.size);
  if (!tensor.has_memory()) return Tensor::without_memory(sizes, tensor.dtype(), tensor.device());
  const int64_t skipped = part.size == 0 ? 0 : part.start * tensor.stride(static_cast<int>(dim));
  return Tensor::view(tensor, sizes, tensor.strides(), tensor.offset() + skipped);
}

void check_has_dims(const Tensor& tensor, const char* argument) {
  if (tensor.rank() == 0) fail(OF_SHAPE_ERROR, "%s must have at least 1 dimension, got 0", argument);
}

namespace native {

namespace {

// The input of a split, its dimension to split along, and that dimension's size.
struct Split {
  explicit Split(Call& call) : call(call), input(call.tensor(0)), dim(call.integer(2)) {
    check_has_dims(input, "input");
    size = input.size(static_cast<int>(dim));
  }
  // Sets the views of `parts` as the results.
  void finish(const std::vector<Part>& parts) const {
    std::vector<TensorRef> results;
    for (const Part& part : parts) results.push_back(narrow(input, dim, part));
    set_results(call, std::move(results));
  }

  Call& call;
  const Tensor& input;
  const int64_t dim;
  int64_t size;
};

// Limits the number of results: expanded tensors can be so large that the handles of their parts exceed the memory.
void check_count(int64_t count) {
  constexpr int64_t kMaxCount = 1 << 24;
  if (count > kMaxCount)
    fail(OF_INVALID_ARGUMENT, "gives at most %lld tensors, not %lld", static_cast<long long>(kMaxCount),
         static_cast<long long>(count));
}

// Returns parts of `length` elements, of which the last may be shorter. A dimension of size 0 has one empty part.
std::vector<Part> parts_of(int64_t size, int64_t length) {
  const int64_t count = std::max<int64_t>(size / length + (size % length != 0), 1);
  check_count(count);
  std::vector<Part> parts;
  for (int64_t i = 0; i < count; ++i) parts.push_back({i * length, std::min(length, size - i * length)});
  return parts;
}

void check_positive(int64_t number, const char* argument) {
  if (number < 1)
    fail(OF_INVALID_ARGUMENT, "%s must be at least 1, got %lld", argument, static_cast<long long>(number));
}

}  // namespace

void split(Call& call) {
  const Split split(call);
  check_positive(call.integer(1), "split_size");
  split.finish(parts_of(split.size, call.integer(1)));
}

void split_sizes(Call& call) {
  const Split split(call);
  std::vector<Part> parts;
  int64_t start = 0;
  const auto fail_sum = [&] {
    fail(OF_SHAPE_ERROR, "split_sizes must add up to %lld, the size of dimension %lld, got %s",
         static_cast<long long>(split.size), static_cast<long long>(split.dim), to_text(call.integers(1)).c_str());
  };
  for (const int64_t size : call.integers(1))
    if (size < 0) fail(OF_SHAPE_ERROR, "split_sizes must not be negative, got %lld", static_cast<long long>(size));
  for (const int64_t size : call.integers(1)) {
    if (size > split.size - start) fail_sum();
    parts.push_back({start, size});
    start += size;
  }
  if (start != split.size) fail_sum();
  split.finish(parts);
}

void chunk(Call& call) {
  const Split split(call);
  const int64_t chunks = call.integer(1);
  check_positive(chunks, "chunks");
  if (split.size > 0) return split.finish(parts_of(split.size, (split.size - 1) / chunks + 1));
  check_count(chunks);
  split.finish(std::vector<Part>(static_cast<size_t>(chunks), Part{0, 0}));
}

void tensor_split(Call& call) {
  const Split split(call);
  const int64_t sections = call.integer(1);
  check_positive(sections, "sections");
  check_count(sections);
  std::vector<Part> parts;
  for (int64_t i = 0; i < sections; ++i) parts.push_back(even_part(split.size, i, sections));
  split.finish(parts);
}

void tensor_split_indices(Call& call) {
  const Split split(call);
  std::vector<Part> parts;
  int64_t start = 0;
  const auto add = [&](int64_t end) {
    parts.push_back({start, std::max<int64_t>(end - start, 0)});
    start = end;
  };
  for (const int64_t index : call.integers(1)) {
    const int64_t counted = index < 0 ? std::max(index, -split.size) + split.size : index;
    add(std::min(counted, split.size));
  }
  add(split.size);
  split.finish(parts);
}

void unbind(Call& call) {
  const Tensor& input = call.tensor(0);
  check_has_dims(input, "input");
  const int64_t dim = call.integer(1), size = input.size(static_cast<int>(dim));
  check_count(size);
  const Shape sizes = remove(input.sizes(), dim), strides = remove(input.strides(), dim);
  std::vector<TensorRef> results;
  for (int64_t i = 0; i < size; ++i) {
    if (!input.has_memory())
      results.push_back(Tensor::without_memory(sizes, input.dtype(), input.device()));
    else
      results.push_back(Tensor::view(input, sizes, strides, input.offset() + i * input.stride(static_cast<int>(dim))));
  }
  set_results(call, std::move(results));
}

}  // namespace native
}  // namespace oneflow
