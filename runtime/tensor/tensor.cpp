#include "tensor/tensor.h"

#include "base/error.h"
#include "base/free_list.h"

namespace oneflow {

void* Tensor::operator new(size_t) { return FreeList<Tensor>::allocate(); }
void Tensor::operator delete(void* memory) noexcept { FreeList<Tensor>::free(memory); }
void Tensor::destroy() noexcept { delete this; }
uint64_t Tensor::live_count() { return static_cast<uint64_t>(FreeList<Tensor>::live_count()); }

TensorRef Tensor::without_memory(Sizes sizes, of_dtype dtype, of_device device) {
  TensorRef tensor = TensorRef::adopt(new Tensor);
  tensor->dtype_ = dtype;
  tensor->device_ = device;
  tensor->count_ = count_elements(sizes);
  tensor->sizes_.assign(sizes);
  tensor->strides_ = contiguous_strides(sizes);
  return tensor;
}

TensorRef Tensor::allocate(Sizes sizes, of_dtype dtype, of_device device) {
  const int64_t bytes = count_bytes(sizes, dtype);
  TensorRef tensor = without_memory(sizes, dtype, device);
  tensor->storage_ = Storage::create(Buffer::allocate(device, static_cast<uint64_t>(bytes)));
  return tensor;
}

TensorRef Tensor::over(Ref<Storage> storage, of_dtype dtype, Sizes sizes, Sizes strides, int64_t offset) {
  TensorRef tensor = TensorRef::adopt(new Tensor);
  tensor->dtype_ = dtype;
  tensor->device_ = storage->device();
  tensor->offset_ = offset;
  tensor->count_ = count_elements(sizes);
  tensor->is_contiguous_ = oneflow::is_contiguous(sizes, strides);
  tensor->storage_ = std::move(storage);
  tensor->sizes_.assign(sizes);
  tensor->strides_.assign(strides);
  return tensor;
}

TensorRef Tensor::view(const Tensor& base, Sizes sizes, Sizes strides, int64_t offset) {
  return view(base, sizes, strides, offset, base.dtype());
}

TensorRef Tensor::view(const Tensor& base, Sizes sizes, Sizes strides, int64_t offset, of_dtype dtype) {
  TensorRef tensor = TensorRef::adopt(new Tensor);
  tensor->dtype_ = dtype;
  tensor->device_ = base.device_;
  tensor->offset_ = offset;
  tensor->count_ = count_elements(sizes);
  tensor->is_contiguous_ = oneflow::is_contiguous(sizes, strides);
  tensor->storage_ = base.storage_;
  tensor->base_ = base.base_ ? base.base_ : TensorRef::share(const_cast<Tensor*>(&base));
  tensor->sizes_.assign(sizes);
  tensor->strides_.assign(strides);
  return tensor;
}

void Tensor::fail_without_memory() {
  fail(OF_UNSUPPORTED, "the tensor has a shape and a dtype but no data: it comes from inference");
}

}  // namespace oneflow
