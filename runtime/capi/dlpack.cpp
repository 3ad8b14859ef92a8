// The C API: exports and imports tensors with DLPack.
#include "capi/dlpack.h"

#include <algorithm>
#include <memory>

#include "capi/boundary.h"
#include "device/device.h"
#include "dispatch/dispatch.h"
#include "tensor/create.h"
#include "tensor/transfer.h"

using namespace oneflow;

namespace {

DLDataType to_dlpack(of_dtype dtype) {
  uint8_t code = kDLFloat;
  if (dtype == OF_BOOL)
    code = kDLBool;
  else if (dtype == OF_BFLOAT16)
    code = kDLBfloat;
  else if (is_integral(dtype))
    code = kDTypes[dtype].is_signed ? kDLInt : kDLUInt;
  else if (is_complex(dtype))
    code = kDLComplex;
  return {code, static_cast<uint8_t>(dtype_size(dtype) * 8), 1};
}

of_dtype from_dlpack(DLDataType type) {
  for (int i = 0; i < OF_DTYPE_COUNT; ++i) {
    const auto dtype = static_cast<of_dtype>(i);
    const DLDataType candidate = to_dlpack(dtype);
    if (candidate.code == type.code && candidate.bits == type.bits && type.lanes == 1) return dtype;
  }
  fail(OF_DTYPE_ERROR, "there is no dtype for DLPack type code %d with %d bits and %d lanes", type.code, type.bits,
       type.lanes);
}

// Returns the first device whose memory the host can access, which is DLPack's device type CPU.
of_device host_device() {
  for (const of_device id : devices_in_use())
    if (get_device(id).host_accessible()) return id;
  fail(OF_DEVICE_ERROR, "there is no device with host memory");
}

// The exported struct, together with the reference that keeps its memory alive.
template <typename Managed>
struct Export {
  Managed managed{};
  TensorRef tensor;
};

// Sets the fields that only the versioned struct has.
void set_version(DLManagedTensor&, bool) {}
void set_version(DLManagedTensorVersioned& managed, bool is_copied) {
  managed.version = {1, 0};
  managed.flags = is_copied ? uint64_t{kDLIsCopied} : 0;
}

template <typename Managed>
Managed* export_tensor(TensorRef tensor) {
  Device& device = get_device(tensor->device());
  if (!device.host_accessible())
    fail(OF_UNSUPPORTED, "memory on %s cannot be exported; copy the tensor to the host first",
         device_name(device.id()).c_str());
  const Shape& strides = tensor->strides();
  const bool is_copied = std::any_of(strides.begin(), strides.end(), [](int64_t stride) { return stride < 0; });
  if (is_copied) tensor = copy_to_device(*tensor, tensor->device());

  auto exported = std::make_unique<Export<Managed>>();
  set_version(exported->managed, is_copied);
  DLTensor& out = exported->managed.dl_tensor;
  out.data = tensor->exposed_data();  // the consumer may write, so memory shared with lazy clones is copied first
  out.device = {kDLCPU, 0};
  out.ndim = tensor->rank();
  out.dtype = to_dlpack(tensor->dtype());
  out.shape = const_cast<int64_t*>(tensor->sizes().data());
  out.strides = const_cast<int64_t*>(tensor->strides().data());
  out.byte_offset = 0;
  device.synchronize();
  exported->managed.manager_ctx = exported.get();
  exported->managed.deleter = [](Managed* managed) { delete static_cast<Export<Managed>*>(managed->manager_ctx); };
  exported->tensor = std::move(tensor);
  return &exported.release()->managed;
}

template <typename Managed>
void delete_import(void* context) {
  auto* managed = static_cast<Managed*>(context);
  if (managed->deleter) managed->deleter(managed);
}

// Returns whether the consumer must not write the memory. Throws Unsupported for an unknown major version.
bool is_read_only(const DLManagedTensor&) { return false; }
bool is_read_only(const DLManagedTensorVersioned& managed) {
  if (managed.version.major != 1) fail(OF_UNSUPPORTED, "the DLPack version must be 1, got %u", managed.version.major);
  return (managed.flags & kDLReadOnly) != 0;
}

template <typename Managed>
TensorRef import_tensor(Managed* managed) {
  const bool read_only = is_read_only(*managed);  // first, because it checks the version of the struct
  const DLTensor& given = managed->dl_tensor;
  if (given.device.device_type != kDLCPU)
    fail(OF_UNSUPPORTED, "the DLPack device type must be %d, host memory, got %d", kDLCPU, given.device.device_type);
  if (given.ndim < 0 || given.ndim > OF_MAX_RANK)
    fail(OF_SHAPE_ERROR, "the rank must be between 0 and %d, got %d", OF_MAX_RANK, given.ndim);
  if (given.ndim > 0 && !given.shape) fail(OF_INVALID_ARGUMENT, "shape must not be NULL");
  const of_dtype dtype = from_dlpack(given.dtype);
  const Sizes sizes(given.shape, static_cast<size_t>(given.ndim));
  count_bytes(sizes, dtype);
  const Shape strides = given.strides ? Shape(Sizes(given.strides, sizes.size())) : contiguous_strides(sizes);

  // DLPack does not give the size of the memory, so the memory is assumed to be what the strides span.
  const Span span = span_of(sizes, strides, dtype);
  if (!given.data && span.bytes > 0) fail(OF_INVALID_ARGUMENT, "data must not be NULL");
  of_tensor_source source{};
  source.dtype = dtype;
  source.device = host_device();
  source.rank = given.ndim;
  source.sizes = sizes.data();
  source.strides = strides.data();
  source.offset = span.before / dtype_size(dtype);
  source.bytes = static_cast<uint64_t>(span.bytes);
  const uintptr_t first = reinterpret_cast<uintptr_t>(given.data) + given.byte_offset;
  source.data = reinterpret_cast<void*>(first - static_cast<uintptr_t>(span.before));
  source.read_only = read_only;
  const bool is_aligned = first % static_cast<uintptr_t>(dtype_size(dtype)) == 0;
  if (is_aligned) {
    source.deleter = delete_import<Managed>;
    source.deleter_context = managed;
  }
  TensorRef tensor = create_tensor(source);
  if (!is_aligned) delete_import<Managed>(managed);  // the elements were copied, because kernels require alignment
  return tensor;
}

// Implements of_tensor_to_dlpack() and its versioned form.
template <typename Managed>
of_status export_to(of_tensor handle, Managed** managed, const char* function) {
  return guard([&] {
    Tensor& tensor = require_tensor(handle, function);
    require(managed, function, "managed");
    *managed = named("to_dlpack", [&] {
      readable(tensor, "to_dlpack");  // layers may refuse, but the memory is that of the tensor
      return export_tensor<Managed>(TensorRef::share(&tensor));
    });
  });
}

// Implements of_tensor_from_dlpack() and its versioned form.
template <typename Managed>
of_status import_from(Managed* managed, of_tensor* result, const char* function) {
  return guard([&] {
    require(managed, function, "managed");
    try {
      require(result, function, "result");
      *result = to_handle(named("from_dlpack", [&] { return import_tensor(managed); }).detach());
    } catch (...) {
      delete_import<Managed>(managed);
      throw;
    }
  });
}

}  // namespace

of_status of_tensor_to_dlpack(of_tensor tensor, DLManagedTensor** managed) {
  return export_to(tensor, managed, __func__);
}

of_status of_tensor_to_dlpack_versioned(of_tensor tensor, DLManagedTensorVersioned** managed) {
  return export_to(tensor, managed, __func__);
}

of_status of_tensor_from_dlpack(DLManagedTensor* managed, of_tensor* result) {
  return import_from(managed, result, __func__);
}

of_status of_tensor_from_dlpack_versioned(DLManagedTensorVersioned* managed, of_tensor* result) {
  return import_from(managed, result, __func__);
}
