// The plan of the runs of a graph with inputs of certain layouts: its work, with all memory laid out in one arena.
#ifndef ONEFLOW_GRAPH_SESSION_PLAN_H_
#define ONEFLOW_GRAPH_SESSION_PLAN_H_

#include <memory>
#include <span>
#include <vector>

#include "base/ref.h"
#include "device/device.h"
#include "graph/session/chains.h"
#include "graph/session/trace.h"
#include "graph/session/work.h"
#include "tensor/tensor.h"

namespace oneflow::graph {

// The type and the layout of an input.
struct InputLayout {
  of_dtype dtype;
  Shape sizes, strides;

  bool matches(const Tensor& tensor) const;
  bool operator==(const InputLayout& other) const;
};

// Does not change, so that several threads may run it, each with its PlanMemory.
class Plan final : public RefCounted<Plan> {
 public:
  // Makes a plan of a complete trace.
  static Ref<Plan> create(Trace& trace, std::span<const of_tensor> inputs, std::vector<TracedOutput> outputs,
                          const Program& program);

  // Returns whether the plan is for inputs with these layouts. Their number is right.
  bool matches(std::span<const of_tensor> inputs) const;
  // Returns whether another plan is for inputs with the same layouts.
  bool has_layouts_of(const Plan& other) const { return inputs_ == other.inputs_; }
  // Returns the bytes that a run needs besides its outputs.
  uint64_t arena_bytes() const { return arena_bytes_; }
  // Returns the bytes of the outputs.
  uint64_t output_bytes() const;
  void destroy() noexcept { delete this; }

 private:
  friend class PlanMemory;

  // Memory of an output, which each run allocates.
  struct OutputBuffer {
    uint32_t buffer;
    uint64_t bytes;
    int whole = -1;  // the only output in the buffer, if it fills all of it in row-major order; else -1
  };

  Plan() = default;
  ~Plan() = default;
  void find_output_buffers(const std::vector<WorkBuffer>& buffers);
  // Gives all other buffers their places.
  void lay_out(const std::vector<WorkBuffer>& buffers);
  // Returns the position of the output buffer that a buffer of the trace is; -1 for others.
  int output_buffer_of(uint32_t buffer) const { return output_numbers_[buffer]; }

  of_device device_{};
  std::vector<InputLayout> inputs_;
  std::vector<Work> works_;
  std::vector<Chain> chains_;
  std::vector<TracedOutput> outputs_;
  std::vector<OutputBuffer> output_buffers_;
  std::vector<int> output_numbers_;     // of each buffer
  std::vector<int64_t> arena_offsets_;  // of each buffer; -1 for those of outputs and those that are not used
  uint64_t arena_bytes_ = 0;
  const Program* program_ = nullptr;  // for error texts
};

// What one thread at a time needs for running a plan: the arena, and the arguments of all work with their addresses.
class PlanMemory {
 public:
  explicit PlanMemory(Ref<Plan> plan);
  PlanMemory(const PlanMemory&) = delete;
  PlanMemory& operator=(const PlanMemory&) = delete;
  ~PlanMemory();

  const Ref<Plan>& plan() const { return plan_; }
  // Runs the plan. Outputs that are given are written to; others are new tensors.
  void run(std::span<const of_tensor> inputs, std::span<of_value> outputs);

 private:
  // A piece of work with addresses.
  struct Bound {
    const Work* work;
    of_kernel_context context;
    of_contraction contraction;
    void* prepared = nullptr;  // see of_contraction
    void* destination = nullptr;
    const void* source = nullptr;
  };
  // A pointer to an operand, and its distance from the start of what it lies in.
  struct Address {
    void** pointer;
    int64_t offset;
  };
  // The addresses in one piece of memory, and where that was at the last run.
  struct Addresses {
    std::vector<Address> list;
    char* start = nullptr;

    void move_to(void* memory);
  };

  void bind(Bound& bound, of_kernel_tensor*& next);
  void add_address(const Place& place, void** pointer);
  void submit(Bound& bound, of_device_stream stream);
  void submit_all(of_device_stream stream);
  void run_chain(const Chain& chain, of_device_stream stream) const;
  void run_tiles(const Chain& chain, int64_t tile, of_device_stream stream) const;
  void run_tile(const Bound& bound, const Tiling& tiling, int64_t tile, of_device_stream stream) const;
  bool is_direct(size_t number, std::span<const of_tensor> inputs, std::span<const of_value> outputs) const;
  // Copies outputs to the caller's tensors, and makes tensors of the others.
  void store(std::span<of_value> outputs, std::span<const Ref<Storage>> storages) const;

  const Ref<Plan> plan_;
  Device& device_;
  Ref<Buffer> arena_;
  std::vector<Bound> bounds_;
  std::vector<of_kernel_tensor> operands_;
  Addresses arena_addresses_;
  std::vector<Addresses> input_addresses_, output_addresses_;
};

}  // namespace oneflow::graph

#endif  // ONEFLOW_GRAPH_SESSION_PLAN_H_
