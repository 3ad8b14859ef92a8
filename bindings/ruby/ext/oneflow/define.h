// One Ruby method per entry of the function table.
#pragma once

#include <utility>

#include "call.h"

namespace oneflow::ruby {

// The C functions behind an entry. Ruby gives a method no context, hence one instance per entry.
struct EntryPoints {
  VALUE (*function)(int, VALUE*, VALUE);
  VALUE (*method)(int, VALUE*, VALUE);
  VALUE (*enumerable)(int, VALUE*, VALUE);  // a method whose name Enumerable has too
  VALUE (*in_place)(int, VALUE*, VALUE);
  VALUE (*in_place_list)(int, VALUE*, VALUE);  // a function over a list of tensors
  VALUE (*reflected)(int, VALUE*, VALUE);      // number <operator> tensor
};

// Defines Tensor#coerce and the class behind it; before the functions, whose operators it gets too.
void define_weak_numbers(VALUE module);

// Finds the keywords of an overload.
void prepare_arguments(Overload& overload);

// Finds the operators and the keywords, and defines the methods.
void define_function(VALUE module, Function& function, const EntryPoints& entry_points);

// The number that a WeakNumber stands for.
VALUE weak_number_value(VALUE self);

template <auto& table, size_t i>
struct Entry {
  static VALUE function(int count, VALUE* values, VALUE) { return call_function(table[i], count, values, Qundef); }

  static VALUE method(int count, VALUE* values, VALUE self) { return call_function(table[i], count, values, self); }

  // With a block it is Enumerable's: x.sum { |row| ... }.
  static VALUE enumerable(int count, VALUE* values, VALUE self) {
    return rb_block_given_p() ? rb_call_super(count, values) : method(count, values, self);
  }

  static VALUE in_place(int count, VALUE* values, VALUE self) { return call_in_place(table[i], count, values, self); }

  static VALUE in_place_list(int count, VALUE* values, VALUE) { return call_on_list(table[i], count, values); }

  static VALUE reflected(int count, VALUE* values, VALUE self) {
    rb_check_arity(count, 1, 1);
    VALUE operands[] = {weak_number_value(self), values[0]};
    return call_function(table[i], 2, operands, Qundef);
  }

  static constexpr EntryPoints points = {function, method, enumerable, in_place, in_place_list, reflected};
};

template <auto& table, size_t... i>
void define_table(VALUE module, std::index_sequence<i...>) {
  (define_function(module, table[i], Entry<table, i>::points), ...);
}

}  // namespace oneflow::ruby
