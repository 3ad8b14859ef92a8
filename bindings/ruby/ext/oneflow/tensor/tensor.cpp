#include "tensor/tensor.h"

#include <oneflow/autograd.h>

#include "accounting.h"
#include "errors.h"

namespace oneflow::ruby {

VALUE tensor_class;

namespace {

// Returns the bytes that are reported to the garbage collector: the elements, if releasing the tensor would free them,
// and the approximate size of the handle. Must return the same value when the tensor is allocated and when it is freed.
size_t accounted_bytes(of_tensor tensor) {
  constexpr size_t kHandleBytes = 512;
  return kHandleBytes + of_tensor_memory(tensor);
}

// Releases the handle during garbage collection, when Ruby objects must not be used. This never calls back into Ruby,
// because no tensor of this extension has a deleter.
void free_tensor(void* memory) {
  of_tensor tensor = static_cast<of_tensor>(memory);
  account_freed(accounted_bytes(tensor));
  of_tensor_release(tensor);
}

size_t tensor_size(const void* memory) { return accounted_bytes(static_cast<of_tensor>(const_cast<void*>(memory))); }

}  // namespace

// A Tensor holds no references to Ruby objects, so it needs no mark function, write barrier or compaction support. A
// frozen Tensor rejects writes through itself, as required of an object that Ractors share.
const rb_data_type_t tensor_type = {
    "OneFlow::Tensor",
    {nullptr, free_tensor, tensor_size, nullptr, {nullptr}},
    nullptr,
    nullptr,
    RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED | RUBY_TYPED_FROZEN_SHAREABLE,
};

namespace {

VALUE allocate(VALUE klass) { return rb_data_typed_object_wrap(klass, nullptr, &tensor_type); }

// tensor.dup, tensor.clone: copies the tensor; both share memory until either is written. The copy of a leaf is a leaf.
VALUE initialize_copy(VALUE self, VALUE original) {
  rb_check_frozen(self);
  of_tensor source = handle_of(original);
  if (peek(self)) raise(OF_INVALID_ARGUMENT, "initialize_copy: this tensor already has a value");
  of_tensor copy;
  check(of_tensor_is_leaf(source) ? of_tensor_copy_leaf(source, &copy) : of_tensor_lazy_clone(source, &copy));
  fill_tensor(self, copy);
  return self;
}

}  // namespace

void raise_no_handle(VALUE object) {
  if (!is_tensor(object)) raise(OF_TYPE_MISMATCH, "expected a Tensor, got %" PRIsVALUE, rb_obj_class(object));
  raise(OF_INVALID_ARGUMENT, "this tensor was allocated but never given a value");
}

void raise_no_value(const char* function, const char* argument, long item) {
  VALUE name = rb_utf8_str_new_cstr(argument);
  if (item >= 0) rb_str_catf(name, "[%ld]", item);
  raise(OF_INVALID_ARGUMENT, "%s: %" PRIsVALUE " is a tensor that was allocated but never given a value", function,
        name);
}

of_tensor_info info_of(VALUE tensor) {
  of_tensor_info info = {};
  info.struct_size = sizeof(info);
  check(of_tensor_get_info(handle_of(tensor), &info));
  return info;
}

VALUE new_tensor() { return allocate(tensor_class); }

void fill_tensor(VALUE object, of_tensor tensor) {
  RTYPEDDATA_DATA(object) = tensor;
  account_allocated(accounted_bytes(tensor));
}

void define_tensor_class(VALUE module) {
  tensor_class = rb_define_class_under(module, "Tensor", rb_cObject);
  rb_define_alloc_func(tensor_class, allocate);
  rb_undef_method(rb_singleton_class(tensor_class), "new");
  rb_define_method(tensor_class, "initialize_copy", initialize_copy, 1);
  rb_include_module(tensor_class, rb_mEnumerable);
}

}  // namespace oneflow::ruby
