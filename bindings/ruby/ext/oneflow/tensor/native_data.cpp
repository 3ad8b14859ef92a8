#include "tensor/native_data.h"

#include <oneflow/autograd.h>

#include <cstring>

#include "calls/binding.h"
#include "errors.h"
#include "memory.h"
#include "tensor/array_reader.h"
#include "tensor/convert.h"
#include "tensor/tensor.h"

namespace oneflow::ruby {
namespace {

// The keyword arguments of OneFlow.tensor and OneFlow.from_binary.
struct Options {
  of_dtype dtype;  // OF_DTYPE_NONE if not given
  bool has_device;
  of_device device;     // the default device if not given
  VALUE requires_grad;  // nil if not given
  VALUE shape;
};

// Reads the first `known` of the keywords dtype, device, requires_grad and shape. Raises ArgumentError for others.
Options options_of(const char* function, VALUE keywords, int known) {
  static const ID names[] = {rb_intern("dtype"), rb_intern("device"), rb_intern("requires_grad"), rb_intern("shape")};
  VALUE values[] = {Qundef, Qundef, Qundef, Qundef};
  if (!NIL_P(keywords)) rb_get_kwargs(keywords, names, 0, known, values);
  for (VALUE& value : values) {
    if (value == Qundef) value = Qnil;
  }
  Options options = {OF_DTYPE_NONE, !NIL_P(values[1]), of_default_device(), values[2], values[3]};
  if (!NIL_P(values[0])) options.dtype = dtype_of(function, "dtype", values[0]);
  if (options.has_device) options.device = device_of(function, "device", values[1]);
  return options;
}

bool is_long(of_tensor tensor) { return static_cast<double>(of_tensor_work(tensor)) >= OF_LONG_WORK; }

VALUE cast(VALUE tensor, of_dtype dtype) {
  static const of_op op = of_op_find("cast");
  const of_tensor input = handle_of(tensor);
  of_value arguments[2] = {}, result = {};
  arguments[0].kind = OF_VALUE_TENSOR;
  arguments[0].as.tensor = input;
  arguments[1].kind = OF_VALUE_DTYPE;
  arguments[1].as.dtype = dtype;
  VALUE object = new_tensor();
  const auto work = [&] { return of_call(op, arguments, 2, &result, 1); };
  check(run_native(is_long(input), work, Interrupted::kRepeats));
  fill_tensor(object, result.as.tensor);
  RB_GC_GUARD(tensor);
  return object;
}

void read_elements(of_tensor tensor, void* memory, uint64_t bytes) {
  check(run_native(is_long(tensor), [=] { return of_tensor_read(tensor, memory, bytes); }));
}

VALUE copy_to(VALUE tensor, of_device device) {
  VALUE object = new_tensor();
  of_tensor moved;
  const of_tensor source = handle_of(tensor);
  const bool copy_is_long = is_long(source) || of_device_waits(device);
  check(run_native(copy_is_long, [&] { return of_tensor_to_device(source, device, &moved); }));
  fill_tensor(object, moved);
  RB_GC_GUARD(tensor);
  return object;
}

// Returns the tensor itself if it is on the device, else a copy on the device.
VALUE on_device(VALUE tensor, of_device device) {
  const of_device current = info_of(tensor).device;
  return current.type == device.type && current.index == device.index ? tensor : copy_to(tensor, device);
}

// Creates a tensor with a copy of the host memory that `source` describes. Other threads must not change that memory
// meanwhile.
VALUE tensor_from_memory(of_tensor_source source, of_device device) {
  source.device = device;
  VALUE object = new_tensor();
  of_tensor tensor;
  const bool is_long = static_cast<double>(source.bytes) >= OF_LONG_WORK || of_device_waits(device);
  check(run_native(is_long, [&] { return of_tensor_create(&source, &tensor); }));
  fill_tensor(object, tensor);
  return object;
}

// Returns a copy of a tensor, in the dtype and on the device of the options.
VALUE tensor_from_tensor(VALUE data, const Options& options) {
  const of_dtype dtype = of_tensor_dtype(handle_of_argument("tensor", "data", data));
  const bool converts = options.dtype != OF_DTYPE_NONE && options.dtype != dtype;
  VALUE copy = converts ? cast(data, options.dtype) : rb_obj_dup(data);
  return options.has_device ? on_device(copy, options.device) : copy;
}

}  // namespace

VALUE tensor_from_array(const char* name, VALUE data, of_dtype dtype, of_device device) {
  NestedArray array(name);
  array.measure(data);
  if (dtype == OF_DTYPE_NONE) dtype = array.inferred_dtype();
  const of_dtype stored = NestedArray::stored_dtype(dtype);
  VALUE buffer;
  const uint64_t bytes = array.count() * of_dtype_size(stored);
  void* memory = rb_alloc_tmp_buffer(&buffer, static_cast<long>(bytes));
  array.read(data, dtype, memory);
  of_tensor_source source = {};
  source.struct_size = sizeof(source);
  source.dtype = stored;
  source.rank = array.rank();
  source.sizes = array.sizes();
  source.data = memory;
  source.bytes = bytes;
  VALUE tensor = tensor_from_memory(source, device);
  rb_free_tmp_buffer(&buffer);
  return stored == dtype ? tensor : cast(tensor, dtype);
}

namespace {

// Makes a new tensor require a gradient if the options say so, and returns it. Raises TypeMismatch unless they say
// true, false or nil.
VALUE as_leaf(const char* function, VALUE tensor, const Options& options) {
  if (options.requires_grad == Qtrue) check(of_tensor_set_requires_grad(handle_of(tensor), true));
  if (options.requires_grad != Qtrue && RTEST(options.requires_grad)) {
    raise(OF_TYPE_MISMATCH, "%s: requires_grad must be bool, got %" PRIsVALUE, function,
          type_description(options.requires_grad));
  }
  return tensor;
}

// OneFlow.tensor(data, dtype: nil, device: nil, requires_grad: false)
VALUE tensor(int count, VALUE* values, VALUE) {
  VALUE data, others, keywords;
  rb_scan_args(count, values, "1*:", &data, &others, &keywords);
  if (RARRAY_LEN(others) > 0) {
    const VALUE named = rb_str_split(rb_str_new_cstr("dtype device requires_grad"), " ");
    raise_too_many("tensor", 1, static_cast<int>(RARRAY_LEN(others)) + 1, named);
  }
  const Options options = options_of("tensor", keywords, 3);
  if (is_tensor(data)) return as_leaf("tensor", tensor_from_tensor(data, options), options);
  return as_leaf("tensor", tensor_from_array("tensor: data", data, options.dtype, options.device), options);
}

// Reads the argument shape:, an Array of Integers, and returns the rank.
int read_shape(VALUE shape, int64_t* sizes) {
  if (!RB_TYPE_P(shape, T_ARRAY)) {
    raise(OF_TYPE_MISMATCH, "from_binary: shape must be Array of Integers, got %" PRIsVALUE, type_description(shape));
  }
  if (RARRAY_LEN(shape) > OF_MAX_RANK) {
    raise(OF_SHAPE_ERROR, "from_binary: shape must have at most %d items, got %ld", OF_MAX_RANK, RARRAY_LEN(shape));
  }
  const int rank = static_cast<int>(RARRAY_LEN(shape));
  for (int i = 0; i < rank; ++i) {
    VALUE size = RARRAY_AREF(shape, i);
    if (!RB_INTEGER_TYPE_P(size)) {
      raise(OF_TYPE_MISMATCH, "from_binary: shape[%d] must be Integer, got %" PRIsVALUE, i, type_description(size));
    }
    if (!int64_of(size, &sizes[i])) {
      raise(OF_INVALID_ARGUMENT, "from_binary: shape must fit into 64 bits, got a larger integer");
    }
    if (sizes[i] < 0) raise(OF_SHAPE_ERROR, "from_binary: shape must not be negative, got %" PRIsVALUE, size);
  }
  return rank;
}

// Raises ShapeError unless the data has exactly the bytes of the shape.
void check_length(const of_tensor_source& source) {
  int64_t bytes = static_cast<int64_t>(of_dtype_size(source.dtype));
  bool overflows = false;
  for (int i = 0; i < source.rank; ++i) overflows |= __builtin_mul_overflow(bytes, source.sizes[i], &bytes);
  if (overflows) raise(OF_SHAPE_ERROR, "from_binary: shape is too large");
  if (static_cast<uint64_t>(bytes) != source.bytes) {
    raise(OF_SHAPE_ERROR, "from_binary: data must have %lld bytes for this shape of %s, got %llu",
          static_cast<long long>(bytes), of_dtype_name(source.dtype), static_cast<unsigned long long>(source.bytes));
  }
}

// OneFlow.from_binary(data, dtype:, shape: nil, device: nil, requires_grad: false)
VALUE from_binary(int count, VALUE* values, VALUE) {
  VALUE data, keywords;
  rb_scan_args(count, values, "1:", &data, &keywords);
  if (!RB_TYPE_P(data, T_STRING)) {
    raise(OF_TYPE_MISMATCH, "from_binary: data must be String, got %" PRIsVALUE, type_description(data));
  }
  data = rb_str_new_frozen(data);  // a copy, which other threads cannot change while it is read
  const Options options = options_of("from_binary", keywords, 4);
  if (options.dtype == OF_DTYPE_NONE) raise(OF_TYPE_MISMATCH, "from_binary: missing argument dtype");
  int64_t sizes[OF_MAX_RANK] = {RSTRING_LEN(data) / static_cast<long>(of_dtype_size(options.dtype))};
  of_tensor_source source = {};
  source.struct_size = sizeof(source);
  source.dtype = options.dtype;
  source.rank = NIL_P(options.shape) ? 1 : read_shape(options.shape, sizes);
  source.sizes = sizes;
  source.data = RSTRING_PTR(data);
  source.bytes = RSTRING_LEN(data);
  check_length(source);
  VALUE result = tensor_from_memory(source, options.device);
  RB_GC_GUARD(data);
  return as_leaf("from_binary", result, options);
}

// ---------------------------------------------------------------- from tensors to Ruby data

template <typename T>
T load(const char* from) {
  T value;
  memcpy(&value, from, sizeof(T));
  return value;
}

// Converts the element at `from` to a Ruby number, true or false.
VALUE element(of_dtype dtype, const char* from) {
  switch (dtype) {
    case OF_BOOL:
      return *from ? Qtrue : Qfalse;
    case OF_UINT8:
      return INT2FIX(load<uint8_t>(from));
    case OF_INT8:
      return INT2FIX(load<int8_t>(from));
    case OF_INT16:
      return INT2FIX(load<int16_t>(from));
    case OF_UINT16:
      return INT2FIX(load<uint16_t>(from));
    case OF_INT32:
      return INT2NUM(load<int32_t>(from));
    case OF_UINT32:
      return UINT2NUM(load<uint32_t>(from));
    case OF_INT64:
      return LL2NUM(load<int64_t>(from));
    case OF_UINT64:
      return ULL2NUM(load<uint64_t>(from));
    case OF_FLOAT32:
      return DBL2NUM(load<float>(from));
    case OF_COMPLEX64:
      return rb_dbl_complex_new(load<float>(from), load<float>(from + sizeof(float)));
    case OF_COMPLEX128:
      return rb_dbl_complex_new(load<double>(from), load<double>(from + sizeof(double)));
    default:
      return DBL2NUM(load<double>(from));
  }
}

// Returns the nested Arrays of the dimensions from `dim` on, and advances `from` past the elements.
VALUE nest(of_tensor tensor, int dim, const char** from) {
  const of_dtype dtype = of_tensor_dtype(tensor);
  if (dim == of_tensor_rank(tensor)) {
    VALUE value = element(dtype, *from);
    *from += of_dtype_size(dtype);
    return value;
  }
  const int64_t size = of_tensor_sizes(tensor)[dim];
  VALUE list = rb_ary_new_capa(size);
  for (int64_t i = 0; i < size; ++i) rb_ary_push(list, nest(tensor, dim + 1, from));
  return list;
}

uint64_t bytes_of(of_tensor tensor) { return of_tensor_count(tensor) * of_dtype_size(of_tensor_dtype(tensor)); }

// tensor.to_a: returns nested Arrays, or the number itself for a tensor with 0 dimensions.
VALUE to_a(VALUE self) {
  const of_dtype dtype = of_tensor_dtype(handle_of(self));
  if (dtype == OF_FLOAT16 || dtype == OF_BFLOAT16) self = cast(self, OF_FLOAT32);
  of_tensor tensor = handle_of(self);
  VALUE buffer;
  char* memory = static_cast<char*>(rb_alloc_tmp_buffer(&buffer, static_cast<long>(bytes_of(tensor))));
  read_elements(tensor, memory, bytes_of(tensor));
  const char* from = memory;
  VALUE result = nest(tensor, 0, &from);
  rb_free_tmp_buffer(&buffer);
  RB_GC_GUARD(self);
  return result;
}

// tensor.to_binary: returns the elements as packed bytes, in row-major order and the machine's byte order.
VALUE to_binary(VALUE self) {
  of_tensor tensor = handle_of(self);
  VALUE result = rb_str_new(nullptr, static_cast<long>(bytes_of(tensor)));
  read_elements(tensor, RSTRING_PTR(result), bytes_of(tensor));
  return result;
}

// tensor.data_ptr: returns the address of the first element, which is valid as long as the tensor. Raises DeviceError
// for memory that the host cannot access.
VALUE data_ptr(VALUE self) {
  const of_tensor tensor = handle_of(self);
  void* data = nullptr;
  check(run_native(is_long(tensor), [&] { return of_tensor_mutable_data(tensor, &data); }));
  return ULL2NUM(reinterpret_cast<uintptr_t>(data));
}

// tensor.bytesize: returns the number of bytes of all elements.
VALUE bytesize(VALUE self) { return ULL2NUM(bytes_of(handle_of(self))); }

// Returns the only element of a real tensor.
VALUE real_item(VALUE self) {
  of_scalar scalar;
  const of_tensor tensor = handle_of(self);
  check(run_native(is_long(tensor), [&] { return of_tensor_item(tensor, &scalar); }));
  return to_ruby(scalar);
}

// tensor.item: returns the only element.
VALUE item(VALUE self) {
  const of_tensor tensor = handle_of(self);
  if (!is_complex(of_tensor_dtype(tensor))) return real_item(self);
  double real, imaginary;
  check(run_native(is_long(tensor), [&] { return of_tensor_complex_item(tensor, &real, &imaginary); }));
  return rb_dbl_complex_new(real, imaginary);
}

}  // namespace

void define_native_data(VALUE module) {
  rb_define_singleton_method(module, "tensor", tensor, -1);
  rb_define_singleton_method(module, "from_binary", from_binary, -1);
  rb_define_method(tensor_class, "to_a", to_a, 0);
  rb_define_method(tensor_class, "to_binary", to_binary, 0);
  rb_define_method(tensor_class, "data_ptr", data_ptr, 0);
  rb_define_method(tensor_class, "bytesize", bytesize, 0);
  rb_define_method(tensor_class, "item", item, 0);
  rb_define_private_method(tensor_class, "real_item", real_item, 0);
}

}  // namespace oneflow::ruby
