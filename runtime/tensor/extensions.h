// What layers keep with a tensor: autograd its history, a sharding layer its placement.
#ifndef ONEFLOW_TENSOR_EXTENSIONS_H_
#define ONEFLOW_TENSOR_EXTENSIONS_H_

#include <oneflow/oneflow.h>

#include <atomic>

namespace oneflow {

// Throws InvalidArgument unless there can be a layer of this number.
void check_layer(of_layer layer);

// At most one item per layer, each with a function that frees it. Items are added by any thread, and never replaced.
class Extensions {
 public:
  Extensions() = default;
  Extensions(const Extensions&) = delete;
  Extensions& operator=(const Extensions&) = delete;
  ~Extensions() {
    if (first_.load(std::memory_order_relaxed)) [[unlikely]]
      release();
  }

  // Returns a bit for each layer that has an item.
  uint32_t layers() const { return layers_.load(std::memory_order_acquire); }
  // Returns the data of a layer; null if there is none.
  void* find(of_layer layer) const;
  // Adds the data of a layer. Throws InvalidArgument, and leaves the data to the caller, if the layer has an item.
  void add(of_layer layer, void* data, of_deleter destroy);

 private:
  struct Item;
  // Frees all items. Not recursive: freeing an item may release other tensors, whose items are queued.
  void release() noexcept;

  std::atomic<uint32_t> layers_{0};
  std::atomic<Item*> first_{nullptr};
};

}  // namespace oneflow

#endif  // ONEFLOW_TENSOR_EXTENSIONS_H_
