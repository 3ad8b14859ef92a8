// Contractions. contract() divides a problem into chunks that fit a launch, and adds up partial sums. A Multiplier
// computes the chunks, by tiles in group-shared memory or by a method that suits a kind of device better.
#ifndef ONEFLOW_DEVICES_GRID_CONTRACTION_H_
#define ONEFLOW_DEVICES_GRID_CONTRACTION_H_

#include "contraction_problem.h"
#include "driver.h"

namespace oneflow::grid {

// A part of a problem, computed by one call of a Multiplier. C holds elements of the problem's dtype or, if `is_sums`,
// of the type of sums. The sum over part i of the depth is stored at C + i * part_step.
struct Chunk {
  of_contract_dims batch, rows, columns, depth;
  const char *a, *b;
  char* c;
  int32_t is_sums;
  int32_t accumulate;  // whether to add to C
  uint32_t parts;
  uint32_t part_depth;
  int64_t part_step;

  int64_t result_count() const { return int64_t{batch.count} * rows.count * columns.count; }
  // Appends all fields in the order of the parameters of contraction kernels. The chunk must outlive the arguments.
  void add_to(Arguments& arguments) const;
};

// A method of computing chunks.
class Multiplier {
 public:
  virtual ~Multiplier() = default;
  // The largest number of elements that a chunk may have in each role.
  struct Limits {
    int64_t batch, rows, columns, depth;
  };
  virtual Limits limits() const = 0;
  // Returns into how many parts to split the depth; more than one where results are too few to keep the device busy.
  // Depends on sizes alone, so that results are reproducible bit for bit.
  virtual uint32_t parts(const Problem& problem) const = 0;
  virtual of_status multiply(const of_kernel_context& context, const Chunk& chunk) = 0;
};

// Returns the context for the launches of a contraction.
of_kernel_context launch_context(const of_contraction& contraction);
// Computes a problem in chunks.
of_status contract(const Problem& problem, const of_kernel_context& context, Multiplier& multiplier);
// Overload for devices whose work-items run in lockstep: uses tiles in group-shared memory, or dot products.
of_status contract(const Problem& problem, const of_kernel_context& context);
// Fails with OF_UNSUPPORTED, for a descriptor that grid devices do not implement.
of_status unknown_contraction();
// Writes a factor (alpha or beta) as a value of the type of sums; returns its size in bytes.
uint32_t put_factor(const Problem& problem, double factor, void* bytes);
// Computes C = alpha * S + beta * C + bias. S is the sum of `parts` consecutive arrays of partial sums at C of `sums`.
of_status finish(const Problem& problem, const of_kernel_context& context, const Problem& sums, uint32_t parts);

// The kernels of one step of contractions by the dtype of the tensors. `make` returns the kernel for sums of type T and
// elements of dtype S.
class ByDtype {
 public:
  template <class Make>
  explicit ByDtype(Make make) {
    add<float, OF_BOOL, OF_FLOAT16, OF_BFLOAT16, OF_FLOAT32>(make);
    add<double, OF_FLOAT64>(make);
    add<uint32_t, OF_UINT8, OF_INT8, OF_INT16, OF_INT32, OF_UINT16>(make);
    add<uint64_t, OF_INT64>(make);
    // Integer sums wrap around, so that their bits are the same in signed and unsigned types.
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

// The kernels of programs/contraction_*.h.
const ByDtype& contraction_tiles();
const ByDtype& contraction_dots();
const ByDtype& contraction_finish();

}  // namespace oneflow::grid

#endif  // ONEFLOW_DEVICES_GRID_CONTRACTION_H_
