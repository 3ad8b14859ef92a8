// The structs of DLPack 1.0, an interface by which array libraries share memory within a process.
#ifndef ONEFLOW_CAPI_DLPACK_H_
#define ONEFLOW_CAPI_DLPACK_H_

#include <stdint.h>

extern "C" {

enum : int32_t { kDLCPU = 1 };  // DLDevice::device_type
// DLDataType::code
enum : uint8_t { kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLBfloat = 4, kDLComplex = 5, kDLBool = 6 };

struct DLDevice {
  int32_t device_type;
  int32_t device_id;
};

struct DLDataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;  // the length of a vector type; 1 for scalars
};

struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements; null: contiguous, row-major
  uint64_t byte_offset;
};

struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor* self);  // called once by the consumer; may be null
};

enum : uint64_t { kDLReadOnly = 1, kDLIsCopied = 2 };  // DLManagedTensorVersioned::flags

// The fields up to `flags` are the same in all versions.
struct DLManagedTensorVersioned {
  struct {
    uint32_t major, minor;
  } version;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned* self);
  uint64_t flags;
  DLTensor dl_tensor;
};

}  // extern "C"

#endif  // ONEFLOW_CAPI_DLPACK_H_
