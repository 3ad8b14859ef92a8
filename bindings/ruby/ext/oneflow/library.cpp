#include "library.h"

#include <cstring>

#include "errors.h"
#include "memory.h"
#include "tensor/convert.h"
#include "tensor/tensor.h"

namespace oneflow::ruby {
namespace {

// ---------------------------------------------------------------- tensors

VALUE shape(VALUE self) { return to_ruby(of_tensor_sizes(handle_of(self)), of_tensor_rank(handle_of(self))); }
VALUE strides(VALUE self) { return to_ruby(of_tensor_strides(handle_of(self)), of_tensor_rank(handle_of(self))); }
VALUE ndim(VALUE self) { return INT2FIX(of_tensor_rank(handle_of(self))); }
VALUE count(VALUE self) { return LL2NUM(of_tensor_count(handle_of(self))); }

// tensor.size is the number of elements, and tensor.size(dim) the size of a dimension.
VALUE size(int given, VALUE* values, VALUE self) {
  rb_check_arity(given, 0, 1);
  if (given == 0) return count(self);
  const of_tensor tensor = handle_of(self);
  const int rank = of_tensor_rank(tensor);
  int64_t dim;
  if (!RB_INTEGER_TYPE_P(values[0]))
    raise(OF_TYPE_MISMATCH, "size: dim must be Integer, got %" PRIsVALUE, type_description(values[0]));
  if (!int64_of(values[0], &dim) || dim < -rank || dim >= rank) {
    if (rank == 0)
      raise(OF_INDEX_OUT_OF_RANGE, "size: dim must be absent for a tensor with 0 dimensions, got %" PRIsVALUE,
            values[0]);
    raise(OF_INDEX_OUT_OF_RANGE,
          "size: dim must be between %d and %d for a tensor with %d dimension%s, got %" PRIsVALUE, -rank, rank - 1,
          rank, rank == 1 ? "" : "s", values[0]);
  }
  return LL2NUM(of_tensor_sizes(tensor)[dim < 0 ? dim + rank : dim]);
}

VALUE dtype(VALUE self) { return dtype_symbol(of_tensor_dtype(handle_of(self))); }
VALUE device(VALUE self) { return device_string(info_of(self).device); }
VALUE contiguous_p(VALUE self) { return info_of(self).is_contiguous ? Qtrue : Qfalse; }
VALUE view_p(VALUE self) { return info_of(self).is_view ? Qtrue : Qfalse; }
VALUE pinned_p(VALUE self) { return info_of(self).is_pinned ? Qtrue : Qfalse; }
VALUE version(VALUE self) { return ULL2NUM(info_of(self).version); }

VALUE shares_memory_p(VALUE self, VALUE other) {
  if (!is_tensor(other)) {
    raise(OF_TYPE_MISMATCH, "shares_memory?: other must be Tensor, got %" PRIsVALUE, type_description(other));
  }
  return info_of(self).storage == info_of(other).storage ? Qtrue : Qfalse;
}

// self == other: returns whether shapes, dtypes and all elements are equal.
VALUE equals(VALUE self, VALUE other) {
  if (!is_tensor(other)) return Qfalse;
  of_tensor a = handle_of(self), b = handle_of(other);
  bool equal;
  check(run_native(static_cast<double>(of_tensor_work(a)) >= OF_LONG_WORK,
                   [&] { return of_tensor_equal(a, b, &equal); }));
  return equal ? Qtrue : Qfalse;
}

// Returns the elements in nested brackets, for `inspect`.
VALUE format(VALUE self, VALUE precision, VALUE threshold, VALUE edge_items, VALUE line_width) {
  of_format_options options = {};
  options.struct_size = sizeof(options);
  options.precision = NUM2INT(precision);
  options.threshold = NUM2INT(threshold);
  options.edge_items = NUM2INT(edge_items);
  options.line_width = NUM2INT(line_width);
  options.indent = strlen("tensor(");
  char* text;
  const of_tensor tensor = handle_of(self);
  check(run_native(of_tensor_work(tensor) == INT64_MAX, [&] { return of_tensor_format(tensor, &options, &text); }));
  int state = 0;
  VALUE result = rb_protect([](VALUE c_text) { return rb_utf8_str_new_cstr(reinterpret_cast<char*>(c_text)); },
                            reinterpret_cast<VALUE>(text), &state);
  of_free(text);
  if (state) rb_jump_tag(state);
  return result;
}

// ---------------------------------------------------------------- dtypes, settings

VALUE default_dtype(VALUE) { return dtype_symbol(of_default_dtype()); }

VALUE set_default_dtype(VALUE, VALUE name) {
  check(of_set_default_dtype(dtype_of("default_dtype=", "dtype", name)));
  return name;
}

VALUE promote_types(VALUE, VALUE a, VALUE b) {
  const of_dtype first = dtype_of("promote_types", "a", a), second = dtype_of("promote_types", "b", b);
  const of_dtype common = of_promote_types(first, second);
  if (common == OF_DTYPE_NONE) {
    raise(OF_DTYPE_ERROR, "promote_types: %s and %s have no common dtype", of_dtype_name(first), of_dtype_name(second));
  }
  return dtype_symbol(common);
}

// Raises the runtime's error of an option with the name of the function in front, which the runtime's text lacks.
void check_option(of_status status, const char* function) {
  if (status != OF_OK) raise(status, "%s: %s", function, of_last_error());
}

VALUE get_option(VALUE, VALUE name) {
  int64_t value;
  check_option(of_get_option(name_of("get_option", "name", &name), &value), "get_option");
  return LL2NUM(value);
}

VALUE set_option(VALUE, VALUE name, VALUE value) {
  of_value number;
  bool in_range;
  if (!number_of(value, &number, &in_range) || number.kind == OF_VALUE_FLOAT) {
    raise(OF_TYPE_MISMATCH, "set_option: value must be Integer or bool, got %" PRIsVALUE, type_description(value));
  }
  if (!in_range || number.kind == OF_VALUE_UINT)
    raise(OF_INVALID_ARGUMENT, "set_option: value must fit into 64 bits, got a larger integer");
  const int64_t setting = number.kind == OF_VALUE_BOOL ? number.as.boolean : number.as.integer;
  check_option(of_set_option(name_of("set_option", "name", &name), setting), "set_option");
  return Qnil;
}

VALUE num_threads(VALUE) {
  int64_t threads;
  check_option(of_get_option("num_threads", &threads), "num_threads");
  return LL2NUM(threads);
}

VALUE set_num_threads(VALUE, VALUE threads) {
  if (!RB_INTEGER_TYPE_P(threads))
    raise(OF_TYPE_MISMATCH, "num_threads=: threads must be Integer, got %" PRIsVALUE, type_description(threads));
  int64_t count = 0;
  if (!int64_of(threads, &count))
    raise(OF_INVALID_ARGUMENT, "num_threads=: threads must fit into 64 bits, got a larger integer");
  check_option(of_set_option("num_threads", count), "num_threads=");
  return threads;
}

// Returns the Hash of the names of methods that convert to a dtype, with these dtypes.
VALUE dtype_methods() {
  VALUE methods = rb_hash_new();
  for (int i = 0; i < OF_DTYPE_COUNT; ++i) {
    const of_dtype dtype = static_cast<of_dtype>(i);
    if (const char* name = of_dtype_method(dtype)) rb_hash_aset(methods, ID2SYM(rb_intern(name)), dtype_symbol(dtype));
  }
  return rb_obj_freeze(methods);
}

void define_tensor_properties() {
  rb_define_const(tensor_class, "DTYPE_METHODS", dtype_methods());
  rb_define_const(tensor_class, "HOST", rb_obj_freeze(device_string({})));
  rb_funcall(tensor_class, rb_intern("private_constant"), 2, ID2SYM(rb_intern("DTYPE_METHODS")),
             ID2SYM(rb_intern("HOST")));
  rb_define_method(tensor_class, "shape", shape, 0);
  rb_define_method(tensor_class, "strides", strides, 0);
  rb_define_method(tensor_class, "ndim", ndim, 0);
  rb_define_method(tensor_class, "size", size, -1);
  rb_define_method(tensor_class, "numel", count, 0);
  rb_define_method(tensor_class, "nelement", count, 0);
  rb_define_method(tensor_class, "dtype", dtype, 0);
  rb_define_method(tensor_class, "device", device, 0);
  rb_define_method(tensor_class, "contiguous?", contiguous_p, 0);
  rb_define_method(tensor_class, "view?", view_p, 0);
  rb_define_method(tensor_class, "pinned?", pinned_p, 0);
  rb_define_method(tensor_class, "version", version, 0);
  rb_define_method(tensor_class, "shares_memory?", shares_memory_p, 1);
  rb_define_method(tensor_class, "==", equals, 1);
  rb_define_private_method(tensor_class, "format_elements", format, 4);
}

}  // namespace

void check_version() {
  if (strcmp(of_version(), ONEFLOW_VERSION) == 0) return;
  rb_raise(rb_eLoadError,
           "oneflow-rb %s cannot use liboneflow %s, which this process has loaded from %s; install the same version of "
           "all packages of oneflow that are loaded together",
           ONEFLOW_VERSION, of_version(), of_library_path());
}

void define_library(VALUE module) {
  define_tensor_properties();
  rb_define_singleton_method(module, "default_dtype", default_dtype, 0);
  rb_define_singleton_method(module, "default_dtype=", set_default_dtype, 1);
  rb_define_singleton_method(module, "promote_types", promote_types, 2);
  rb_define_singleton_method(module, "get_option", get_option, 1);
  rb_define_singleton_method(module, "set_option", set_option, 2);
  rb_define_singleton_method(module, "num_threads", num_threads, 0);
  rb_define_singleton_method(module, "num_threads=", set_num_threads, 1);
  rb_define_const(module, "VERSION", rb_obj_freeze(rb_utf8_str_new_cstr(ONEFLOW_VERSION)));
  rb_define_const(module, "LIBRARY_VERSION", rb_obj_freeze(rb_utf8_str_new_cstr(of_version())));
}

}  // namespace oneflow::ruby
