#include "nodes.h"

#include "tensor.h"

namespace oneflow::ruby {

const char** copies_of(VALUE texts, VALUE* owner) {
  const long count = RARRAY_LEN(texts);
  size_t bytes = sizeof(char*) * static_cast<size_t>(count);
  for (long i = 0; i < count; ++i)
    if (!NIL_P(rb_ary_entry(texts, i))) bytes += static_cast<size_t>(RSTRING_LEN(rb_ary_entry(texts, i))) + 1;
  auto** copies = reinterpret_cast<const char**>(allocate<char>(static_cast<long>(bytes), owner));
  char* end = reinterpret_cast<char*>(copies + count);
  for (long i = 0; i < count; ++i) {
    const VALUE text = rb_ary_entry(texts, i);
    if (NIL_P(text)) continue;
    copies[i] = static_cast<char*>(memcpy(end, RSTRING_PTR(text), static_cast<size_t>(RSTRING_LEN(text))));
    end += RSTRING_LEN(text) + 1;
  }
  return copies;
}

const of_file_node* nodes_of(const char* function, const char* argument, VALUE list, VALUE owners[2]) {
  const long count = RARRAY_LEN(list);
  auto* nodes = allocate<of_file_node>(count, &owners[0]);
  const VALUE keys = rb_ary_new_capa(count);
  for (long i = 0; i < count; ++i) {
    const VALUE node = rb_ary_entry(list, i), tensor = rb_ary_entry(node, 3);
    rb_ary_push(keys, rb_ary_entry(node, 2));
    nodes[i].kind = NUM2INT(rb_ary_entry(node, 0));
    nodes[i].count = NUM2UINT(rb_ary_entry(node, 1));
    if (!NIL_P(tensor)) nodes[i].as.tensor = handle_of_argument(function, argument, tensor);
  }
  const char** texts = copies_of(keys, &owners[1]);
  for (long i = 0; i < count; ++i) nodes[i].key = texts[i];
  return nodes;
}

VALUE nodes_to_ruby(const of_file_node* nodes, uint64_t count) {
  const VALUE list = rb_ary_new_capa(static_cast<long>(count));
  for (uint64_t i = 0; i < count; ++i)
    rb_ary_push(list, rb_ary_new_from_args(4, INT2NUM(nodes[i].kind), UINT2NUM(nodes[i].count),
                                           nodes[i].key ? rb_utf8_str_new_cstr(nodes[i].key) : Qnil,
                                           ULL2NUM(nodes[i].as.entry)));
  return list;
}

}  // namespace oneflow::ruby
