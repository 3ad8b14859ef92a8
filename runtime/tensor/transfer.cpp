#include "tensor/transfer.h"

#include <cstring>
#include <memory>

#include "base/dtype_visit.h"
#include "base/error.h"
#include "base/scalar.h"
#include "device/copy.h"
#include "device/device.h"
#include "device/work_observer.h"
#include "tensor/complex.h"
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

namespace {

// Returns whether the host need not wait for a copy between page-locked memory of the host and a device.
bool copies_behind_host(const Tensor& host, const Tensor& other) {
  const of_device_table& table = get_device(other.device()).table();
  return host.has_memory() && host.storage()->buffer().may_copy_behind_host() && table.create_event &&
         !table.host_accessible;
}

// Submits such a copy. `copy` is the hook.
template <class Copy>
void submit_copy(const Tensor& host, Device& device, bool writes_host, Copy copy) {
  Stream& stream = device.current();
  const Buffer& buffer = host.storage()->buffer();
  char* at = static_cast<char*>(buffer.data_for_copy(stream)) + host.offset() * host.element_bytes();
  Event end(device);
  check(copy(at, stream.handle()));
  note_other_work();
  try {
    end.record(stream);
    buffer.note_copy(stream, std::move(end), writes_host);
  } catch (...) {
    stream.wait_and_keep_failure();
    throw;
  }
}

}  // namespace

void copy_contiguous(const Tensor& target, const Tensor& source) {
  const auto bytes = static_cast<uint64_t>(source.bytes());
  if (bytes == 0) return;
  Device &to = get_device(target.device()), &from = get_device(source.device());
  if (copies_behind_host(source, target)) {
    void* destination = target.mutable_data();
    submit_copy(source, to, false, [&](const void* at, of_device_stream stream) {
      return to.table().copy_from_host(to.id(), destination, at, bytes, stream);
    });
  } else if (copies_behind_host(target, source)) {
    target.storage()->prepare_write();
    const void* origin = source.data();
    submit_copy(target, from, true, [&](void* at, of_device_stream stream) {
      return from.table().copy_to_host(from.id(), at, origin, bytes, stream);
    });
  } else {
    copy_bytes(to.id(), target.mutable_data(), from.id(), source.data(), bytes);
  }
}

TensorRef copy_to_device(const Tensor& tensor, of_device device) {
  TensorRef result = Tensor::allocate(tensor.sizes(), tensor.dtype(), device);
  if (tensor.is_contiguous())
    copy_contiguous(*result, tensor);
  else
    write_on_host(*result, [&](void* memory) { read_elements(tensor, memory); });
  return result;
}

TensorRef copy_page_locked(const Tensor& tensor, Device* device) {
  const auto offers = [](Device& candidate) { return !candidate.lost() && candidate.host_allocator(); };
  if (!device) {
    for (const of_device id : all_devices())
      if (!device && offers(known_device(id))) device = &known_device(id);
  }
  Allocator* allocator = device ? device->host_allocator() : nullptr;
  if (!allocator) return copy_to_device(tensor, tensor.device());
  const Ref<Buffer> buffer = Buffer::allocate(tensor.device(), *allocator, tensor.bytes());
  read_elements(tensor, buffer->data());
  return Tensor::over(Storage::create(buffer), tensor.dtype(), tensor.sizes(), contiguous_strides(tensor.sizes()), 0);
}

of_scalar item(const Tensor& tensor) {
  if (tensor.count() != 1)
    fail(OF_INVALID_ARGUMENT, "input must have exactly one element, got shape %s", to_text(tensor.sizes()).c_str());
  if (is_complex(tensor.dtype()))
    fail(OF_DTYPE_ERROR, "input must be a real tensor, got %s; it has two parts", dtype_name(tensor.dtype()));
  uint64_t element = 0;
  copy_to_host(&element, tensor.device(), tensor.data(), tensor.element_bytes());
  return read_element(&element, tensor.dtype());
}

namespace {

// The elements of a tensor in row-major order in host memory: the tensor's own memory if possible, else a copy.
class RowMajor {
 public:
  explicit RowMajor(const Tensor& tensor) {
    note_other_work();
    if (tensor.is_contiguous() && get_device(tensor.device()).host_accessible()) {
      get_device(tensor.device()).current().synchronize();
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

// Compares value(element) for all pairs of elements.
template <class T, class Value>
bool equal_elements(const void* a, const void* b, int64_t count, Value value) {
  const auto *left = static_cast<const T*>(a), *right = static_cast<const T*>(b);
  for (int64_t i = 0; i < count; ++i)
    if (value(left[i]) != value(right[i])) return false;
  return true;
}

}  // namespace

bool equal(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.sizes() != b.sizes()) return false;
  if (a.count() == 0) return true;
  if (is_complex(a.dtype())) return equal(*view_as_real(a), *view_as_real(b));
  const RowMajor left(a), right(b);
  if (a.dtype() == OF_BOOL)  // foreign memory may hold other bytes than 0 and 1
    return equal_elements<uint8_t>(left.data(), right.data(), a.count(), [](uint8_t byte) { return byte != 0; });
  if (!is_floating(a.dtype())) return std::memcmp(left.data(), right.data(), a.bytes()) == 0;
  return visit_dtype(a.dtype(), [&](auto type) {
    using T = typename decltype(type)::type;
    return equal_elements<T>(left.data(), right.data(), a.count(), [](T element) {
      if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>)
        return to_float(element);
      else
        return element;
    });
  });
}

}  // namespace oneflow
