// The work of calls: what they compute, read and write. It is counted by inference, without running them.
#ifndef ONEFLOW_DISPATCH_CALL_WORK_H_
#define ONEFLOW_DISPATCH_CALL_WORK_H_

#include <map>
#include <span>
#include <utility>
#include <vector>

#include "dispatch/call.h"

namespace oneflow {

// The work of some calls.
struct CallWork {
  double operations = 0;
  uint64_t bytes_read = 0, bytes_written = 0;

  // Throws ShapeError for sums that overflow.
  CallWork& operator+=(const CallWork& other);
};

// Counts the work of the calls that this thread infers for as long as the object lives.
//
// A call that makes others in its body takes what these take. Views take nothing, and an operand takes no more than
// the memory that it is a view of. A composite for which the device has a kernel reads its operands and writes its
// results only: what the calls in its body keep between each other never gets to memory.
class WorkCounter {
 public:
  WorkCounter();
  WorkCounter(const WorkCounter&) = delete;
  WorkCounter& operator=(const WorkCounter&) = delete;
  ~WorkCounter();

  // Returns the work of all calls since the last time.
  CallWork take() { return std::exchange(total_, {}); }

  // Runs the function of a call for inference, and counts the call if there is a counter.
  static void run(Call& call, void (*function)(Call&));
  // Counts a call that inference leaves out, because its results are written to existing tensors.
  static void count_left_out(const Operator& op, const char* name, std::span<const of_value> arguments);

 private:
  // An operand of a call, whose arguments may change while it runs.
  struct Operand {
    TensorRef tensor;
    uint64_t bytes;
    bool is_written;
  };

  void count(Call& call, void (*function)(Call&));
  std::vector<Operand> operands_of(const Call& call) const;
  void add_view(const Call& call, const std::vector<Operand>& operands);
  void add_memory(const Call& call, const std::vector<Operand>& operands);
  uint64_t bytes_of(const Tensor& tensor) const;

  WorkCounter* const outer_;
  CallWork total_;
  uint64_t calls_ = 0;
  std::map<const Tensor*, uint64_t> viewed_;  // the bytes of the memory that each view shows
  std::vector<TensorRef> views_;              // so that no later tensor has the address of one
};

}  // namespace oneflow

#endif  // ONEFLOW_DISPATCH_CALL_WORK_H_
