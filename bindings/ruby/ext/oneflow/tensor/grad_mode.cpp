#include "tensor/grad_mode.h"

#include <oneflow/autograd.h>
#include <oneflow/graph.h>
#include <ruby/debug.h>

#include <algorithm>
#include <vector>

#include "convert.h"
#include "errors.h"

namespace oneflow::ruby {

thread_local int open_modes = 0;

namespace {

ID mode_id;  // a variable of the fiber: true, false, or nil outside of all blocks

thread_local bool base_mode = true;  // of fibers outside of all blocks

VALUE own_mode() { return rb_thread_local_aref(rb_thread_current(), mode_id); }

void set_own_mode(VALUE mode) { rb_thread_local_aset(rb_thread_current(), mode_id, mode); }

// ---------------------------------------------------------------- graphs

// A recording that a Ruby function of this thread is part of.
struct OpenRecording {
  long number;
  of_recording recording;
};

ID recording_id;  // a variable of the fiber: the number of its recording, or nil

thread_local std::vector<OpenRecording> open_recordings;
thread_local long last_recording = 0;      // the number of this thread, which counts them
thread_local VALUE left_recording = Qnil;  // what the variable is in the fiber that runs until a switch

VALUE own_recording() { return rb_thread_local_aref(rb_thread_current(), recording_id); }

void set_own_recording(VALUE number) {
  left_recording = number;
  rb_thread_local_aset(rb_thread_current(), recording_id, number);
}

std::vector<OpenRecording>::iterator find_recording(VALUE number) {
  const auto is_own = [=](const OpenRecording& each) { return !NIL_P(number) && each.number == FIX2LONG(number); };
  return std::find_if(open_recordings.begin(), open_recordings.end(), is_own);
}

// Runs in the fiber that the thread has switched to. One that begins belongs to the recording of the one before, which
// has created it or its Enumerator.
void fiber_switched(rb_event_flag_t, VALUE, VALUE, ID, VALUE) {
  const VALUE before = left_recording;
  left_recording = own_recording();
  if (!NIL_P(left_recording) || find_recording(before) == open_recordings.end()) return;
  const VALUE frames = rb_make_backtrace();
  if (NIL_P(frames) || RARRAY_LEN(frames) == 0) set_own_recording(before);
}

// ---------------------------------------------------------------- gradients

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
  if (open_recordings.empty()) return;
  const auto found = find_recording(own_recording());
  of_recording_set_current(found == open_recordings.end() ? nullptr : found->recording);
}

InheritedGradMode::InheritedGradMode() : mode_(of_grad_enabled()), before_(own_mode()) {
  ++open_modes;  // the base mode stays the one from before the backward pass
  set_own_mode(mode_ ? Qtrue : Qfalse);
  const of_recording recording = of_recording_current();
  if (!recording && open_recordings.empty()) return;
  recording_before_ = own_recording();
  if (recording) {
    if (open_recordings.empty())
      rb_thread_add_event_hook(rb_thread_current(), fiber_switched, RUBY_EVENT_FIBER_SWITCH, Qnil);
    number_ = ++last_recording;
    open_recordings.push_back({number_, recording});
  }
  set_own_recording(recording ? LONG2FIX(number_) : Qnil);
}

InheritedGradMode::~InheritedGradMode() {
  if (number_ || !open_recordings.empty()) set_own_recording(recording_before_);
  if (number_) {
    open_recordings.erase(find_recording(LONG2FIX(number_)));
    if (open_recordings.empty()) rb_thread_remove_event_hook(rb_thread_current(), fiber_switched);
  }
  set_own_mode(before_);
  --open_modes;
  of_set_grad_enabled(mode_);
}

void define_grad_mode(VALUE module, VALUE autograd) {
  mode_id = rb_intern("__oneflow_grad_mode");
  recording_id = rb_intern("__oneflow_recording");
  rb_define_singleton_method(module, "grad_enabled?", grad_enabled_p, 0);
  rb_define_singleton_method(module, "grad_enabled=", set_grad_enabled, 1);
  rb_define_singleton_method(autograd, "in_mode", in_mode, 2);
}

}  // namespace oneflow::ruby
