#include "tensor/tensor.h"

#include <algorithm>
#include <atomic>

#include "base/error.h"
#include "base/free_list.h"

namespace oneflow {

namespace {

std::atomic<Tensor::ViewObserver> view_observer{nullptr};

}  // namespace

void* Tensor::operator new(size_t) { return FreeList<Tensor>::allocate(); }
void Tensor::operator delete(void* memory) noexcept { FreeList<Tensor>::free(memory); }
void Tensor::destroy() noexcept { delete this; }
uint64_t Tensor::live_count() { return static_cast<uint64_t>(FreeList<Tensor>::live_count()); }

// Does the work of count_elements() and contiguous_strides() in one pass, because every result needs both.
void Tensor::set_contiguous_layout(Sizes sizes) {
  const int rank = static_cast<int>(sizes.size());
  sizes_.resize(rank);
  strides_.resize(rank);
  int64_t stride = 1;
  bool is_bad = false;
  bool is_empty = false;
  for (int d = rank - 1; d >= 0; --d) {
    const int64_t size = sizes[d];
    sizes_[d] = size;
    strides_[d] = stride;
    is_bad |= size < 0;
    is_empty |= size == 0;
    is_bad |= __builtin_mul_overflow(stride, std::max<int64_t>(size, 1), &stride);
  }
  if (is_bad) [[unlikely]]
    count_elements(sizes);  // throws with the reason
  count_ = is_empty ? 0 : stride;
}

TensorRef Tensor::without_memory(Sizes sizes, of_dtype dtype, of_device device) {
  TensorRef tensor = TensorRef::adopt(new Tensor);
  tensor->dtype_ = dtype;
  tensor->device_ = device;
  tensor->set_contiguous_layout(sizes);
  return tensor;
}

// Inline, because every view is created by it.
[[gnu::always_inline]] inline TensorRef Tensor::create(Ref<Storage> storage, of_device device, of_dtype dtype,
                                                       Sizes sizes, Sizes strides, int64_t offset, int64_t count,
                                                       bool is_contiguous) {
  TensorRef tensor = TensorRef::adopt(new Tensor);
  tensor->dtype_ = dtype;
  tensor->device_ = device;
  tensor->offset_ = offset;
  tensor->count_ = count;
  tensor->is_contiguous_ = is_contiguous;
  tensor->storage_ = std::move(storage);
  tensor->sizes_.assign(sizes);
  tensor->strides_.assign(strides);
  return tensor;
}

TensorRef Tensor::without_memory(const Tensor& like) {
  return create({}, like.device_, like.dtype_, like.sizes_, like.strides_, like.offset_, like.count_,
                like.is_contiguous_);
}

TensorRef Tensor::allocate(Sizes sizes, of_dtype dtype, of_device device) {
  TensorRef tensor = without_memory(sizes, dtype, device);
  uint64_t bytes;
  if (__builtin_mul_overflow(tensor->count_, dtype_size(dtype), &bytes)) [[unlikely]]
    count_bytes(sizes, dtype);  // throws with the reason
  tensor->storage_ = Storage::create(Buffer::allocate(device, bytes));
  return tensor;
}

TensorRef Tensor::defer(Sizes sizes, of_dtype dtype, of_device device, Recipe recipe) {
  TensorRef tensor = without_memory(sizes, dtype, device);
  recipe.device = device;
  recipe.bytes = static_cast<uint64_t>(count_bytes(sizes, dtype));
  tensor->storage_ = Storage::defer(recipe);
  return tensor;
}

TensorRef Tensor::over(Ref<Storage> storage, of_dtype dtype, Sizes sizes, Sizes strides, int64_t offset) {
  const of_device device = storage->device();
  return create(std::move(storage), device, dtype, sizes, strides, offset, count_elements(sizes),
                oneflow::is_contiguous(sizes, strides));
}

void Tensor::observe_views(ViewObserver observer) { view_observer.store(observer, std::memory_order_relaxed); }

TensorRef Tensor::view(const Tensor& base, Sizes sizes, Sizes strides, int64_t offset) {
  return view(base, base.dtype_, sizes, strides, offset);
}

TensorRef Tensor::view(const Tensor& base, of_dtype dtype, Sizes sizes, Sizes strides, int64_t offset) {
  return view(base, dtype, sizes, strides, offset, facts_of(sizes, strides));
}

TensorRef Tensor::view(const Tensor& base, of_dtype dtype, Sizes sizes, Sizes strides, int64_t offset,
                       const LayoutFacts& facts) {
  TensorRef tensor =
      create(base.storage_, base.device_, dtype, sizes, strides, offset, facts.count, facts.is_contiguous);
  tensor->base_ = base.base_ ? base.base_ : TensorRef::share(const_cast<Tensor*>(&base));
  if (const ViewObserver observer = view_observer.load(std::memory_order_relaxed)) [[unlikely]]
    observer(*tensor);
  return tensor;
}

void Tensor::fail_without_memory() {
  fail(OF_UNSUPPORTED, "the tensor has a shape and a dtype but no data: it comes from inference");
}

}  // namespace oneflow
