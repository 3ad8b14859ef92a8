#include "nodes.h"

#include "tensor.h"

namespace oneflow::ruby {

const of_file_node* nodes_of(const char* function, const char* argument, VALUE list, VALUE* owner) {
  const long count = RARRAY_LEN(list);
  auto* nodes = allocate<of_file_node>(count, owner);
  for (long i = 0; i < count; ++i) {
    const VALUE node = rb_ary_entry(list, i), tensor = rb_ary_entry(node, 3);
    VALUE key = rb_ary_entry(node, 2);
    nodes[i].kind = NUM2INT(rb_ary_entry(node, 0));
    nodes[i].count = NUM2UINT(rb_ary_entry(node, 1));
    nodes[i].key = NIL_P(key) ? nullptr : StringValueCStr(key);
    if (!NIL_P(tensor)) nodes[i].as.tensor = handle_of_argument(function, argument, tensor);
  }
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
