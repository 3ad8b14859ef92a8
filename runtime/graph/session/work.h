// The work of one run of a graph: kernels, contractions and copies, in the order in which they are submitted, with the
// places of their operands.
#ifndef ONEFLOW_GRAPH_WORK_H_
#define ONEFLOW_GRAPH_WORK_H_

#include <oneflow/device_plugin.h>

#include <deque>
#include <string>
#include <vector>

#include "base/shape.h"

namespace oneflow::graph {

// What an address is relative to.
enum class Base : uint8_t {
  kNone,    // there is no memory: numbers, tensors without elements
  kFixed,   // memory of a constant, whose address is the offset
  kInput,   // the element at index 0 of an input
  kBuffer,  // memory that the run allocates
};

// An address in any run.
struct Place {
  Base base = Base::kNone;
  uint32_t number = 0;  // of the input or of the buffer
  int64_t offset = 0;   // in bytes

  bool operator==(const Place&) const = default;
};

struct WorkOperand {
  Place place;
  of_dtype dtype{};
  Shape sizes, strides;
  of_scalar scalar{};
};

// Copies of the arguments of a call, which own what they refer to. Tensors are left out: kernels get them as operands.
class OwnedArguments {
 public:
  OwnedArguments() = default;
  OwnedArguments(const of_value* arguments, size_t count);
  OwnedArguments(OwnedArguments&&) = default;
  OwnedArguments& operator=(OwnedArguments&&) = default;

  const of_value* data() const { return values_.data(); }

 private:
  std::vector<of_value> values_;
  // Items of a deque do not move.
  std::deque<std::vector<int64_t>> integers_;
  std::deque<std::vector<of_device>> devices_;
  std::deque<std::string> strings_;
};

// A piece of work. Its operands are in the order in which the kernel has them; a contraction reads A, B and the bias,
// and writes C.
struct Work {
  enum class Kind : uint8_t { kKernel, kContraction, kCopy, kFill, kUpload };

  Kind kind;
  bool is_pointwise = false;  // see Launch
  size_t call = 0;            // the number of the graph's call that it belongs to
  std::vector<WorkOperand> reads, writes;
  // kKernel. The pointers of the context to operands and arguments are set for each run.
  of_kernel kernel = nullptr;
  of_kernel_context context{};
  OwnedArguments arguments;
  // kContraction
  of_contraction contraction{};
  std::vector<of_contraction_dim> dims;
  // kCopy, kFill, kUpload
  uint64_t bytes = 0;
  uint8_t value = 0;
  std::vector<char> data;
};

// Memory that a run allocates.
struct WorkBuffer {
  uint64_t bytes;
};

}  // namespace oneflow::graph

#endif  // ONEFLOW_GRAPH_WORK_H_
