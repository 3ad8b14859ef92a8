/* Inline functions for plain C that make an of_value, and that call operators. The generated functions of
 * <oneflow/operators.h> use them. Callers need them for arguments that accept a tensor or a number.
 *
 * A value borrows the strings, lists, tensors and generators that it is made of: they must stay valid while it is in
 * use. */
#ifndef ONEFLOW_VALUES_H_
#define ONEFLOW_VALUES_H_

#include <oneflow/oneflow.h>
#include <string.h>

/* Returns a value of a kind and a count, without content. A count above the range of int32 becomes -1, which all
 * operators reject. */
static inline of_value of_make_value(of_value_kind kind, size_t count) {
  of_value value;
  memset(&value, 0, sizeof value);
  value.kind = (int32_t)kind;
  value.count = count <= INT32_MAX ? (int32_t)count : -1;
  return value;
}

/* Returns the value that stands for the default of an argument. */
static inline of_value of_absent(void) { return of_make_value(OF_VALUE_ABSENT, 0); }

/* Returns None, for arguments whose type ends in `?`. */
static inline of_value of_none(void) { return of_make_value(OF_VALUE_NONE, 0); }

/* Returns a tensor as a value; NULL gives None. */
static inline of_value of_tensor_value(of_tensor tensor) {
  of_value value = of_make_value(tensor ? OF_VALUE_TENSOR : OF_VALUE_NONE, 0);
  value.as.tensor = tensor;
  return value;
}

/* Returns a bool as a value. */
static inline of_value of_bool_value(bool boolean) {
  of_value value = of_make_value(OF_VALUE_BOOL, 0);
  value.as.boolean = boolean;
  return value;
}

/* Returns an integer as a value. */
static inline of_value of_int_value(int64_t integer) {
  of_value value = of_make_value(OF_VALUE_INT, 0);
  value.as.integer = integer;
  return value;
}

/* Returns an unsigned integer as a value: INT where it fits into int64. */
static inline of_value of_uint_value(uint64_t natural) {
  of_value value = of_make_value(natural <= (uint64_t)INT64_MAX ? OF_VALUE_INT : OF_VALUE_UINT, 0);
  value.as.natural = natural;
  return value;
}

/* Returns a floating-point number as a value. */
static inline of_value of_float_value(double real) {
  of_value value = of_make_value(OF_VALUE_FLOAT, 0);
  value.as.real = real;
  return value;
}

/* Returns a dtype as a value. */
static inline of_value of_dtype_value(of_dtype dtype) {
  of_value value = of_make_value(OF_VALUE_DTYPE, 0);
  value.as.dtype = dtype;
  return value;
}

/* Returns a device as a value. */
static inline of_value of_device_value(of_device device) {
  of_value value = of_make_value(OF_VALUE_DEVICE, 0);
  value.as.device = device;
  return value;
}

/* Returns a generator as a value; NULL gives None. */
static inline of_value of_generator_value(of_generator generator) {
  of_value value = of_make_value(generator ? OF_VALUE_GENERATOR : OF_VALUE_NONE, 0);
  value.as.generator = generator;
  return value;
}

/* Returns a zero-terminated UTF-8 string as a value; NULL gives None. */
static inline of_value of_string_value(const char* text) {
  of_value value = of_make_value(text ? OF_VALUE_STRING : OF_VALUE_NONE, text ? strlen(text) : 0);
  value.as.string = text;
  return value;
}

/* Returns a list of `count` integers as a value. */
static inline of_value of_int_list_value(const int64_t* integers, size_t count) {
  of_value value = of_make_value(OF_VALUE_INT_LIST, count);
  value.as.integers = integers;
  return value;
}

/* Returns a list of `count` tensors as a value. */
static inline of_value of_tensor_list_value(const of_tensor* tensors, size_t count) {
  of_value value = of_make_value(OF_VALUE_TENSOR_LIST, count);
  value.as.tensors = (of_tensor*)tensors;
  return value;
}

/* Returns a list of `count` devices as a value. */
static inline of_value of_device_list_value(const of_device* devices, size_t count) {
  of_value value = of_make_value(OF_VALUE_DEVICE_LIST, count);
  value.as.devices = devices;
  return value;
}

/* Functions for optional arguments: each returns what the pointer refers to as a value; NULL gives None. */
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

/* OF_VALUE(x) converts a tensor, a number or a bool to a value; an of_value stays unchanged. The generated macros apply
 * it to arguments that accept both tensors and numbers, so that of_add(tensor, 2.5, &result) compiles in C11. */
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

/* Looks up an operator by its name, unless *op is set already. *op may be static: threads may call this at the same
 * time. Returns OF_UNSUPPORTED if the loaded library, which may be older than this header, lacks the operator. */
static inline of_status of_resolve(of_op* op, const char* name) {
  if (__atomic_load_n(op, __ATOMIC_ACQUIRE)) return OF_OK;
  of_op found = of_op_find(name);
  if (!found) return of_fail(OF_UNSUPPORTED, "the loaded liboneflow lacks an operator that this program was built for");
  __atomic_store_n(op, found, __ATOMIC_RELEASE);
  return OF_OK;
}

/* Calls an operator that allocates its results, at most 8 tensors, and stores them at the addresses in `results`. The
 * tensors belong to the caller. On failure nothing is stored. */
static inline of_status of_call_new(of_op* op, const char* name, const of_value* args, size_t arg_count,
                                    of_tensor* const* results, size_t result_count) {
  of_value values[8];
  of_status status = of_resolve(op, name);
  if (status != OF_OK) return status;
  for (size_t i = 0; i < result_count; ++i) {
    if (!results[i]) return of_fail(OF_INVALID_ARGUMENT, "the pointer to a result must not be NULL");
    values[i] = of_absent();
  }
  status = of_call(*op, args, arg_count, values, result_count);
  if (status != OF_OK) return status;
  for (size_t i = 0; i < result_count; ++i) *results[i] = values[i].as.tensor;
  return OF_OK;
}

/* Calls an operator that returns a list of tensors, and stores it in *result. The caller releases the tensors and the
 * list with of_value_release(). On failure nothing is stored. */
static inline of_status of_call_list(of_op* op, const char* name, const of_value* args, size_t arg_count,
                                     of_value* result) {
  of_value value = of_absent();
  of_status status = of_resolve(op, name);
  if (status != OF_OK) return status;
  if (!result) return of_fail(OF_INVALID_ARGUMENT, "the pointer to a result must not be NULL");
  status = of_call(*op, args, arg_count, &value, 1);
  if (status == OF_OK) *result = value;
  return status;
}

/* Calls an operator that returns a list of tensors, and writes its results to `count` tensors of the caller. */
static inline of_status of_call_into_list(of_op* op, const char* name, const of_value* args, size_t arg_count,
                                          const of_tensor* tensors, size_t count) {
  of_value value = of_tensor_list_value(tensors, count);
  of_status status = of_resolve(op, name);
  return status == OF_OK ? of_call(*op, args, arg_count, &value, 1) : status;
}

/* Calls an operator and writes its results, at most 8, to tensors of the caller. */
static inline of_status of_call_into(of_op* op, const char* name, const of_value* args, size_t arg_count,
                                     const of_tensor* results, size_t result_count) {
  of_value values[8];
  of_status status = of_resolve(op, name);
  if (status != OF_OK) return status;
  for (size_t i = 0; i < result_count; ++i) values[i] = of_tensor_value(results[i]);
  return of_call(*op, args, arg_count, values, result_count);
}

#endif /* ONEFLOW_VALUES_H_ */
