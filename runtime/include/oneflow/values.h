/* of_value from plain C: what the generated functions of <oneflow/operators.h> are made of, and what their callers
 * need for arguments that may be a tensor or a number. */
#ifndef ONEFLOW_VALUES_H_
#define ONEFLOW_VALUES_H_

#include <oneflow/oneflow.h>
#include <string.h>

/* A count beyond int32 becomes one that every operator refuses. */
static inline of_value of_make_value(of_value_kind kind, size_t count) {
  of_value value;
  memset(&value, 0, sizeof value);
  value.kind = (int32_t)kind;
  value.count = count <= INT32_MAX ? (int32_t)count : -1;
  return value;
}

/* The argument's default. */
static inline of_value of_absent(void) { return of_make_value(OF_VALUE_ABSENT, 0); }

/* None, for arguments whose type ends in `?`. */
static inline of_value of_none(void) { return of_make_value(OF_VALUE_NONE, 0); }

/* NULL stands for None. */
static inline of_value of_tensor_value(of_tensor tensor) {
  of_value value = of_make_value(tensor ? OF_VALUE_TENSOR : OF_VALUE_NONE, 0);
  value.as.tensor = tensor;
  return value;
}

static inline of_value of_bool_value(bool boolean) {
  of_value value = of_make_value(OF_VALUE_BOOL, 0);
  value.as.boolean = boolean;
  return value;
}

static inline of_value of_int_value(int64_t integer) {
  of_value value = of_make_value(OF_VALUE_INT, 0);
  value.as.integer = integer;
  return value;
}

static inline of_value of_float_value(double real) {
  of_value value = of_make_value(OF_VALUE_FLOAT, 0);
  value.as.real = real;
  return value;
}

static inline of_value of_dtype_value(of_dtype dtype) {
  of_value value = of_make_value(OF_VALUE_DTYPE, 0);
  value.as.dtype = dtype;
  return value;
}

static inline of_value of_device_value(of_device device) {
  of_value value = of_make_value(OF_VALUE_DEVICE, 0);
  value.as.device = device;
  return value;
}

/* UTF-8, ended by a zero byte; NULL stands for None. */
static inline of_value of_string_value(const char* text) {
  of_value value = of_make_value(text ? OF_VALUE_STRING : OF_VALUE_NONE, text ? strlen(text) : 0);
  value.as.string = text;
  return value;
}

/* The list is borrowed. */
static inline of_value of_int_list_value(const int64_t* integers, size_t count) {
  of_value value = of_make_value(OF_VALUE_INT_LIST, count);
  value.as.integers = integers;
  return value;
}

/* The list is borrowed. */
static inline of_value of_tensor_list_value(const of_tensor* tensors, size_t count) {
  of_value value = of_make_value(OF_VALUE_TENSOR_LIST, count);
  value.as.tensors = (of_tensor*)tensors;
  return value;
}

/* The list is borrowed. */
static inline of_value of_device_list_value(const of_device* devices, size_t count) {
  of_value value = of_make_value(OF_VALUE_DEVICE_LIST, count);
  value.as.devices = devices;
  return value;
}

/* The same for arguments that may be None, which a NULL pointer stands for. */
static inline of_value of_optional_bool(const bool* boolean) { return boolean ? of_bool_value(*boolean) : of_none(); }
static inline of_value of_optional_int(const int64_t* integer) { return integer ? of_int_value(*integer) : of_none(); }
static inline of_value of_optional_float(const double* real) { return real ? of_float_value(*real) : of_none(); }
static inline of_value of_optional_dtype(const of_dtype* dtype) { return dtype ? of_dtype_value(*dtype) : of_none(); }
static inline of_value of_optional_device(const of_device* device) {
  return device ? of_device_value(*device) : of_none();
}
static inline of_value of_optional_int_list(const int64_t* integers, size_t count) {
  return integers ? of_int_list_value(integers, count) : of_none();
}
static inline of_value of_optional_device_list(const of_device* devices, size_t count) {
  return devices ? of_device_list_value(devices, count) : of_none();
}

/* OF_VALUE(x): a tensor, a number, a truth value, or an of_value as it is. The generated macros apply it to arguments
 * that take both tensors and numbers, so that of_add(tensor, 2.5, &result) works in C11. */
#ifndef __cplusplus
static inline of_value of_same_value(of_value value) { return value; }
#define OF_VALUE(x)                      \
  _Generic((x), of_value                 \
           : of_same_value, of_tensor    \
           : of_tensor_value, bool       \
           : of_bool_value, float        \
           : of_float_value, double      \
           : of_float_value, long double \
           : of_float_value, default     \
           : of_int_value)(x)
#endif

/* Finds the operator at the first call. The library may be older than this header and lack it. */
static inline of_status of_resolve(of_op* op, const char* name) {
  if (__atomic_load_n(op, __ATOMIC_ACQUIRE)) return OF_OK;
  of_op found = of_op_find(name);
  if (!found) return of_fail(OF_UNSUPPORTED, "the loaded liboneflow lacks an operator that this program was built for");
  __atomic_store_n(op, found, __ATOMIC_RELEASE);
  return OF_OK;
}

/* Calls an operator and gives its tensors to the caller. */
static inline of_status of_call_new(of_op* op, const char* name, const of_value* args, size_t arg_count,
                                    of_tensor* const* results, size_t result_count) {
  of_value values[8];
  of_status status = of_resolve(op, name);
  if (status != OF_OK) return status;
  for (size_t i = 0; i < result_count; ++i) {
    if (!results[i]) return of_fail(OF_INVALID_ARGUMENT, "the place for a result must not be NULL");
    values[i] = of_absent();
  }
  status = of_call(*op, args, arg_count, values, result_count);
  if (status != OF_OK) return status;
  for (size_t i = 0; i < result_count; ++i) *results[i] = values[i].as.tensor;
  return OF_OK;
}

/* Calls an operator that gives a list of tensors: of_value_release() releases them and the list. */
static inline of_status of_call_list(of_op* op, const char* name, const of_value* args, size_t arg_count,
                                     of_value* result) {
  of_value value = of_absent();
  of_status status = of_resolve(op, name);
  if (status != OF_OK) return status;
  if (!result) return of_fail(OF_INVALID_ARGUMENT, "the place for a result must not be NULL");
  status = of_call(*op, args, arg_count, &value, 1);
  if (status == OF_OK) *result = value;
  return status;
}

/* Calls an operator whose results take the place of the tensors of a list. */
static inline of_status of_call_into_list(of_op* op, const char* name, const of_value* args, size_t arg_count,
                                          const of_tensor* tensors, size_t count) {
  of_value value = of_tensor_list_value(tensors, count);
  of_status status = of_resolve(op, name);
  return status == OF_OK ? of_call(*op, args, arg_count, &value, 1) : status;
}

/* Calls an operator that writes to tensors of the caller. */
static inline of_status of_call_into(of_op* op, const char* name, const of_value* args, size_t arg_count,
                                     const of_tensor* results, size_t result_count) {
  of_value values[8];
  of_status status = of_resolve(op, name);
  if (status != OF_OK) return status;
  for (size_t i = 0; i < result_count; ++i) values[i] = of_tensor_value(results[i]);
  return of_call(*op, args, arg_count, values, result_count);
}

#endif /* ONEFLOW_VALUES_H_ */
