// The trace of one run of a graph: records the work of its calls, for later runs with operands of the same layouts.
#ifndef ONEFLOW_GRAPH_SESSION_TRACE_H_
#define ONEFLOW_GRAPH_SESSION_TRACE_H_

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "device/work_observer.h"
#include "graph/program/program.h"
#include "graph/session/work.h"

namespace oneflow::graph {

// An output of a run: a view of a buffer.
struct TracedOutput {
  uint32_t buffer;
  of_dtype dtype;
  Shape sizes, strides;
  int64_t offset;  // in elements
};

// Observes the calling thread for as long as it lives. Addresses are understood by the buffers that exist at the time.
class Trace final : public WorkObserver {
 public:
  // The inputs and the constants must have their memory already. With a limit, throws OutOfMemory once the buffers
  // together need more bytes.
  Trace(const Program& program, std::span<const of_tensor> inputs, uint64_t limit);
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;
  ~Trace() { stop(); }

  // Says which call of the graph comes next.
  void begin_call(size_t number) { call_ = number; }
  // Ends the observation.
  void stop() noexcept;
  // Returns whether the work can be repeated: everything is recorded, on one device, and depends on sizes only.
  bool is_complete() const { return is_complete_; }
  // Returns where an output is; none if it is not in a buffer of the run.
  std::optional<TracedOutput> find_output(const Tensor& tensor) const;

  of_device device() const { return device_; }
  std::vector<Work>& works() { return works_; }
  std::vector<WorkBuffer>& buffers() { return buffers_; }

  void see_kernel(of_kernel kernel, const of_kernel_context& context, bool is_pointwise) override;
  void see_contraction(const of_contraction& contraction) override;
  void see_copy(of_device device, void* destination, const void* source, uint64_t bytes) override;
  void see_upload(of_device device, void* destination, const void* source, uint64_t bytes) override;
  void see_fill(of_device device, void* destination, uint8_t value, uint64_t bytes) override;
  void see_allocation(of_device device, const void* memory, uint64_t bytes) override;
  void see_release(const void* memory) noexcept override;
  void see_other() noexcept override { is_complete_ = false; }

 private:
  // A range of memory that exists.
  struct Range {
    uint64_t bytes;
    Place first;  // the place of its first byte
  };

  // Adds a range; a trace with ranges that overlap is not complete.
  void add_range(const void* memory, uint64_t bytes, Place first);
  // Returns the place of an address; a trace with one that is not known is not complete.
  Place place_of(const void* address);
  WorkOperand operand_of(const of_kernel_tensor& tensor);
  // Returns an operand that is written to; a trace that writes to memory of others is not complete.
  WorkOperand written(WorkOperand operand);
  Work& add(Work::Kind kind, of_device device);
  Work& add_bytes(Work::Kind kind, of_device device, void* destination, uint64_t bytes);

  const of_device device_;
  const uint64_t limit_;
  WorkObserver* const outer_;
  bool is_observing_ = true;
  bool is_complete_ = true;
  size_t call_ = 0;
  uint64_t live_bytes_ = 0;
  std::map<const char*, Range> ranges_;
  std::vector<Work> works_;
  std::vector<WorkBuffer> buffers_;
};

}  // namespace oneflow::graph

#endif  // ONEFLOW_GRAPH_SESSION_TRACE_H_
