#include "tensor.h"

#include "accounting.h"
#include "errors.h"

namespace oneflow::ruby {

VALUE tensor_class;

namespace {

// What the garbage collector is told of: the elements, if the tensor owns them, and roughly what else a tensor takes.
// The same when it is made and when it is freed.
size_t accounted_bytes(of_tensor tensor) {
  constexpr size_t kHandleBytes = 512;
  return kHandleBytes + of_tensor_memory(tensor);
}

// Runs during garbage collection: must not touch Ruby objects. Releasing a tensor never calls back into Ruby, because
// no tensor that is made here has a deleter.
void free_tensor(void* memory) {
  of_tensor tensor = static_cast<of_tensor>(memory);
  account_freed(accounted_bytes(tensor));
  of_tensor_release(tensor);
}

size_t tensor_size(const void* memory) { return accounted_bytes(static_cast<of_tensor>(const_cast<void*>(memory))); }

}  // namespace

// There is no Ruby object inside to mark, to write-protect or to move. A frozen tensor refuses writes through itself,
// which is what Ractors ask of an object that they share.
const rb_data_type_t tensor_type = {
    "OneFlow::Tensor",
    {nullptr, free_tensor, tensor_size, nullptr, {nullptr}},
    nullptr,
    nullptr,
    RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED | RUBY_TYPED_FROZEN_SHAREABLE,
};

namespace {

VALUE allocate(VALUE klass) { return rb_data_typed_object_wrap(klass, nullptr, &tensor_type); }

// tensor.dup, tensor.clone: the same values in memory that is shared until either side is written.
VALUE initialize_copy(VALUE self, VALUE original) {
  rb_check_frozen(self);
  of_tensor source = handle_of(original);
  if (peek(self)) raise(OF_INVALID_ARGUMENT, "initialize_copy: this tensor already has a value");
  of_tensor copy;
  check(of_tensor_lazy_clone(source, &copy));
  fill_tensor(self, copy);
  return self;
}

}  // namespace

void raise_no_handle(VALUE object) {
  if (!is_tensor(object)) raise(OF_TYPE_MISMATCH, "expected a Tensor, got %" PRIsVALUE, rb_obj_class(object));
  raise(OF_INVALID_ARGUMENT, "this tensor was allocated but never given a value");
}

void raise_no_value(const char* function, const char* argument, long member) {
  VALUE place = rb_utf8_str_new_cstr(argument);
  if (member >= 0) rb_str_catf(place, "[%ld]", member);
  raise(OF_INVALID_ARGUMENT, "%s: %" PRIsVALUE " is a tensor that was allocated but never given a value", function,
        place);
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
  account_made(accounted_bytes(tensor));
}

void define_tensor_class(VALUE module) {
  tensor_class = rb_define_class_under(module, "Tensor", rb_cObject);
  rb_define_alloc_func(tensor_class, allocate);
  rb_undef_method(rb_singleton_class(tensor_class), "new");
  rb_define_method(tensor_class, "initialize_copy", initialize_copy, 1);
  rb_include_module(tensor_class, rb_mEnumerable);
}

}  // namespace oneflow::ruby
