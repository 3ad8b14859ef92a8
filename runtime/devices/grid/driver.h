// The interface between the drivers of grid devices and a backend, and what the drivers share: arguments of launches,
// scratch memory, sizes.
//
// A driver turns one kernel call of the runtime into launches. The backend's plugin defines launch() and the other
// functions of the section "what a backend defines".
#ifndef ONEFLOW_DEVICES_GRID_DRIVER_H_
#define ONEFLOW_DEVICES_GRID_DRIVER_H_

#include <oneflow/device_plugin.h>

#include <cstddef>
#include <cstdint>

#include "host.h"

namespace oneflow::grid {

// A compiled kernel, or what the backend needs to compile it.
using Handle = const void*;

constexpr int32_t kAny = OF_DTYPE_NONE;  // any storage: each launch passes the dtypes of its operands

// The variants of one kernel for one compute type, by the dtype in which the operands are stored.
struct Variants {
  struct Variant {
    int32_t storage;
    Handle handle;
  };
  Variant list[8];
  int count = 0;

  // Returns the kernel for operands that are all stored as `dtype`, or NULL.
  Handle of(int32_t dtype) const {
    for (int i = 0; i < count; ++i) {
      if (list[i].storage == dtype) return list[i].handle;
    }
    return nullptr;
  }
  // Returns the kernel for operands stored as `dtype`, or else the one for any storage.
  Handle best(int32_t dtype) const {
    const Handle own = of(dtype);
    return own != nullptr ? own : of(kAny);
  }
};

// The size of a launch: a two-dimensional grid of groups of work-items.
struct Geometry {
  uint32_t groups = 1;
  uint32_t groups_y = 1;
  uint32_t items = 256;      // work-items per group
  uint32_t local_bytes = 0;  // group-shared memory, which is the kernel's last parameter; 0: the kernel has none
};

// The arguments of a launch, in the order of the kernel's parameters. Values are held by reference, not copied.
class Arguments {
 public:
  static constexpr int kMost = 64;

  struct Argument {
    const void* value;
    uint32_t bytes;
    bool is_pointer;  // whether `value` is the address of a pointer to device memory
  };

  void pointer(const void* memory) {
    pointers_[count_] = memory;
    list_[count_] = {&pointers_[count_], sizeof memory, true};
    ++count_;
  }
  template <class T>
  void value(const T& value) {
    list_[count_++] = {&value, sizeof(T), false};
  }
  template <class T>
  void value(const T&& value) = delete;
  void bytes(const void* value, uint32_t bytes) { list_[count_++] = {value, bytes, false}; }

  int count() const { return count_; }
  const Argument& operator[](int i) const { return list_[i]; }

 private:
  Argument list_[kMost];
  const void* pointers_[kMost];
  int count_ = 0;
};

// -- what a backend defines ----------------------------------------------------------------------------------------

// Submits a launch to the context's stream. The arguments may be reused when it returns.
of_status launch(const of_kernel_context& context, Handle handle, const Geometry& geometry, const Arguments& arguments);
// Returns where kernels on the context's stream record an error, which the next synchronisation reports. Returns NULL
// and sets the error text if it cannot be allocated.
of_report* report(const of_kernel_context& context);
// The share of a work-item of a flat kernel.
struct Run {
  int64_t length;  // elements of a work-item
  uint32_t items;  // work-items per group
};
// Returns the run of flat kernels for elements of `bytes` bytes.
Run flat_run(of_device device, uint32_t bytes);
// The share of a work-item of a strided kernel.
struct StridedRun {
  bool in_blocks;   // whether a work-item takes blocks of elements (kernels/blocks.h)
  uint32_t length;  // otherwise: elements of a work-item, where the kernel was compiled for one storage; else it is 1
};
StridedRun strided_run(of_device device);

// The parameters by which the work of reductions and scans is distributed on a device.
struct FoldRun {
  uint32_t items;  // work-items per group
  uint32_t line_lanes,
      row_lanes;           // lanes of an item: consecutive folded elements (lines), or consecutive results (rows)
  bool packs;              // whether one access loads all lanes of an item where they are aligned
  bool needs_unit_stride;  // whether kernels for one storage require lanes of unit stride
  uint32_t min_lane_size;  // the size from which on a dimension is worth splitting into lanes
  uint32_t groups;         // the number of groups that keeps the device busy
  int64_t item_elements;   // the number of elements that is worth a work-item
};
// Returns the parameters for elements of `bytes` bytes.
FoldRun fold_run(of_device device, uint32_t bytes);
// Returns whether the device supports float64.
bool has_doubles(of_device device);

// -- what drivers share --------------------------------------------------------------------------------------------

// Scratch memory of the device. Once it is destroyed, work that is submitted later to the stream may reuse the memory.
class Scratch {
 public:
  explicit Scratch(const of_kernel_context& context) : context_(context) {}
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  of_status allocate(uint64_t bytes);
  void* data() const { return data_; }

 private:
  const of_kernel_context& context_;
  void* data_ = nullptr;
  uint64_t bytes_ = 0;
};

// Returns the size of an element in bytes.
uint32_t item_size(of_dtype dtype);
int64_t element_count(const of_kernel_tensor& tensor);
// Returns whether the tensor is contiguous in row-major order.
bool is_contiguous(const of_kernel_tensor& tensor);

// Returns the quotient of two integers, rounded up.
template <class N, class By>
constexpr N divide_up(N n, By by) {
  return static_cast<N>(n / by + (n % by != 0));
}
// Returns the number of groups of `items` work-items that cover `elements` elements.
uint32_t groups_for(int64_t elements, uint32_t items);

}  // namespace oneflow::grid

#endif  // ONEFLOW_DEVICES_GRID_DRIVER_H_
