/* The minimal native method that returns a new typed-data object: the peer of the Ruby benchmark. */
#include <ruby.h>

static const rb_data_type_t bare_type = {
    "Bare", {NULL, RUBY_DEFAULT_FREE, NULL}, NULL, NULL, RUBY_TYPED_FREE_IMMEDIATELY};
static VALUE bare_class;

static VALUE bare_new(void) {
  long* content;
  return TypedData_Make_Struct(bare_class, long, &bare_type, content);
}

static VALUE bare_allocate(VALUE class) {
  (void)class;
  return bare_new();
}

static VALUE bare_add(VALUE self, VALUE other) {
  (void)self;
  (void)other;
  return bare_new();
}

void Init_bare(void) {
  bare_class = rb_define_class("Bare", rb_cObject);
  rb_define_alloc_func(bare_class, bare_allocate);
  rb_define_method(bare_class, "+", bare_add, 1);
}
