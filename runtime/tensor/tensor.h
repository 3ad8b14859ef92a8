// The tensor class. An of_tensor handle points to an object of this class.
#ifndef ONEFLOW_TENSOR_TENSOR_H_
#define ONEFLOW_TENSOR_TENSOR_H_

#include <oneflow/oneflow.h>

#include "base/dtype.h"
#include "base/ref.h"
#include "base/shape.h"
#include "tensor/extensions.h"
#include "tensor/storage.h"

namespace oneflow {

class Tensor;
using TensorRef = Ref<Tensor>;

}  // namespace oneflow

// The type that an of_tensor points to. oneflow::Tensor is the only derived class, so to_tensor() converts a handle.
struct of_tensor_object {};

namespace oneflow {

// A strided view of a storage: sizes, strides, offset and dtype. Only the elements can change after creation.
class Tensor final : public of_tensor_object, public RefCounted<Tensor> {
 public:
  // Creates a contiguous tensor with uninitialized memory. Throws ShapeError for invalid sizes, OutOfMemory, or the
  // device's error.
  static TensorRef allocate(Sizes sizes, of_dtype dtype, of_device device);
  // Creates a tensor that has a shape and a dtype, but no storage, as inference returns it. data() throws Unsupported.
  static TensorRef without_memory(Sizes sizes, of_dtype dtype, of_device device);
  // Creates one with the shape, the layout, the dtype and the device of another tensor.
  static TensorRef without_memory(const Tensor& like);
  // Creates a contiguous tensor whose elements are computed when they are first needed; see Storage::defer(). Sets the
  // bytes and the device of the recipe. Throws ShapeError for invalid sizes.
  static TensorRef defer(Sizes sizes, of_dtype dtype, of_device device, Recipe recipe);
  // Creates a view of the storage of `base`. `offset` is in elements from the start of the storage. The caller
  // guarantees that all elements are within the storage.
  static TensorRef view(const Tensor& base, Sizes sizes, Sizes strides, int64_t offset);
  // Creates a view with another dtype; `strides` and `offset` are in elements of this dtype.
  static TensorRef view(const Tensor& base, of_dtype dtype, Sizes sizes, Sizes strides, int64_t offset);
  // Creates one of which the facts are known.
  static TensorRef view(const Tensor& base, of_dtype dtype, Sizes sizes, Sizes strides, int64_t offset,
                        const LayoutFacts& facts);
  // Sets a function that sees every view when it is made.
  using ViewObserver = void (*)(const Tensor& view);
  static void observe_views(ViewObserver observer);
  // Creates a tensor, which is not a view, over a storage.
  static TensorRef over(Ref<Storage> storage, of_dtype dtype, Sizes sizes, Sizes strides, int64_t offset);

  of_dtype dtype() const { return dtype_; }
  of_device device() const { return device_; }
  int rank() const { return sizes_.rank(); }
  const Shape& sizes() const { return sizes_; }
  const Shape& strides() const { return strides_; }
  int64_t size(int dim) const { return sizes_[dim]; }
  int64_t stride(int dim) const { return strides_[dim]; }
  int64_t offset() const { return offset_; }
  int64_t count() const { return count_; }
  int64_t element_bytes() const { return dtype_size(dtype_); }
  int64_t bytes() const { return count_ * element_bytes(); }
  bool is_contiguous() const { return is_contiguous_; }

  bool has_memory() const { return static_cast<bool>(storage_); }
  bool is_view() const { return static_cast<bool>(base_); }
  // Returns the tensor that this is a view of, which is not a view itself; null if this is not a view.
  const TensorRef& base() const { return base_; }
  const Ref<Storage>& storage() const { return storage_; }

  // Returns the address of the element at index 0 in the device's memory, without waiting for pending work. Throws
  // Unsupported for a tensor without memory.
  const void* data() const {
    if (!storage_) [[unlikely]]
      fail_without_memory();
    return static_cast<const char*>(storage_->data()) + offset_ * element_bytes();
  }
  // Returns the address of the element at index 0 for writing; see Storage::mutable_data().
  void* mutable_data() const {
    if (!storage_) [[unlikely]]
      fail_without_memory();
    return static_cast<char*>(storage_->mutable_data()) + offset_ * element_bytes();
  }

  // Returns the address of the element at index 0 for code outside the runtime; see Storage::expose().
  void* exposed_data() const {
    if (!storage_) fail_without_memory();
    return static_cast<char*>(storage_->expose()) + offset_ * element_bytes();
  }

  // What layers keep with the tensor.
  Extensions& extensions() const { return extensions_; }
  // Returns a bit for each layer whose data the tensor, or the one that it is a view of, carries.
  uint32_t carried_layers() const { return extensions_.layers() | (base_ ? base_->extensions_.layers() : uint32_t{0}); }

  // Returns the number of live tensors in the process.
  static uint64_t live_count();

  void destroy() noexcept;
  static void* operator new(size_t);
  static void operator delete(void*) noexcept;

 private:
  Tensor() = default;
  static TensorRef create(Ref<Storage> storage, of_device device, of_dtype dtype, Sizes sizes, Sizes strides,
                          int64_t offset, int64_t count, bool is_contiguous);
  // Sets the sizes, row-major strides and the number of elements. Throws ShapeError for invalid sizes.
  void set_contiguous_layout(Sizes sizes);
  [[noreturn]] static void fail_without_memory();

  of_dtype dtype_ = OF_FLOAT32;
  of_device device_{};
  int64_t offset_ = 0;
  int64_t count_ = 0;
  bool is_contiguous_ = true;
  Ref<Storage> storage_;
  TensorRef base_;
  mutable Extensions extensions_;
  Shape sizes_;
  Shape strides_;
};

inline Tensor* to_tensor(of_tensor handle) { return static_cast<Tensor*>(handle); }
inline of_tensor to_handle(Tensor* tensor) { return tensor; }

}  // namespace oneflow

#endif  // ONEFLOW_TENSOR_TENSOR_H_
