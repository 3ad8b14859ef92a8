// The route through memory of the host, over the algorithms that are written for it.
#include <numeric>

#include "device/copy.h"
#include "device/device.h"
#include "dispatch/dispatch.h"
#include "ops/parts.h"
#include "parallel/local/access.h"
#include "parallel/local/ranks.h"
#include "parallel/processes/algorithms.h"
#include "parallel/processes/route.h"

namespace oneflow::processes {

namespace {

using collective::flat;
using collective::MergeOperators;

// Tensors of at most so many bytes are sent to all ranks as a whole, if those of all ranks are small together: this
// takes one step instead of two.
constexpr int64_t kWholeBytes = 16 << 10;

TensorRef allocate_on_host(Sizes sizes, of_dtype dtype) { return Tensor::allocate(sizes, dtype, kHost); }

// Returns zeros, all of which are one element in memory.
TensorRef zeros(const Shape& sizes, of_dtype dtype) {
  const TensorRef zero = allocate_on_host(Shape{}, dtype);
  fill_bytes(kHost, zero->mutable_data(), 0, static_cast<uint64_t>(zero->bytes()));
  return Tensor::over(zero->storage(), dtype, sizes, Shape(sizes.rank()), 0);
}

// Returns vectors of the parts of a contiguous tensor.
Tensors flat_parts(const Tensor& whole, uint32_t count) {
  Tensors parts;
  for (uint32_t i = 0; i < count; ++i) parts.push_back(flat(whole, even_part(whole.count(), i, count)));
  return parts;
}

class HostRoute final : public Route {
 public:
  using Route::Route;

  const char* device_type() const override { return ""; }

  TensorRef placed(const Tensor& tensor) const override {
    return tensor.device() == kHost ? collective::packed(caller_, tensor) : placed_copy(tensor);
  }
  TensorRef placed_for_split(const Tensor& tensor, int) const override { return placed(tensor); }
  TensorRef placed_copy(const Tensor& tensor) const override {
    const TensorRef packed = collective::packed(caller_, tensor);
    TensorRef copy = allocate_on_host(packed->sizes(), packed->dtype());
    copy_to_host(copy->mutable_data(), packed->device(), packed->data(), static_cast<uint64_t>(packed->bytes()));
    return copy;
  }

  Task all_reduce(Operation& operation, TensorRef input, MergeOperators operators, Outcome& outcome) const override {
    const TensorRef output = outcome.tensor = allocate_on_host(input->sizes(), input->dtype());
    if (input->bytes() <= kWholeBytes && input->bytes() * operation.size() <= kSmallOfAll) {
      co_await merge_of_all(operation, flat(*input), flat(*output), operators);
      co_return;
    }
    const Tensors parts = flat_parts(*input, operation.size());
    const Tensors targets = flat_parts(*output, operation.size());
    co_await exchange_and_merge(operation, parts, targets[operation.position()], operators);
    const TensorRef whole = flat(*output);
    co_await share_parts(operation, whole);
  }

  Task reduce(Operation& operation, uint32_t root, TensorRef input, MergeOperators operators,
              Outcome& outcome) const override {
    const uint32_t own = operation.position(), size = operation.size();
    const TensorRef merged = allocate_on_host(input->sizes(), input->dtype());
    const Tensors parts = flat_parts(*input, size), targets = flat_parts(*merged, size);
    co_await exchange_and_merge(operation, parts, targets[own], operators);
    outcome.tensor = own == root ? merged : allocate_on_host(input->sizes(), input->dtype());
    if (own != root) {
      const TensorRef& zeros = outcome.tensor;
      fill_bytes(kHost, zeros->mutable_data(), 0, static_cast<uint64_t>(zeros->bytes()));
      co_await send_whole(operation, root, targets[own]);
      co_return;
    }
    for (uint32_t from = 0; from < size; ++from)
      if (from != root) co_await receive_whole(operation, from, targets[from]);
  }

  Task reduce_scatter(Operation& operation, Split split, MergeOperators operators, Outcome& outcome) const override {
    std::vector<Part> cuts;
    co_await cut(operation, split.sizes[split.dim], split.part, cuts);
    Tensors parts = parts_of(split, cuts);
    outcome.tensor = allocate_on_host(parts[operation.position()]->sizes(), split.dtype);
    for (TensorRef& each : parts) each = flat(*each);
    const TensorRef target = flat(*outcome.tensor);
    co_await exchange_and_merge(operation, parts, target, operators);
  }

  Task all_gather(Operation& operation, TensorRef input, int dim, Outcome& outcome) const override {
    const uint32_t size = operation.size();
    if (size > kDirectRanks) {
      std::vector<int64_t> extents;
      co_await exchange_numbers(operation, input->size(dim), extents);
      if (are_small(*input, dim, extents)) {
        co_await gather_small(operation, input, dim, extents, outcome);
        co_return;
      }
    }
    const Tensors parts(size, input);
    co_await exchange(operation, caller_, parts, input->sizes(), dim, outcome.tensor);
  }

