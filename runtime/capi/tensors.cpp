// The C API: creates, reads and describes tensors.
#include <cstdlib>
#include <memory>

#include "base/scalar.h"
#include "capi/boundary.h"
#include "device/device.h"
#include "dispatch/dispatch.h"
#include "dispatch/thread_context.h"
#include "tensor/complex.h"
#include "tensor/create.h"
#include "tensor/format.h"
#include "tensor/transfer.h"

using namespace oneflow;

namespace {

constinit const OperatorName kClone("clone");
constinit const OperatorName kLazyClone("lazy_clone");
constinit const OperatorName kToDevice("to_device");

// Throws DeviceError unless the host can access the tensor's memory.
void require_host_memory(const Tensor& tensor, const char* function) {
  if (!get_device(tensor.device()).host_accessible())
    fail(OF_DEVICE_ERROR, "%s: the host cannot reach memory on %s; copy the tensor first", function,
         device_name(tensor.device()).c_str());
}

}  // namespace

of_status of_tensor_create(const of_tensor_source* source, of_tensor* result) {
  return guard([&, function = __func__] {
    const of_tensor_source copy = read_struct(source, function, "source");
    require(result, function, "result");
    *result = to_handle(named("tensor", [&] { return create_tensor(copy); }).detach());
  });
}

namespace {

// What of_tensor_defer() was given, and the state of its thread.
struct DeferredTensor {
  Shape sizes;
  of_dtype dtype;
  of_device device;
  of_make make;
  of_deleter destroy;
  void* context;
  ThreadContext thread;

  // Calls the caller's function, and returns memory with the elements in row-major order.
  Ref<Buffer> buffer() const {
    const KeptThreadContext kept;
    thread.apply();
    of_tensor handle = nullptr;
    if (const of_status status = make(context, &handle); status != OF_OK)
      throw Error(status, last_error(), last_error_is_complete());
    const TensorRef made = TensorRef::adopt(to_tensor(handle));
    if (!made || !made->has_memory() || made->dtype() != dtype || !(made->device() == device) ||
        !same_sizes(made->sizes(), sizes))
      fail(OF_INVALID_ARGUMENT,
           "the function that computes a deferred tensor must give one of type %s, shape %s, on %s", dtype_name(dtype),
           to_text(sizes).c_str(), device_name(device).c_str());
    const bool fits = made->is_contiguous() && made->offset() == 0;
    const TensorRef shared = fits ? lazy_clone(*made) : TensorRef();
    const TensorRef own = shared ? shared : call_operator(kClone, *made);
    return Ref<Buffer>::share(&own->storage()->buffer());
  }
};

}  // namespace

of_status of_tensor_defer(int32_t rank, const int64_t* sizes, of_dtype dtype, of_device device, of_make make,
                          of_deleter destroy, void* context, of_tensor* result) {
  return guard([&, function = __func__] {
    named(function, [&] {
      if (rank < 0 || rank > OF_MAX_RANK)
        fail(OF_SHAPE_ERROR, "the rank must be between 0 and %d, got %d", OF_MAX_RANK, rank);
      if (!is_valid(dtype)) fail(OF_DTYPE_ERROR, "there is no dtype number %d", dtype);
      get_device(device);
    });
    if (rank > 0) require(sizes, function, "sizes");
    require(reinterpret_cast<const void*>(make), function, "make");
    require(result, function, "result");
    auto deferred = std::make_unique<DeferredTensor>();
    deferred->sizes.assign({sizes, static_cast<size_t>(rank)});
    deferred->dtype = dtype;
    deferred->device = device;
    deferred->make = make;
    deferred->context = context;
    deferred->thread = ThreadContext::current();
    Recipe recipe{};
    recipe.make = [](void* own) { return static_cast<const DeferredTensor*>(own)->buffer(); };
    recipe.destroy = [](void* own) {
      const std::unique_ptr<DeferredTensor> deferred(static_cast<DeferredTensor*>(own));
      if (deferred->destroy) deferred->destroy(deferred->context);
    };
    recipe.context = deferred.get();
    TensorRef tensor = named(function, [&] { return Tensor::defer(deferred->sizes, dtype, device, recipe); });
    deferred.release()->destroy = destroy;
    *result = to_handle(tensor.detach());
  });
}

of_status of_tensor_get_info(of_tensor handle, of_tensor_info* info) {
  return guard([&, function = __func__] {
    const Tensor& tensor = require_tensor(handle, function);
    of_tensor_info result{};
    result.dtype = tensor.dtype();
    result.device = tensor.device();
    result.rank = tensor.rank();
    result.sizes = tensor.sizes().data();
    result.strides = tensor.strides().data();
    result.offset = tensor.offset();
    result.count = tensor.count();
    result.is_contiguous = tensor.is_contiguous();
    result.is_view = tensor.is_view();
    if (tensor.has_memory()) {
      const Storage& storage = *tensor.storage();
      result.storage_bytes = storage.bytes();
      result.version = storage.version();
      result.storage = &storage;
      if (const Buffer* buffer = storage.present_buffer()) {
        result.is_foreign = buffer->is_foreign();
        result.is_pinned = buffer->is_page_locked();
      }
    }
    write_struct(info, result, function, "info");
  });
}

of_dtype of_tensor_dtype(of_tensor tensor) { return tensor ? to_tensor(tensor)->dtype() : OF_DTYPE_NONE; }

int32_t of_tensor_rank(of_tensor tensor) { return tensor ? to_tensor(tensor)->rank() : 0; }

const int64_t* of_tensor_sizes(of_tensor tensor) { return tensor ? to_tensor(tensor)->sizes().data() : nullptr; }

const int64_t* of_tensor_strides(of_tensor tensor) { return tensor ? to_tensor(tensor)->strides().data() : nullptr; }

