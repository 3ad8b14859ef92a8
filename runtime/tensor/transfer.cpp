#include "tensor/transfer.h"

#include <cstring>
#include <memory>

#include "base/dtype_visit.h"
#include "base/error.h"
#include "base/scalar.h"
#include "device/copy.h"
#include "device/device.h"
#include "tensor/copy_strided.h"
#include "tensor/host_elements.h"

namespace oneflow {

void read_elements(const Tensor& tensor, void* destination) {
  if (tensor.is_contiguous()) {
    copy_to_host(destination, tensor.device(), tensor.data(), tensor.bytes());
    return;
  }
  const HostElements elements(tensor);
  copy_strided(destination, contiguous_strides(tensor.sizes()), elements.first(), tensor.strides(), tensor.sizes(),
               tensor.element_bytes());
}

void write_elements(const Tensor& tensor, const void* source) {
  if (tensor.count() == 0) return;
  auto* data = static_cast<char*>(tensor.mutable_data());
  if (tensor.is_contiguous()) {
    copy_from_host(tensor.device(), data, source, tensor.bytes());
    return;
  }
  Device& device = get_device(tensor.device());
  const Shape source_strides = contiguous_strides(tensor.sizes());
  if (device.host_accessible()) {
    device.synchronize();
    copy_strided(data, tensor.strides(), source, source_strides, tensor.sizes(), tensor.element_bytes());
    return;
  }
  // Elements between those of the tensor keep their values: the whole range goes to the host and back.
  const Extent reach = extent(tensor.sizes(), tensor.strides());
  const int64_t bytes = (reach.highest - reach.lowest + 1) * tensor.element_bytes();
  const int64_t before = -reach.lowest * tensor.element_bytes();
  const auto range = std::make_unique_for_overwrite<char[]>(bytes);
  copy_to_host(range.get(), tensor.device(), data - before, bytes);
  copy_strided(range.get() + before, tensor.strides(), source, source_strides, tensor.sizes(), tensor.element_bytes());
  copy_from_host(tensor.device(), data - before, range.get(), bytes);
}

TensorRef copy_to_device(const Tensor& tensor, of_device device) {
  TensorRef result = Tensor::allocate(tensor.sizes(), tensor.dtype(), device);
  void* destination = result->mutable_data();
  if (tensor.is_contiguous()) {
    copy_bytes(device, destination, tensor.device(), tensor.data(), tensor.bytes());
  } else if (get_device(device).host_accessible()) {
    get_device(device).synchronize();
    read_elements(tensor, destination);
  } else {
    const auto elements = std::make_unique_for_overwrite<char[]>(tensor.bytes());
    read_elements(tensor, elements.get());
    copy_from_host(device, destination, elements.get(), tensor.bytes());
  }
  return result;
}

of_scalar item(const Tensor& tensor) {
  if (tensor.count() != 1)
    fail(OF_INVALID_ARGUMENT, "input must have exactly one element, got shape %s", to_text(tensor.sizes()).c_str());
  uint64_t element = 0;
  copy_to_host(&element, tensor.device(), tensor.data(), tensor.element_bytes());
  return read_element(&element, tensor.dtype());
}

std::vector<int64_t> read_integers(const Tensor& tensor) {
  if (is_floating(tensor.dtype()))
    fail(OF_DTYPE_ERROR, "expected a tensor of integers, got %s", dtype_name(tensor.dtype()));
  const int64_t width = tensor.element_bytes();
  const auto elements = std::make_unique_for_overwrite<char[]>(tensor.bytes());
  read_elements(tensor, elements.get());
  std::vector<int64_t> values(tensor.count());
  for (int64_t i = 0; i < tensor.count(); ++i)
    values[i] = to_int64(read_element(elements.get() + i * width, tensor.dtype()));
  return values;
}

namespace {

// A tensor's elements on the host, row-major.
class RowMajor {
 public:
  explicit RowMajor(const Tensor& tensor) {
    if (tensor.is_contiguous() && get_device(tensor.device()).host_accessible()) {
      get_device(tensor.device()).synchronize();
      data_ = tensor.data();
    } else {
      copy_ = std::make_unique_for_overwrite<char[]>(tensor.bytes());
      read_elements(tensor, copy_.get());
      data_ = copy_.get();
    }
  }
  const void* data() const { return data_; }

 private:
  std::unique_ptr<char[]> copy_;
  const void* data_;
};

template <class T>
bool equal_elements(const T* a, const T* b, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
      if (to_float(a[i]) != to_float(b[i])) return false;
    } else {
      if (a[i] != b[i]) return false;
    }
  }
  return true;
}

}  // namespace

bool equal(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.sizes() != b.sizes()) return false;
  const RowMajor left(a), right(b);
  if (!is_floating(a.dtype())) return a.count() == 0 || std::memcmp(left.data(), right.data(), a.bytes()) == 0;
  return visit_dtype(a.dtype(), [&](auto type) {
    using T = typename decltype(type)::type;
    return equal_elements(static_cast<const T*>(left.data()), static_cast<const T*>(right.data()), a.count());
  });
}

}  // namespace oneflow
