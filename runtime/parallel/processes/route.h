// How the tensors of a collective travel: through memory of the host, or from device to device. Patterns choose a route
// once the arguments are checked.
#ifndef ONEFLOW_PARALLEL_PROCESSES_ROUTE_H_
#define ONEFLOW_PARALLEL_PROCESSES_ROUTE_H_

#include <functional>
#include <memory>
#include <optional>

#include "ops/parts.h"
#include "parallel/local/merge.h"
#include "parallel/processes/algorithms.h"

namespace oneflow::processes {

// What an operation leaves for the thread that gets its result.
struct Outcome {
  TensorRef tensor;
  // The stream that computes it, and when it is there; NULL: it is there already.
  Stream* stream = nullptr;
  std::shared_ptr<const Event> ready;
  // Makes the result of `tensor`, in the current stream of that thread; NULL: `tensor` is the result.
  std::function<TensorRef(const TensorRef&)> finish;
};

// A tensor that is split along a dimension, one part for each rank. Without the size of the own part, which all ranks
// give then, the parts are even.
struct Split {
  TensorRef whole;  // as Route::placed_for_split() returns it; NULL on ranks that send nothing
  Shape sizes;      // of the tensor
  of_dtype dtype;
  int dim;
  std::optional<int64_t> part;
};

// The functions that return tasks are bodies of operations. Their tensors are those that placed() has returned.
class Route {
 public:
  // `caller` is the operator that the user called.
  explicit Route(const char* caller) : caller_(caller) {}
  virtual ~Route() = default;

  // Returns what the description of a call says of it: the type of the devices between which tensors travel; "": none.
  virtual const char* device_type() const = 0;
  // Returns a tensor as bodies need it, contiguous: the tensor itself, or a copy.
  virtual TensorRef placed(const Tensor& tensor) const = 0;
  virtual TensorRef placed_for_split(const Tensor& tensor, int dim) const = 0;
  // Returns one with memory that nobody else writes to.
  virtual TensorRef placed_copy(const Tensor& tensor) const = 0;
  // Must be called once the tensors of a call are placed.
  virtual void note_placed() {}

  virtual Task all_reduce(Operation& operation, TensorRef input, collective::MergeOperators operators,
                          Outcome& outcome) const = 0;
  virtual Task reduce(Operation& operation, uint32_t root, TensorRef input, collective::MergeOperators operators,
                      Outcome& outcome) const = 0;
  virtual Task reduce_scatter(Operation& operation, Split split, collective::MergeOperators operators,
                              Outcome& outcome) const = 0;
  virtual Task all_gather(Operation& operation, TensorRef input, int dim, Outcome& outcome) const = 0;
  virtual Task all_to_all(Operation& operation, Split split, int join_dim, Outcome& outcome) const = 0;
  virtual Task broadcast(Operation& operation, uint32_t root, TensorRef input, Outcome& outcome) const = 0;
  virtual Task gather(Operation& operation, uint32_t root, TensorRef input, int dim, Outcome& outcome) const = 0;
  virtual Task scatter(Operation& operation, uint32_t root, Split split, Outcome& outcome) const = 0;
  virtual Task send(Operation& operation, uint32_t to, TensorRef input, Outcome& outcome) const = 0;
  virtual Task receive(Operation& operation, uint32_t from, TensorRef like, Outcome& outcome) const = 0;

 protected:
  const char* const caller_;
};

// Returns the route through memory of the host.
std::shared_ptr<Route> host_route(const char* caller);
// Returns the route between devices, for tensors of `device` in its current stream. Returns NULL, and sets `missing` to
// what the device lacks, if it or the ranks of the group have none, or if it does not support the reduction that
// `operators`, if there are any, do.
std::shared_ptr<Route> device_route(const char* caller, Engine& engine, const Group& group, of_device device,
                                    of_dtype dtype, const collective::MergeOperators& operators, std::string& missing);

// ---- for routes

// Sets the ranges of the parts of `size` elements: even ones, or else those of the sizes that the ranks give.
Task cut(Operation& operation, int64_t size, std::optional<int64_t> part, std::vector<Part>& cuts);
// Throws ShapeError unless sizes have the sum `whole`.
void check_sum(const std::vector<int64_t>& sizes, int64_t whole);
// Returns the sum of sizes. Throws ShapeError if it is too large.
int64_t total_of(const std::vector<int64_t>& sizes);
Shape resized(const Shape& sizes, int dim, int64_t size);
// Joins tensors of one device along a dimension.
TensorRef joined(const char* caller, const Tensors& parts, int dim);

}  // namespace oneflow::processes

#endif  // ONEFLOW_PARALLEL_PROCESSES_ROUTE_H_
