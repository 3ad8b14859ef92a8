/* Types shared by the C API (oneflow.h) and the device plugin table (device_plugin.h).
 *
 * Everything here is plain C with a fixed layout: it crosses shared-library boundaries. New enumerators are only
 * ever appended.
 */
#ifndef ONEFLOW_TYPES_H_
#define ONEFLOW_TYPES_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The largest number of dimensions that a tensor may have. */
#define OF_MAX_RANK 32

/* What a call came to. The text behind a failure is of_last_error(). */
typedef enum of_status {
  OF_OK = 0,
  OF_INVALID_ARGUMENT = 1,   /* a value outside of what the argument allows */
  OF_TYPE_MISMATCH = 2,      /* an argument of the wrong type, missing, or unknown */
  OF_SHAPE_ERROR = 3,        /* shapes that do not fit each other or the operator */
  OF_DTYPE_ERROR = 4,        /* an element type that the operator does not take */
  OF_INDEX_OUT_OF_RANGE = 5, /* a dimension or an element index that does not exist */
  OF_DEVICE_ERROR = 6,       /* a device that is missing, mixed up or dead */
  OF_OUT_OF_MEMORY = 7,
  OF_UNSUPPORTED = 8, /* a valid request that nothing here implements */
  OF_COMMUNICATION_ERROR = 9,
  OF_INTERNAL_ERROR = 10 /* a mistake of ours */
} of_status;

/* Element types. The numbers are part of the binary interface and of saved files. */
typedef enum of_dtype {
  OF_BOOL = 0,
  OF_UINT8 = 1,
  OF_INT8 = 2,
  OF_INT16 = 3,
  OF_INT32 = 4,
  OF_INT64 = 5,
  OF_UINT16 = 6,
  OF_UINT32 = 7,
  OF_UINT64 = 8,
  OF_FLOAT16 = 9,
  OF_BFLOAT16 = 10,
  OF_FLOAT32 = 11,
  OF_FLOAT64 = 12,
  OF_COMPLEX64 = 13, /* two float32: the real part, then the imaginary one */
  OF_COMPLEX128 = 14,
  OF_DTYPE_COUNT = 15
} of_dtype;

/* A device: the interned number of its type (assigned at run time, see of_device_parse) and its index.
 * Zero is the first device of the first type that was registered, which is the built-in one. */
typedef struct of_device {
  int16_t type;
  int16_t index;
} of_device;

/* One number outside of any tensor, in the widest type of its category. */
typedef enum of_scalar_kind {
  OF_SCALAR_BOOL = 0,
  OF_SCALAR_INT = 1,
  OF_SCALAR_FLOAT = 2,
  OF_SCALAR_UINT = 3
} of_scalar_kind;

typedef struct of_scalar {
  of_scalar_kind kind;
  union {
    int64_t integer;  /* BOOL (0 or 1) and INT */
    uint64_t natural; /* UINT: values of uint64 above the range of int64 */
    double real;      /* FLOAT */
  } as;
} of_scalar;

/* A reference-counted tensor. */
typedef struct of_tensor_object* of_tensor;

/* What an of_value holds. ABSENT is zero: an array of values that is set to zero means "the default, everywhere". */
typedef enum of_value_kind {
  OF_VALUE_ABSENT = 0, /* an argument: take the default; a result: allocate it */
  OF_VALUE_NONE = 1,
  OF_VALUE_BOOL = 2,
  OF_VALUE_INT = 3,
  OF_VALUE_FLOAT = 4,
  OF_VALUE_STRING = 5, /* UTF-8, `count` bytes, not necessarily terminated */
  OF_VALUE_INT_LIST = 6,
  OF_VALUE_DTYPE = 7,
  OF_VALUE_DEVICE = 8,
  OF_VALUE_TENSOR = 9,
  OF_VALUE_TENSOR_LIST = 10, /* as an argument, members may be NULL where the signature says Tensor?[] */
  OF_VALUE_DEVICE_LIST = 11
} of_value_kind;

/* One argument or one result of an operator: 16 bytes, borrowed memory for arguments. */
typedef struct of_value {
  int32_t kind;  /* an of_value_kind */
  int32_t count; /* elements of a list, bytes of a string */
  union {
    bool boolean;
    int64_t integer;
    double real;
    const char* string;
    const int64_t* integers;
    of_dtype dtype;
    of_device device;
    of_tensor tensor;
    of_tensor* tensors;
    const of_device* devices;
  } as;
} of_value;

#ifdef __cplusplus
}
#endif

#endif /* ONEFLOW_TYPES_H_ */
