// A tensor: sizes and strides over a storage. This is what an of_tensor handle points to.
#ifndef ONEFLOW_TENSOR_TENSOR_H_
#define ONEFLOW_TENSOR_TENSOR_H_

#include <oneflow/oneflow.h>

#include "base/dtype.h"
#include "base/ref.h"
#include "base/shape.h"
#include "tensor/storage.h"

namespace oneflow {

class Tensor;
using TensorRef = Ref<Tensor>;

}  // namespace oneflow

// The handle's type. oneflow::Tensor is the only class derived from it, so a handle converts with to_tensor().
struct of_tensor_object {};

namespace oneflow {

// Immutable but for the elements: sizes, strides, dtype and storage never change after creation.
class Tensor final : public of_tensor_object, public RefCounted<Tensor> {
 public:
  // A contiguous tensor with uninitialised memory. ShapeError for bad sizes, OutOfMemory.
  static TensorRef allocate(Sizes sizes, of_dtype dtype, of_device device);
  // A tensor that is only a shape and a dtype: what inference gives. Its data cannot be asked for.
  static TensorRef without_memory(Sizes sizes, of_dtype dtype, of_device device);
  // A view of `base`'s storage. `offset` counts elements from the storage's start. The caller vouches for the bounds.
  static TensorRef view(const Tensor& base, Sizes sizes, Sizes strides, int64_t offset);
  // The same with elements of another dtype, in which `strides` and `offset` then count.
  static TensorRef view(const Tensor& base, of_dtype dtype, Sizes sizes, Sizes strides, int64_t offset);
  // A tensor over a storage of its own: not a view.
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
  // The tensor that this is a view of: never a view itself. NULL when this is none.
  const TensorRef& base() const { return base_; }
  const Ref<Storage>& storage() const { return storage_; }

  // The address of the first element on the tensor's device. Does not wait for pending work. Unsupported without
  // memory.
  const void* data() const {
    if (!storage_) [[unlikely]]
      fail_without_memory();
    return static_cast<const char*>(storage_->data()) + offset_ * element_bytes();
  }
  // The same for writing: un-shares the memory and counts as a write.
  void* mutable_data() const {
    if (!storage_) [[unlikely]]
      fail_without_memory();
    return static_cast<char*>(storage_->mutable_data()) + offset_ * element_bytes();
  }

  // Tensors that are alive in the process.
  static uint64_t live_count();

  void destroy() noexcept;
  static void* operator new(size_t);
  static void operator delete(void*) noexcept;

 private:
  Tensor() = default;
  static TensorRef lay(Ref<Storage> storage, of_device device, of_dtype dtype, Sizes sizes, Sizes strides,
                       int64_t offset);
  // Sets count, sizes and the strides of contiguous memory.
  void lay_out(Sizes sizes);
  [[noreturn]] static void fail_without_memory();

  of_dtype dtype_ = OF_FLOAT32;
  of_device device_{};
  int64_t offset_ = 0;
  int64_t count_ = 0;
  bool is_contiguous_ = true;
  Ref<Storage> storage_;
  TensorRef base_;
  Shape sizes_;
  Shape strides_;
};

inline Tensor* to_tensor(of_tensor handle) { return static_cast<Tensor*>(handle); }
inline of_tensor to_handle(Tensor* tensor) { return tensor; }

}  // namespace oneflow

#endif  // ONEFLOW_TENSOR_TENSOR_H_
