#include "files.h"

#include <oneflow/files.h>

#include "convert.h"
#include "errors.h"
#include "memory.h"
#include "nodes.h"
#include "tensor.h"

namespace oneflow::ruby {
namespace {

void free_file(void* memory) { of_file_release(static_cast<of_file>(memory)); }

const rb_data_type_t file_type = {
    "OneFlow::TensorFile",       {nullptr, free_file, nullptr, nullptr, {nullptr}}, nullptr, nullptr,
    RUBY_TYPED_FREE_IMMEDIATELY,
};

// Returns the file, borrowed from the object. Raises InvalidArgument if it is closed.
of_file file_of(VALUE self) {
  const auto file = static_cast<of_file>(rb_check_typeddata(self, &file_type));
  if (!file) raise(OF_INVALID_ARGUMENT, "the file is closed");
  return file;
}

// OneFlow.save_file(path, nodes, metadata, compress): `metadata` are keys and values in turn. The Strings have no null
// bytes.
VALUE save_file(VALUE, VALUE path, VALUE node_list, VALUE texts, VALUE compress) {
  VALUE node_owners[2], pair_owner, text_owner;
  const of_file_node* nodes = nodes_of("save", "data", node_list, node_owners);
  const long pair_count = RARRAY_LEN(texts) / 2;
  auto* metadata = allocate<of_file_metadata>(pair_count, &pair_owner);
  const char** copies = copies_of(texts, &text_owner);
  for (long i = 0; i < pair_count; ++i) metadata[i] = {copies[2 * i], copies[2 * i + 1]};
  of_save_options options = {};
  options.struct_size = sizeof(options);
  options.compress = RTEST(compress);
  options.metadata = metadata;
  options.metadata_count = static_cast<uint64_t>(pair_count);
  const char* target = StringValueCStr(path);
  const auto count = static_cast<uint64_t>(RARRAY_LEN(node_list));
  check(run_native(true, [&] { return of_file_save(target, nodes, count, &options); }));
  RB_GC_GUARD(path);
  RB_GC_GUARD(node_list);
  RB_GC_GUARD(node_owners[0]);
  RB_GC_GUARD(node_owners[1]);
  RB_GC_GUARD(pair_owner);
  RB_GC_GUARD(text_owner);
  return Qnil;
}

// TensorFile.open(path)
VALUE open_file(VALUE file_class, VALUE path) {
  const VALUE object = rb_data_typed_object_wrap(file_class, nullptr, &file_type);
  const char* target = StringValueCStr(path);
  of_file file = nullptr;
  check(run_native(true, [&] { return of_file_open(target, &file); }));
  RTYPEDDATA_DATA(object) = file;
  RB_GC_GUARD(path);
  return object;
}

// TensorFile#close: closes the file. Further calls do nothing.
VALUE close(VALUE self) {
  const auto file = static_cast<of_file>(rb_check_typeddata(self, &file_type));
  RTYPEDDATA_DATA(self) = nullptr;
  of_file_release(file);
  return Qnil;
}

// TensorFile#closed?
VALUE closed_p(VALUE self) { return rb_check_typeddata(self, &file_type) ? Qfalse : Qtrue; }

// TensorFile#entries: returns Arrays [name, dtype or nil, type, shape, bytes].
VALUE entries(VALUE self) {
  const of_file file = file_of(self);
  const VALUE list = rb_ary_new();
  for (uint64_t i = 0; i < of_file_count(file); ++i) {
    of_file_entry entry = {};
    entry.struct_size = sizeof(entry);
    check(of_file_entry_at(file, i, &entry));
    rb_ary_push(list, rb_ary_new_from_args(5, rb_utf8_str_new_cstr(entry.name),
                                           entry.dtype == OF_DTYPE_NONE ? Qnil : dtype_symbol(entry.dtype),
                                           rb_utf8_str_new_cstr(entry.type), to_ruby(entry.sizes, entry.rank),
                                           ULL2NUM(entry.bytes)));
  }
  RB_GC_GUARD(self);
  return list;
}

// TensorFile#metadata: returns a Hash.
VALUE metadata(VALUE self) {
  const of_file_metadata* pairs = nullptr;
  uint64_t count = 0;
  check(of_file_get_metadata(file_of(self), &pairs, &count));
  const VALUE hash = rb_hash_new();
  for (uint64_t i = 0; i < count; ++i)
    rb_hash_aset(hash, rb_utf8_str_new_cstr(pairs[i].key), rb_utf8_str_new_cstr(pairs[i].value));
  RB_GC_GUARD(self);
  return hash;
}

// TensorFile#nodes(flat)
VALUE nodes(VALUE self, VALUE flat) {
  const of_file_node* found = nullptr;
  uint64_t count = 0;
  check(of_file_get_nodes(file_of(self), RTEST(flat), &found, &count));
  const VALUE list = nodes_to_ruby(found, count);
  RB_GC_GUARD(self);
  return list;
}

// TensorFile#read_all(positions, device or nil, share): returns the tensors. Another thread may close the file
// meanwhile.
VALUE read_all(VALUE self, VALUE position_list, VALUE device, VALUE share) {
  const long count = RARRAY_LEN(position_list);
  VALUE position_owner, handle_owner;
  auto* positions = allocate<uint64_t>(count, &position_owner);
  auto* handles = allocate<of_tensor>(count, &handle_owner);
  const VALUE tensors = rb_ary_new_capa(count);
  for (long i = 0; i < count; ++i) {
    positions[i] = NUM2ULL(rb_ary_entry(position_list, i));
    rb_ary_push(tensors, new_tensor());
  }
  of_read_options options = {};
  options.struct_size = sizeof(options);
  options.device = NIL_P(device) ? of_default_device() : device_of("load", "device", device);
  options.share = RTEST(share);
  const of_file file = of_file_retain(file_of(self));
  const of_status status =
      run_native(true, [&] { return of_file_read(file, positions, static_cast<uint64_t>(count), &options, handles); });
  of_file_release(file);
  check(status);
  for (long i = 0; i < count; ++i) fill_tensor(rb_ary_entry(tensors, i), handles[i]);
  RB_GC_GUARD(position_owner);
  RB_GC_GUARD(handle_owner);
  return tensors;
}

}  // namespace

void define_files(VALUE module) {
  rb_define_private_method(rb_singleton_class(module), "save_file", RUBY_METHOD_FUNC(save_file), 4);
  const VALUE file_class = rb_define_class_under(module, "TensorFile", rb_cObject);
  rb_undef_alloc_func(file_class);
  rb_undef_method(rb_singleton_class(file_class), "new");
  rb_define_private_method(rb_singleton_class(file_class), "open", RUBY_METHOD_FUNC(open_file), 1);
  rb_define_method(file_class, "close", RUBY_METHOD_FUNC(close), 0);
  rb_define_method(file_class, "closed?", RUBY_METHOD_FUNC(closed_p), 0);
  rb_define_method(file_class, "metadata", RUBY_METHOD_FUNC(metadata), 0);
  rb_define_private_method(file_class, "entries", RUBY_METHOD_FUNC(entries), 0);
  rb_define_private_method(file_class, "nodes", RUBY_METHOD_FUNC(nodes), 1);
  rb_define_private_method(file_class, "read_all", RUBY_METHOD_FUNC(read_all), 3);
}

}  // namespace oneflow::ruby
