#include "memory.h"

#include "errors.h"
#include "tensor/convert.h"

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
  of_set_memory_pressure_callback(on_memory_pressure, nullptr);
}

}  // namespace oneflow::ruby
