#include "tensor.h"

#include "errors.h"

namespace oneflow::ruby {

VALUE tensor_class;

namespace {

// Runs during garbage collection: must not touch Ruby objects. Releasing a tensor never calls back into Ruby, because
// no tensor that is made here has a deleter.
void free_box(void* memory) {
  TensorBox* box = static_cast<TensorBox*>(memory);
  of_tensor_release(box->tensor);
  rb_gc_adjust_memory_usage(-static_cast<ssize_t>(box->reported));
  ruby_xfree(box);
}

size_t box_size(const void* memory) {
  const TensorBox* box = static_cast<const TensorBox*>(memory);
  return sizeof(TensorBox) + (box->tensor ? of_tensor_memory(box->tensor) : 0);
}

}  // namespace

// A box holds no Ruby object: there is nothing to mark, to write-protect or to move. A frozen tensor refuses writes
// through itself, which is what Ractors ask of an object that they share.
const rb_data_type_t tensor_type = {
    "OneFlow::Tensor",
    {nullptr, free_box, box_size, nullptr, {nullptr}},
    nullptr,
    nullptr,
    RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED | RUBY_TYPED_FROZEN_SHAREABLE,
};

namespace {

VALUE allocate(VALUE klass) {
  TensorBox* box;
  return TypedData_Make_Struct(klass, TensorBox, &tensor_type, box);
}

// tensor.dup, tensor.clone: the same values in memory that is shared until either side is written.
VALUE initialize_copy(VALUE self, VALUE original) {
  of_tensor source = handle_of(original);
  if (box_of(self)->tensor) raise(OF_INVALID_ARGUMENT, "initialize_copy: this tensor already has a value");
  of_tensor copy;
  check(of_tensor_lazy_clone(source, &copy));
  fill_tensor(self, copy);
  return self;
}

}  // namespace

of_tensor handle_of(VALUE tensor) {
  if (!is_tensor(tensor)) raise(OF_TYPE_MISMATCH, "expected a Tensor, got %" PRIsVALUE, rb_obj_class(tensor));
  of_tensor handle = box_of(tensor)->tensor;
  if (!handle) raise(OF_INVALID_ARGUMENT, "this tensor was allocated but never given a value");
  return handle;
}

VALUE new_tensor() { return allocate(tensor_class); }

void fill_tensor(VALUE object, of_tensor tensor) {
  TensorBox* box = box_of(object);
  box->tensor = tensor;
  box->reported = of_tensor_memory(tensor);
  rb_gc_adjust_memory_usage(static_cast<ssize_t>(box->reported));
}

void define_tensor_class(VALUE module) {
  tensor_class = rb_define_class_under(module, "Tensor", rb_cObject);
  rb_define_alloc_func(tensor_class, allocate);
  rb_undef_method(rb_singleton_class(tensor_class), "new");
  rb_define_method(tensor_class, "initialize_copy", initialize_copy, 1);
  rb_include_module(tensor_class, rb_mEnumerable);
}

}  // namespace oneflow::ruby
