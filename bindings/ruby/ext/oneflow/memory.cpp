#include "memory.h"

#include "convert.h"
#include "errors.h"

namespace oneflow::ruby {
namespace {

thread_local bool gvl_released = false;

// Calls GC.start, which collects even after GC.disable; rb_gc_start() does not.
VALUE collect(VALUE) { return rb_funcall(rb_mGC, rb_intern("start"), 0); }

// Collects garbage, with Ruby's lock held. An exception must not propagate through the runtime's frames below.
void* collect_protected(void* collected) {
  int state = 0;
  rb_protect(collect, Qnil, &state);
  if (state) rb_set_errinfo(Qnil);
  *static_cast<bool*>(collected) = state == 0;
  return nullptr;
}

// The memory-pressure callback: collects garbage, because unreachable tensors may hold memory. Returns whether it did,
// so that the runtime repeats the allocation. On a thread that does not belong to Ruby it does nothing.
bool on_memory_pressure(void*, uint64_t) {
  bool collected = false;
  call_with_gvl(collect_protected, &collected);
  return collected;
}

VALUE optional(int count, const VALUE* values) {
  rb_check_arity(count, 0, 1);
  return count ? values[0] : Qnil;
}

VALUE memory_stats(int count, VALUE* values, VALUE) {
  of_memory_statistics statistics = {};
  statistics.struct_size = sizeof(statistics);
  check(of_get_memory_statistics(device_argument("memory_stats", optional(count, values)), &statistics));
  VALUE result = rb_hash_new();
  rb_hash_aset(result, ID2SYM(rb_intern("in_use")), ULL2NUM(statistics.in_use));
  rb_hash_aset(result, ID2SYM(rb_intern("peak_in_use")), ULL2NUM(statistics.peak_in_use));
  rb_hash_aset(result, ID2SYM(rb_intern("cached")), ULL2NUM(statistics.cached));
  rb_hash_aset(result, ID2SYM(rb_intern("limit")), ULL2NUM(statistics.limit));
  rb_hash_aset(result, ID2SYM(rb_intern("tensors")), ULL2NUM(statistics.tensors));
  return result;
}

VALUE reset_peak_memory_stats(int count, VALUE* values, VALUE) {
  check(of_reset_peak_memory(device_argument("reset_peak_memory_stats", optional(count, values))));
  return Qnil;
}

// Runs without Ruby's lock, because the device waits for the work that uses the cached memory.
VALUE empty_cache(int count, VALUE* values, VALUE) {
  const of_device device = device_argument("empty_cache", optional(count, values));
  check(run_native(true, [=] { return of_empty_cache(device); }));
  return Qnil;
}

VALUE set_memory_limit(int count, VALUE* values, VALUE) {
  rb_check_arity(count, 1, 2);
  int64_t bytes = 0;
  if (!RB_INTEGER_TYPE_P(values[0])) {
    raise(OF_TYPE_MISMATCH, "set_memory_limit: bytes must be Integer, got %" PRIsVALUE, type_description(values[0]));
  }
  if (!int64_of(values[0], &bytes)) {
    raise(OF_INVALID_ARGUMENT, "set_memory_limit: bytes must fit into 64 bits, got a larger integer");
  }
  if (bytes < 0) {
    raise(OF_INVALID_ARGUMENT, "set_memory_limit: bytes must not be negative, got %" PRIsVALUE, values[0]);
  }
  of_device device = device_argument("set_memory_limit", count > 1 ? values[1] : Qnil);
  check(of_set_memory_limit(device, static_cast<uint64_t>(bytes)));
  return Qnil;
}

}  // namespace

of_device device_argument(const char* function, VALUE name) {
  return NIL_P(name) ? of_default_device() : device_of(function, "device", name);
}

bool call_with_gvl(void* (*function)(void*), void* context) {
  if (gvl_released) {
    gvl_released = false;
    of_interrupt_check check;  // of the work around the function, whose interrupt must not end the function's own calls
    void* check_context;
    of_set_interrupt_check(nullptr, nullptr, &check, &check_context);
    rb_thread_call_with_gvl(function, context);
    of_set_interrupt_check(check, check_context, nullptr, nullptr);
    gvl_released = true;
    return true;
  }
  if (!ruby_native_thread_p()) return false;
  function(context);
  return true;
}

GvlReleased::GvlReleased() { gvl_released = true; }
GvlReleased::~GvlReleased() { gvl_released = false; }

void define_memory(VALUE module) {
  rb_define_singleton_method(module, "memory_stats", memory_stats, -1);
  rb_define_singleton_method(module, "reset_peak_memory_stats", reset_peak_memory_stats, -1);
  rb_define_singleton_method(module, "empty_cache", empty_cache, -1);
  rb_define_singleton_method(module, "set_memory_limit", set_memory_limit, -1);
  of_set_memory_pressure_callback(on_memory_pressure, nullptr);
}

}  // namespace oneflow::ruby
