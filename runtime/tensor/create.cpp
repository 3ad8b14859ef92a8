#include "tensor/create.h"

#include <algorithm>

#include "base/error.h"
#include "base/scalar.h"
#include "device/copy.h"
#include "device/device.h"
#include "tensor/copy_strided.h"
#include "tensor/host_elements.h"

namespace oneflow {
namespace {

// A layout within the memory of a source.
struct Layout {
  Shape sizes, strides;
  int64_t offset = 0;
};

// Checks a source, and that its memory holds all elements. Returns its layout.
Layout check_source(const of_tensor_source& source) {
  if (!is_valid(source.dtype)) fail(OF_DTYPE_ERROR, "there is no dtype number %d", source.dtype);
  if (source.rank < 0 || source.rank > OF_MAX_RANK)
    fail(OF_SHAPE_ERROR, "the rank must be between 0 and %d, got %d", OF_MAX_RANK, source.rank);
  if (source.rank > 0 && !source.sizes) fail(OF_INVALID_ARGUMENT, "sizes must not be NULL");
  get_device(source.device);

  Layout layout;
  layout.sizes.assign({source.sizes, static_cast<size_t>(source.rank)});
  count_bytes(layout.sizes, source.dtype);
  if (source.strides)
    layout.strides.assign({source.strides, static_cast<size_t>(source.rank)});
  else
    layout.strides = contiguous_strides(layout.sizes);
  normalize_unused_strides(layout.sizes, layout.strides);
  const Extent reach = extent(layout.sizes, layout.strides);
  if (reach.highest < reach.lowest) return layout;  // without elements, data and offset do not matter

  if (!source.data) fail(OF_INVALID_ARGUMENT, "data must not be NULL");
  const uint64_t available = std::min<uint64_t>(source.bytes / dtype_size(source.dtype), INT64_MAX);
  int64_t first, last;
  const bool overflows = __builtin_add_overflow(source.offset, reach.lowest, &first) ||
                         __builtin_add_overflow(source.offset, reach.highest, &last);
  if (overflows || first < 0 || last >= static_cast<int64_t>(available))
    fail(OF_SHAPE_ERROR, "shape %s with strides %s from offset %ld does not fit into memory of %lu elements",
         to_text(layout.sizes).c_str(), to_text(layout.strides).c_str(), source.offset, available);
  layout.offset = source.offset;
  return layout;
}

TensorRef copy_source(const of_tensor_source& source, const Layout& layout) {
  TensorRef tensor = Tensor::allocate(layout.sizes, source.dtype, source.device);
  if (tensor->count() == 0) return tensor;
  const int64_t width = dtype_size(source.dtype);
  const char* first = static_cast<const char*>(source.data) + layout.offset * width;
  if (is_contiguous(layout.sizes, layout.strides)) {
    copy_from_host(source.device, tensor->mutable_data(), first, tensor->bytes());
    return tensor;
  }
  write_on_host(*tensor, [&](void* memory) {
    copy_strided(memory, tensor->strides(), first, layout.strides, layout.sizes, width);
  });
  return tensor;
}

}  // namespace

TensorRef create_tensor(const of_tensor_source& source) {
  const Layout layout = check_source(source);
  if (!source.deleter) return copy_source(source, layout);
  if (reinterpret_cast<uintptr_t>(source.data) % dtype_size(source.dtype) != 0)
    fail(OF_INVALID_ARGUMENT, "memory that is shared must be aligned to its elements of %ld bytes",
         dtype_size(source.dtype));

  // The result takes ownership of the memory only after the last step that can fail.
  Ref<Buffer> buffer = Buffer::adopt(source.device, source.data, source.bytes, source.read_only);
  Buffer* owner = buffer.get();
  TensorRef tensor =
      Tensor::over(Storage::create(std::move(buffer)), source.dtype, layout.sizes, layout.strides, layout.offset);
  owner->set_deleter(source.deleter, source.deleter_context);
  return tensor;
}

TensorRef scalar_tensor(const of_scalar& value, of_dtype dtype, of_device device) {
  TensorRef tensor = Tensor::allocate({}, dtype, device);
  uint64_t parts[2] = {};  // large enough for complex128; the imaginary part of a complex element stays 0
  write_element(parts, part_dtype(dtype), value);
  copy_from_host(device, tensor->mutable_data(), parts, dtype_size(dtype));
  return tensor;
}

TensorRef lazy_clone(const Tensor& tensor) {
  if (!tensor.has_memory()) return Tensor::without_memory(tensor.sizes(), tensor.dtype(), tensor.device());
  return share_lazily(tensor, tensor.dtype(), tensor.sizes(), tensor.strides(), tensor.offset());
}

TensorRef share_lazily(const Tensor& tensor, of_dtype dtype, Sizes sizes, Sizes strides, int64_t offset) {
  const auto bytes = static_cast<uint64_t>(count_bytes(sizes, dtype));
  if (bytes < tensor.storage()->bytes() / 2) return {};
  Ref<Storage> clone = tensor.storage()->lazy_clone();
  return clone ? Tensor::over(std::move(clone), dtype, sizes, strides, offset) : TensorRef();
}

}  // namespace oneflow