int64_t of_tensor_count(of_tensor tensor) { return tensor ? to_tensor(tensor)->count() : 0; }

int64_t of_tensor_work(of_tensor handle) {
  if (!handle) return 0;
  const Tensor& tensor = *to_tensor(handle);
  const Device* device = quick_device(tensor.device());
  if ((device ? *device : known_device(tensor.device())).waits()) return INT64_MAX;
  return tensor.has_memory() && tensor.storage()->buffer().is_copied_behind_host() ? INT64_MAX : tensor.count();
}

uint64_t of_tensor_memory(of_tensor handle) {
  if (!handle) return 0;
  const Tensor& tensor = *to_tensor(handle);
  if (!tensor.has_memory() || tensor.is_view()) return 0;
  const Buffer* buffer = tensor.storage()->present_buffer();
  return buffer && buffer->is_foreign() ? 0 : tensor.storage()->bytes();
}

of_tensor of_tensor_retain(of_tensor tensor) {
  if (tensor) to_tensor(tensor)->retain();
  return tensor;
}

void of_tensor_release(of_tensor tensor) {
  if (tensor) to_tensor(tensor)->release();
}

of_status of_tensor_data(of_tensor handle, const void** data) {
  return guard([&, function = __func__] {
    const Tensor& tensor = require_tensor(handle, function);
    require(data, function, "data");
    require_host_memory(tensor, function);
    named(function, [&] { readable(tensor, "data"); });  // layers may refuse, but the address is that of the tensor
    const void* address = tensor.data();
    tensor.storage()->buffer().hand_out();
    get_device(tensor.device()).current().synchronize();
    *data = address;
  });
}

of_status of_tensor_mutable_data(of_tensor handle, void** data) {
  return guard([&, function = __func__] {
    const Tensor& tensor = require_tensor(handle, function);
    require(data, function, "data");
    require_host_memory(tensor, function);
    if (!tensor.has_memory()) readable(tensor, "data");  // layers may say why
    void* address = tensor.exposed_data();
    get_device(tensor.device()).current().synchronize();
    *data = address;
  });
}

of_status of_tensor_read(of_tensor handle, void* destination, uint64_t bytes) {
  return guard([&, function = __func__] {
    const Tensor& tensor = require_tensor(handle, function);
    if (bytes != static_cast<uint64_t>(tensor.bytes()))
      fail(OF_INVALID_ARGUMENT, "%s: bytes must be %ld, the size of all elements, got %lu", function, tensor.bytes(),
           bytes);
    if (bytes == 0) return;
    require(destination, function, "destination");
    named("read", [&] { read_elements(*readable(tensor, "read"), destination); });
  });
}

of_status of_tensor_item(of_tensor handle, of_scalar* result) {
  return guard([&, function = __func__] {
    const Tensor& tensor = require_tensor(handle, function);
    require(result, function, "item");
    *result = named("item", [&] { return item(*readable(tensor, "item")); });
  });
}

of_status of_tensor_complex_item(of_tensor handle, double* real, double* imaginary) {
  return guard([&, function = __func__] {
    const Tensor& tensor = require_tensor(handle, function);
    require(real, function, "real");
    require(imaginary, function, "imaginary");
    named("item", [&] {
      const TensorRef seen = readable(tensor, "item");
      const bool has_parts = is_complex(seen->dtype());
      *real = to_double(item(has_parts ? *part_of(*seen, 0) : *seen));
      *imaginary = has_parts ? to_double(item(*part_of(*seen, 1))) : 0;
    });
  });
}

of_status of_tensor_set_extension(of_tensor handle, of_layer layer, void* data, of_deleter destroy) {
  return guard([&, function = __func__] {
    const Tensor& tensor = require_tensor(handle, function);
    named(function, [&] { tensor.extensions().add(layer, data, destroy); });
  });
}

void* of_tensor_get_extension(of_tensor tensor, of_layer layer) {
  return tensor ? to_tensor(tensor)->extensions().find(layer) : nullptr;
}

of_status of_tensor_lazy_clone(of_tensor handle, of_tensor* result) {
  return guard([&, function = __func__] {
    const Tensor& tensor = require_tensor(handle, function);
    require(result, function, "result");
    *result = to_handle(call_operator(kLazyClone, tensor).detach());
  });
}

of_status of_tensor_to_device(of_tensor handle, of_device device, of_tensor* result) {
  return guard([&, function = __func__] {
    const Tensor& tensor = require_tensor(handle, function);
    require(result, function, "result");
    *result = to_handle(call_operator(kToDevice, tensor, device).detach());
  });
}

of_status of_tensor_equal(of_tensor a, of_tensor b, bool* result) {
  return guard([&, function = __func__] {
    const Tensor& left = require_tensor(a, function, "a");
    const Tensor& right = require_tensor(b, function, "b");
    require(result, function, "equal");
    *result = named("equal", [&] { return equal(*readable(left, "equal"), *readable(right, "equal")); });
  });
}

of_status of_tensor_format(of_tensor handle, const of_format_options* options, char** text) {
  return guard([&, function = __func__] {
    const Tensor& tensor = require_tensor(handle, function);
    require(text, function, "text");
    FormatOptions chosen;
    if (options) {
      const of_format_options given = read_struct(options, function, "options");
      chosen = {given.precision, given.threshold, given.edge_items, given.line_width, given.indent};
    }
    const std::string formatted = named("format", [&] { return format_tensor(*readable(tensor, "format"), chosen); });
    char* copy = static_cast<char*>(std::malloc(formatted.size() + 1));
    if (!copy) throw std::bad_alloc();
    std::memcpy(copy, formatted.c_str(), formatted.size() + 1);
    *text = copy;
  });
}
