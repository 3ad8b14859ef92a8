#include "tensor/grad_mode.h"

#include <oneflow/autograd.h>

#include "convert.h"
#include "errors.h"

namespace oneflow::ruby {

thread_local int open_modes = 0;

namespace {

ID mode_id;  // a variable of the fiber: true, false, or nil outside of all blocks

thread_local bool base_mode = true;  // of fibers outside of all blocks

VALUE own_mode() { return rb_thread_local_aref(rb_thread_current(), mode_id); }

void set_own_mode(VALUE mode) { rb_thread_local_aset(rb_thread_current(), mode_id, mode); }

VALUE grad_enabled_p(VALUE) {
  enter_grad_mode();
  return of_grad_enabled() ? Qtrue : Qfalse;
}

VALUE set_grad_enabled(VALUE, VALUE value) {
  if (value != Qtrue && value != Qfalse)
    raise(OF_TYPE_MISMATCH, "grad_enabled=: enabled must be bool, got %" PRIsVALUE, type_description(value));
  const bool enabled = value == Qtrue;
  if (NIL_P(own_mode()))
    base_mode = enabled;
  else
    set_own_mode(enabled ? Qtrue : Qfalse);
  of_set_grad_enabled(enabled);
  return value;
}

VALUE leave_mode(VALUE before) {
  set_own_mode(before);
  if (--open_modes > 0)
    switch_grad_mode();
  else
    of_set_grad_enabled(base_mode);
  return Qnil;
}

// in_mode(recording, block): calls the block in a mode.
VALUE in_mode(VALUE, VALUE recording, VALUE block) {
  const VALUE before = own_mode();
  if (open_modes++ == 0) base_mode = of_grad_enabled();
  set_own_mode(RTEST(recording) ? Qtrue : Qfalse);
  of_set_grad_enabled(RTEST(recording));
  return rb_ensure([](VALUE callable) { return rb_proc_call(callable, rb_ary_new()); }, block, leave_mode, before);
}

}  // namespace

void switch_grad_mode() {
  const VALUE mode = own_mode();
  of_set_grad_enabled(NIL_P(mode) ? base_mode : RTEST(mode));
}

InheritedGradMode::InheritedGradMode() : mode_(of_grad_enabled()), before_(own_mode()) {
  ++open_modes;  // the base mode stays the one from before the backward pass
  set_own_mode(mode_ ? Qtrue : Qfalse);
}

InheritedGradMode::~InheritedGradMode() {
  set_own_mode(before_);
  --open_modes;
  of_set_grad_enabled(mode_);
}

void define_grad_mode(VALUE module, VALUE autograd) {
  mode_id = rb_intern("__oneflow_grad_mode");
  rb_define_singleton_method(module, "grad_enabled?", grad_enabled_p, 0);
  rb_define_singleton_method(module, "grad_enabled=", set_grad_enabled, 1);
  rb_define_singleton_method(autograd, "in_mode", in_mode, 2);
}

}  // namespace oneflow::ruby
