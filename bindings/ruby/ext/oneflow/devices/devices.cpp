#include "devices/devices.h"

#include "errors.h"
#include "memory.h"
#include "tensor/convert.h"

namespace oneflow::ruby {
namespace {

VALUE device_class;

VALUE symbol(const char* text) { return ID2SYM(rb_intern(text)); }

// Device.new(name): `name` is a short name ("cpu"), a full name ("cpu:0"), or another Device.
VALUE initialize(VALUE self, VALUE name) {
  rb_check_frozen(self);
  rb_ivar_set(self, rb_intern("@name"), rb_obj_freeze(device_string(device_of("device", "name", name))));
  return rb_obj_freeze(self);
}

// Queries the properties of a Device, and returns them as a Hash.
VALUE properties(VALUE self) {
  const of_device device = device_of("device", "name", rb_ivar_get(self, rb_intern("@name")));
  of_device_properties found = {};
  found.struct_size = sizeof(found);
  check(run_native(true, [&] { return of_device_get_properties(device, &found); }));
  VALUE words = rb_str_split(rb_utf8_str_new_cstr(found.capabilities), " ");
  VALUE capabilities = rb_ary_new();
  for (long i = 0; i < RARRAY_LEN(words); ++i) rb_ary_push(capabilities, rb_str_intern(rb_ary_entry(words, i)));
  VALUE result = rb_hash_new();
  rb_hash_aset(result, symbol("hardware"), rb_utf8_str_new_cstr(found.name));
  rb_hash_aset(result, symbol("total_memory"), ULL2NUM(found.total_memory));
  rb_hash_aset(result, symbol("free_memory"), ULL2NUM(found.free_memory));
  rb_hash_aset(result, symbol("compute_units"), UINT2NUM(found.compute_units));
  rb_hash_aset(result, symbol("capabilities"), capabilities);
  rb_hash_aset(result, symbol("notes"), rb_utf8_str_new_cstr(found.notes));
  return result;
}

// OneFlow.device(name)
VALUE device(VALUE, VALUE name) { return rb_class_new_instance(1, &name, device_class); }

VALUE devices(VALUE) {
  VALUE list = rb_ary_new();
  for (size_t i = 0; i < of_device_count(); ++i) {
    VALUE name = device_string(of_device_at(i));
    rb_ary_push(list, rb_class_new_instance(1, &name, device_class));
  }
  return list;
}

VALUE rejected_plugins(VALUE) {
  VALUE result = rb_hash_new();
  for (size_t i = 0; i < of_rejected_plugin_count(); ++i) {
    const char *path, *reason;
    check(of_rejected_plugin_at(i, &path, &reason));
    rb_hash_aset(result, rb_filesystem_str_new_cstr(path), rb_utf8_str_new_cstr(reason));
  }
  return result;
}

VALUE default_device(VALUE) { return device_string(of_default_device()); }

VALUE set_default_device(VALUE, VALUE name) {
  check(of_set_default_device(device_of("default_device=", "device", name)));
  return name;
}

VALUE load_device(VALUE, VALUE path) {
  check(of_load_device(path_of("load_device", &path)));
  RB_GC_GUARD(path);
  return Qnil;
}

// Adds a plugin to those that are searched for devices, for lib/oneflow/plugins.rb.
VALUE add_device_path(VALUE, VALUE path) {
  check(of_add_device_path(StringValueCStr(path)));
  return Qnil;
}

VALUE fallbacks(VALUE) {
  VALUE result = rb_hash_new();
  for (size_t i = 0, count = of_fallback_count(); i < count; ++i) {
    of_op op;
    uint64_t calls;
    of_op_info info = {};
    info.struct_size = sizeof(info);
    check(of_fallback_at(i, &op, &calls));
    check(of_op_get_info(op, &info));
    rb_hash_aset(result, rb_utf8_str_new_cstr(info.name), ULL2NUM(calls));
  }
  return result;
}

}  // namespace

void define_devices(VALUE module) {
  device_class = rb_define_class_under(module, "Device", rb_cObject);
  rb_define_method(device_class, "initialize", initialize, 1);
  rb_define_private_method(device_class, "properties", properties, 0);
  rb_define_singleton_method(module, "device", device, 1);
  rb_define_singleton_method(module, "devices", devices, 0);
  rb_define_singleton_method(module, "rejected_plugins", rejected_plugins, 0);
  rb_define_singleton_method(module, "default_device", default_device, 0);
  rb_define_singleton_method(module, "default_device=", set_default_device, 1);
  rb_define_singleton_method(module, "load_device", load_device, 1);
  rb_define_private_method(rb_singleton_class(module), "add_device_path", add_device_path, 1);
  rb_define_singleton_method(module, "fallbacks", fallbacks, 0);
}

}  // namespace oneflow::ruby
