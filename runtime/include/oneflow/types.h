/* The types that the C API (oneflow.h) and the interface of device plugins (device_plugin.h) share.
 *
 * They are plain C types with a fixed layout, because they cross the boundaries of shared libraries. The numbers of
 * enumerators never change. A struct that a program or a plugin passes begins with `struct_size`, so that later
 * versions can append fields. The exceptions never grow: small values (of_device, of_stream, of_event, of_scalar,
 * of_value, of_shape) and elements of arrays (of_kernel_tensor, of_contraction_dim, of_argument_info, of_index).
 */
#ifndef ONEFLOW_TYPES_H_
#define ONEFLOW_TYPES_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The maximum number of dimensions of a tensor. */
#define OF_MAX_RANK 32

/* The outcome of a call. of_last_error() returns the text of a failure. */
typedef enum of_status {
  OF_OK = 0,                  /* success */
  OF_INVALID_ARGUMENT = 1,    /* an argument has an invalid value */
  OF_TYPE_MISMATCH = 2,       /* an argument has the wrong type, is missing, or does not exist */
  OF_SHAPE_ERROR = 3,         /* the shapes do not match each other or the operator */
  OF_DTYPE_ERROR = 4,         /* the operator does not accept the dtype */
  OF_INDEX_OUT_OF_RANGE = 5,  /* a dimension or an index of an element does not exist */
  OF_DEVICE_ERROR = 6,        /* a device is missing, wrong, lost, or reports an error */
  OF_OUT_OF_MEMORY = 7,       /* the host or a device has not enough memory */
  OF_UNSUPPORTED = 8,         /* the request is valid, but not implemented */
  OF_COMMUNICATION_ERROR = 9, /* the communication between processes failed */
  OF_INTERNAL_ERROR = 10,     /* a bug in oneflow */
  OF_FILE_ERROR = 11,         /* the system cannot read or write a file */
  OF_INTERRUPTED = 12         /* the front end asked to end the work early: of_set_interrupt_check() */
} of_status;

/* The dtype: the type of a tensor's elements. The numbers are part of the binary interface and of saved files. */
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
  OF_COMPLEX64 = 13,   /* two float32: the real part, then the imaginary part */
  OF_COMPLEX128 = 14,  /* two float64: the real part, then the imaginary part */
  OF_DTYPE_COUNT = 15, /* the number of dtypes, which is not a dtype */
  OF_DTYPE_NONE = -1   /* no dtype, where a function or a field may have none */
} of_dtype;

/* A device. Its name, such as "cpu:0", is converted by of_device_parse() and of_device_name(). All zero is the first
 * device of the built-in type. */
typedef struct of_device {
  int16_t type;  /* the number of the device type, which the runtime assigns in each process */
  int16_t index; /* among the devices of this type, from 0 */
} of_device;

/* A stream: a queue of work of a device, which runs in the order of submission. Its number is never used again. 0 is
 * the default stream where a device is known. */
typedef struct of_stream {
  uint64_t id;
} of_stream;

/* An event: a point in a stream, for which other streams and the host can wait. Its number is never used again. */
typedef struct of_event {
  uint64_t id;
} of_event;

/* The kind of a scalar. */
typedef enum of_scalar_kind {
  OF_SCALAR_BOOL = 0,
  OF_SCALAR_INT = 1,
  OF_SCALAR_FLOAT = 2,
  OF_SCALAR_UINT = 3
} of_scalar_kind;

/* A scalar: a number that is not an element of a tensor, in the widest type of its kind. */
typedef struct of_scalar {
  of_scalar_kind kind;
  union {
    int64_t integer;  /* BOOL (0 or 1) and INT */
    uint64_t natural; /* UINT: integers above the range of int64 */
    double real;      /* FLOAT */
  } as;
} of_scalar;

/* A handle to a reference-counted tensor; see of_tensor_retain() and of_tensor_release(). */
typedef struct of_tensor_object* of_tensor;

/* A handle to a reference-counted generator of random numbers; see of_generator_create(). */
typedef struct of_generator_object* of_generator;

/* The kind of an of_value. ABSENT is 0, so that a zero-initialized array holds defaults only. */
typedef enum of_value_kind {
  OF_VALUE_ABSENT = 0, /* for an argument: its default; for a result: to be allocated */
  OF_VALUE_NONE = 1,   /* None, for arguments whose type ends in `?` */
  OF_VALUE_BOOL = 2,
  OF_VALUE_INT = 3,
  OF_VALUE_FLOAT = 4,
  OF_VALUE_STRING = 5,   /* UTF-8, `count` bytes; a terminating zero byte is not required */
  OF_VALUE_INT_LIST = 6, /* `count` integers */
  OF_VALUE_DTYPE = 7,
  OF_VALUE_DEVICE = 8,
  OF_VALUE_TENSOR = 9,
  OF_VALUE_TENSOR_LIST = 10, /* `count` tensors; NULL items only for arguments of type Tensor?[] */
  OF_VALUE_DEVICE_LIST = 11, /* `count` devices */
  OF_VALUE_UINT = 12,        /* an integer above the range of int64, for a number that is stored as an element */
  OF_VALUE_GENERATOR = 13
} of_value_kind;

/* An argument or a result of an operator: 16 bytes. An argument borrows the memory and the objects that it refers to. A
 * result that the runtime has allocated belongs to the caller; see of_value_release(). */
typedef struct of_value {
  int32_t kind;  /* an of_value_kind */
  int32_t count; /* the number of items of a list, or of bytes of a string; otherwise unused */
  union {
    bool boolean;
    int64_t integer;
    uint64_t natural;
    double real;
    const char* string;
    const int64_t* integers;
    of_dtype dtype;
    of_device device;
    of_tensor tensor;
    of_tensor* tensors;
    const of_device* devices;
    of_generator generator;
  } as;
} of_value;

#ifdef __cplusplus
}
#endif

#endif /* ONEFLOW_TYPES_H_ */
