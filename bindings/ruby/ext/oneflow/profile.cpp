#include "profile.h"

#include <oneflow/profile.h>

#include "convert.h"
#include "errors.h"
#include "memory.h"

namespace oneflow::ruby {
namespace {

VALUE entry_class;

void free_profile(void* memory) { of_profile_release(static_cast<of_profile>(memory)); }

const rb_data_type_t profile_type = {
    "OneFlow::Profile", {nullptr, free_profile, nullptr, nullptr, {nullptr}}, nullptr, nullptr, 0,
};

of_profile handle_of_profile(VALUE self) { return static_cast<of_profile>(rb_check_typeddata(self, &profile_type)); }

// Profile.begin: begins a profile and returns it.
VALUE begin(VALUE profile_class) {
  const VALUE object = rb_data_typed_object_wrap(profile_class, nullptr, &profile_type);
  of_profile handle = nullptr;
  check(of_profile_begin(&handle));
  RTYPEDDATA_DATA(object) = handle;
  return object;
}

// Profile#end
VALUE end(VALUE self) {
  const of_profile handle = handle_of_profile(self);
  check(run_native(true, [=] { return of_profile_end(handle); }));
  return Qnil;
}

// Converts nanoseconds to seconds; unknown times to nil.
VALUE seconds(int64_t nanoseconds) { return nanoseconds < 0 ? Qnil : DBL2NUM(1e-9 * static_cast<double>(nanoseconds)); }

template <class Make>
VALUE list_of(const of_profile_tensor* tensors, size_t count, Make make) {
  const VALUE list = rb_ary_new_capa(static_cast<long>(count));
  for (size_t i = 0; i < count; ++i) rb_ary_push(list, make(tensors[i]));
  return list;
}

VALUE shapes_of(const of_profile_tensor* tensors, size_t count) {
  return list_of(tensors, count,
                 [](const of_profile_tensor& each) { return to_ruby(each.shape.sizes, each.shape.rank); });
}

VALUE dtypes_of(const of_profile_tensor* tensors, size_t count) {
  return list_of(tensors, count, [](const of_profile_tensor& each) { return dtype_symbol(each.dtype); });
}

// Profile#entries
VALUE entries(VALUE self) {
  const of_profile handle = handle_of_profile(self);
  const size_t count = of_profile_count(handle);
  const VALUE list = rb_ary_new_capa(static_cast<long>(count));
  for (size_t i = 0; i < count; ++i) {
    of_profile_entry entry = {};
    entry.struct_size = sizeof(entry);
    check(of_profile_at(handle, i, &entry));
    rb_ary_push(list, rb_struct_new(entry_class, rb_utf8_str_new_cstr(entry.name), rb_utf8_str_new_cstr(entry.caller),
                                    device_string(entry.device), INT2NUM(entry.thread),
                                    entry.parent < 0 ? Qnil : LL2NUM(entry.parent), seconds(entry.start),
                                    seconds(entry.host_time), DBL2NUM(1e-9 * static_cast<double>(entry.self_time)),
                                    seconds(entry.device_time), ULL2NUM(entry.memory), DBL2NUM(entry.operations),
                                    ULL2NUM(entry.bytes), shapes_of(entry.operands, entry.operand_count),
                                    dtypes_of(entry.operands, entry.operand_count),
                                    shapes_of(entry.results, entry.result_count),
                                    dtypes_of(entry.results, entry.result_count), entry.failed ? Qtrue : Qfalse));
  }
  RB_GC_GUARD(self);
  return list;
}

template <of_status (*format)(of_profile, char**)>
VALUE text_of(VALUE self) {
  char* text = nullptr;
  check(format(handle_of_profile(self), &text));
  const VALUE string = rb_utf8_str_new_cstr(text);
  of_free(text);
  RB_GC_GUARD(self);
  return string;
}

}  // namespace

void define_profiles(VALUE module) {
  entry_class = rb_struct_define_under(module, "ProfileEntry", "name", "caller", "device", "thread", "parent", "start",
                                       "host_time", "self_time", "device_time", "memory", "flops", "bytes", "shapes",
                                       "dtypes", "result_shapes", "result_dtypes", "failed", nullptr);
  const VALUE profile_class = rb_define_class_under(module, "Profile", rb_cObject);
  rb_undef_alloc_func(profile_class);
  rb_undef_method(rb_singleton_class(profile_class), "new");
  rb_define_private_method(rb_singleton_class(profile_class), "begin", RUBY_METHOD_FUNC(begin), 0);
  rb_define_private_method(profile_class, "end", RUBY_METHOD_FUNC(end), 0);
  rb_define_method(profile_class, "entries", RUBY_METHOD_FUNC(entries), 0);
  rb_define_method(profile_class, "table", RUBY_METHOD_FUNC(text_of<of_profile_table>), 0);
  rb_define_method(profile_class, "trace", RUBY_METHOD_FUNC(text_of<of_profile_trace>), 0);
}

}  // namespace oneflow::ruby
