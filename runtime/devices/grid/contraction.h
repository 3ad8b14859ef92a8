// Contractions: `contract` cuts a problem into chunks that fit a launch, and collects partial sums. What multiplies a
// chunk is a Multiplier: tiles in memory that a group shares, or whatever suits a kind of device better.
#ifndef ONEFLOW_DEVICES_GRID_CONTRACTION_H_
#define ONEFLOW_DEVICES_GRID_CONTRACTION_H_

#include "contraction_problem.h"
#include "driver.h"

namespace oneflow::grid {

// A part of a problem. C holds elements of `c_dtype`: the problem's dtype, or the type of sums. Part i of the depth
// goes to C + i * part_step.
struct Chunk {
  of_contract_dims batch, rows, columns, depth;
  const char *a, *b;
  char* c;
  int32_t is_sums;
  int32_t accumulate;  // add to C
  uint32_t parts;
  uint32_t part_depth;
  int64_t part_step;

  int64_t result_count() const { return int64_t{batch.count} * rows.count * columns.count; }
  // All of it, as kernels of chunks take it. The chunk outlives the arguments.
  void add_to(Arguments& arguments) const;
};

class Multiplier {
 public:
  virtual ~Multiplier() = default;
  // The most that a chunk may have of each role.
  struct Limits {
    int64_t batch, rows, columns, depth;
  };
  virtual Limits limits() const = 0;
  // How many parts of the depth to add up on their own, where results are too few to keep the device busy: by sizes
  // alone, so that results repeat bit for bit.
  virtual uint32_t parts(const Problem& problem) const = 0;
  virtual of_status multiply(const of_kernel_context& context, const Chunk& chunk) = 0;
};

// The context of the launches of a contraction.
of_kernel_context launch_context(const of_contraction& contraction);
of_status contract(const Problem& problem, const of_kernel_context& context, Multiplier& multiplier);
// The same by tiles, where neighbouring work-items run in lockstep.
of_status contract(const Problem& problem, const of_kernel_context& context);
// What devices say of a descriptor that is of no kind that they know.
of_status unknown_contraction();
// A factor as a value of the type of sums; returns its bytes.
uint32_t put_factor(const Problem& problem, double factor, void* bytes);
// C = alpha * (its sums, in so many parts one behind the other) + beta * C + bias.
of_status finish(const Problem& problem, const of_kernel_context& context, const Problem& sums, uint32_t parts);

// One kernel per dtype of tensors: `make` gives that for sums of type T and elements of S.
class ByDtype {
 public:
  template <class Make>
  explicit ByDtype(Make make) {
    add<float, OF_BOOL, OF_FLOAT16, OF_BFLOAT16, OF_FLOAT32>(make);
    add<double, OF_FLOAT64>(make);
    add<uint32_t, OF_UINT8, OF_INT8, OF_INT16, OF_INT32, OF_UINT16>(make);
    add<uint64_t, OF_INT64>(make);
    // Sums wrap around: with a sign or without one, their bits are the same.
    handles_[OF_UINT32] = handles_[OF_INT32];
    handles_[OF_UINT64] = handles_[OF_INT64];
  }
  Handle operator[](of_dtype dtype) const { return handles_[dtype]; }

 private:
  template <class T, int... storages, class Make>
  void add(Make make) {
    ((handles_[storages] = make.template operator()<T, storages>()), ...);
  }
  Handle handles_[OF_DTYPE_COUNT] = {};
};

// The kernels of ./programs.
const ByDtype& contraction_tiles();
const ByDtype& contraction_dots();
const ByDtype& contraction_finish();

}  // namespace oneflow::grid

#endif  // ONEFLOW_DEVICES_GRID_CONTRACTION_H_
