// What the drivers of grid devices ask of a backend, and what they share: arguments, scratch memory, iteration spaces.
//
// A driver turns one kernel call of the runtime into launches; the backend's plugin defines launch() and its
// neighbours.
#ifndef ONEFLOW_DEVICES_GRID_DRIVER_H_
#define ONEFLOW_DEVICES_GRID_DRIVER_H_

#include <oneflow/device_plugin.h>

#include <cstddef>
#include <cstdint>

#include "host.h"

namespace oneflow::grid {

// A compiled kernel, or what the backend needs to compile it.
using Handle = const void*;

constexpr int32_t kAny = OF_DTYPE_COUNT;  // a storage that each launch names

// The kernels of one text and one compute type, by the storage of their operands.
struct Variants {
  struct Variant {
    int32_t storage;
    Handle handle;
  };
  Variant list[8];
  int count = 0;

  // The kernel for operands that are all stored as `dtype`; NULL when there is none.
  Handle of(int32_t dtype) const {
    for (int i = 0; i < count; ++i) {
      if (list[i].storage == dtype) return list[i].handle;
    }
    return nullptr;
  }
  // The same, or the one for any storage.
  Handle best(int32_t dtype) const {
    const Handle own = of(dtype);
    return own != nullptr ? own : of(kAny);
  }
};

struct Geometry {
  uint32_t groups = 1;
  uint32_t groups_y = 1;
  uint32_t items = 256;      // of a group
  uint32_t local_bytes = 0;  // memory that a group shares: the kernel's last parameter, where it is not 0
};

// The arguments of a launch, in the order of the kernel's parameters. Values are referred to, not copied.
class Arguments {
 public:
  static constexpr int kMost = 64;

  struct Argument {
    const void* value;
    uint32_t bytes;
    bool is_pointer;  // to memory of the device: `value` points to the pointer
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

// Puts a launch on the context's stream. The arguments may be reused when it returns.
of_status launch(const of_kernel_context& context, Handle handle, const Geometry& geometry, const Arguments& arguments);
// Where kernels on the context's stream leave an error, for the next synchronisation to find. NULL with an error text
// when there is no memory for it.
of_report* report(const of_kernel_context& context);
// How many elements, of `bytes` bytes each, one work-item of a flat kernel works on, and the work-items of a group.
struct Run {
  int64_t length;
  uint32_t items;
};
Run flat_run(of_device device, uint32_t bytes);
// What one work-item of a strided kernel works on: a block of elements (kernels/blocks.h), or so many where the kernel
// was compiled for the storage of its operands, otherwise one.
struct StridedRun {
  bool in_blocks;
  uint32_t length;
};
StridedRun strided_run(of_device device);

// How reductions and scans are cut to measure for a device.
struct FoldRun {
  uint32_t items;                  // of a group
  uint32_t line_lanes, row_lanes;  // of an item: neighbours in what is folded, or in what is kept
  bool packs;                      // whether lanes in aligned memory are loaded at once
  bool takes_neighbours;           // whether kernels for one storage take lanes for neighbours in memory
  uint32_t neighbours;             // dimensions of fewer elements make poor lanes
  uint32_t groups;                 // that make the device busy
  int64_t item_elements;           // that are worth an item
};
// For elements of `bytes` bytes.
FoldRun fold_run(of_device device, uint32_t bytes);
bool has_doubles(of_device device);

// -- what drivers share --------------------------------------------------------------------------------------------

// Scratch memory of the device, which later work on the stream may have as soon as this is gone.
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

uint32_t item_size(of_dtype dtype);
int64_t element_count(const of_kernel_tensor& tensor);
// Whether the elements lie one behind the other in row-major order.
bool is_contiguous(const of_kernel_tensor& tensor);

// A quotient of whole numbers, rounded up.
template <class N, class By>
constexpr N divide_up(N n, By by) {
  return static_cast<N>(n / by + (n % by != 0));
}
// The groups of work-items that cover so many elements.
uint32_t groups_for(int64_t elements, uint32_t items);

}  // namespace oneflow::grid

#endif  // ONEFLOW_DEVICES_GRID_DRIVER_H_