  Task all_to_all(Operation& operation, Split split, int join_dim, Outcome& outcome) const override {
    std::vector<Part> cuts;
    co_await cut(operation, split.sizes[split.dim], split.part, cuts);
    const Tensors parts = parts_of(split, cuts);
    co_await exchange(operation, caller_, parts, parts[operation.position()]->sizes(), join_dim, outcome.tensor);
  }

  Task broadcast(Operation& operation, uint32_t root, TensorRef input, Outcome& outcome) const override {
    outcome.tensor = operation.position() == root ? input : allocate_on_host(input->sizes(), input->dtype());
    return broadcast_by_tree(operation, root, outcome.tensor);
  }

  Task gather(Operation& operation, uint32_t root, TensorRef input, int dim, Outcome& outcome) const override {
    const uint32_t own = operation.position(), size = operation.size();
    std::vector<int64_t> sizes;
    co_await exchange_numbers(operation, input->size(dim), sizes);
    if (own != root) {
      outcome.tensor = zeros(resized(input->sizes(), dim, total_of(sizes)), input->dtype());
      co_await send_whole(operation, root, input);
      co_return;
    }
    Tensors received(size);
    received[own] = input;
    for (uint32_t from = 0; from < size; ++from) {
      if (from == own) continue;
      received[from] = allocate_on_host(resized(input->sizes(), dim, sizes[from]), input->dtype());
      co_await receive_whole(operation, from, received[from]);
    }
    outcome.tensor = joined(caller_, received, dim);
  }

  Task scatter(Operation& operation, uint32_t root, Split split, Outcome& outcome) const override {
    const uint32_t own = operation.position();
    std::vector<Part> cuts;
    co_await cut(operation, split.sizes[split.dim], split.part, cuts);
    const TensorRef result = outcome.tensor =
        allocate_on_host(resized(split.sizes, split.dim, cuts[own].size), split.dtype);
    if (own != root) {
      co_await receive_whole(operation, root, result);
      co_return;
    }
    const Tensors parts = parts_of(split, cuts);
    for (uint32_t to = 0; to < operation.size(); ++to)
      if (to != own) operation.send(to, *parts[to], parts[to]->data(), static_cast<size_t>(parts[to]->bytes()));
    collective::copy_elements(caller_, *result, *parts[own]);
    co_await operation.sent();
  }

  Task send(Operation& operation, uint32_t to, TensorRef input, Outcome& outcome) const override {
    outcome.tensor = input;
    return send_whole(operation, to, outcome.tensor);
  }

  Task receive(Operation& operation, uint32_t from, TensorRef like, Outcome& outcome) const override {
    outcome.tensor = allocate_on_host(like->sizes(), like->dtype());
    return receive_whole(operation, from, outcome.tensor);
  }

 private:
  // Returns whether tensors that have these extents of a dimension are small together.
  static bool are_small(const Tensor& like, int dim, const std::vector<int64_t>& extents) {
    __int128 bytes = __int128{total_of(extents)} * like.element_bytes();
    for (int d = 0; d < like.rank() && bytes <= kSmallOfAll; ++d)
      if (d != dim) bytes *= like.size(d);
    return bytes <= kSmallOfAll;
  }

  Task gather_small(Operation& operation, TensorRef input, int dim, std::vector<int64_t> extents,
                    Outcome& outcome) const {
    std::vector<Shape> shapes;
    std::vector<int64_t> counts;
    for (const int64_t extent : extents) {
      shapes.push_back(resized(input->sizes(), dim, extent));
      counts.push_back(count_elements(shapes.back()));
    }
    const TensorRef own = flat(*input);
    TensorRef gathered;
    co_await gather_by_doubling(operation, own, counts, gathered);
    Tensors parts;
    int64_t start = 0;
    for (size_t i = 0; i < shapes.size(); start += counts[i++])
      parts.push_back(
          Tensor::over(gathered->storage(), input->dtype(), shapes[i], contiguous_strides(shapes[i]), start));
    outcome.tensor = joined(caller_, parts, dim);
  }

  // Returns the parts of the ranks, contiguous.
  Tensors parts_of(const Split& split, const std::vector<Part>& cuts) const {
    Tensors parts;
    for (const Part& each : cuts) parts.push_back(collective::packed(caller_, *narrow(*split.whole, split.dim, each)));
    return parts;
  }
};

}  // namespace

std::shared_ptr<Route> host_route(const char* caller) { return std::make_shared<HostRoute>(caller); }

}  // namespace oneflow::processes
