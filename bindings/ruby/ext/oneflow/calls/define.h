// Defines the Ruby methods of the function table.
#pragma once

#include <utility>

#include "calls/call.h"

namespace oneflow::ruby {

// The C functions of a table entry. Ruby passes no context to the C function of a method, so each entry has its own.
struct EntryPoints {
  VALUE (*function)(int, VALUE*, VALUE);
  VALUE (*method)(int, VALUE*, VALUE);
  VALUE (*enumerable)(int, VALUE*, VALUE);  // a method whose name Enumerable also has
  VALUE (*in_place)(int, VALUE*, VALUE);
  VALUE (*in_place_list)(int, VALUE*, VALUE);  // the in-place form of a function over a list of tensors
  VALUE (*reflected)(int, VALUE*, VALUE);      // number <operator> tensor
};

// Defines Tensor#coerce and the class WeakNumber. Must be called before define_functions(), which defines the operators
// of WeakNumber as well.
void define_weak_numbers(VALUE module);

// Defines the private constants FUNCTIONS_ELSEWHERE and METHODS_ELSEWHERE, which lib/oneflow/elsewhere.rb reads.
void define_elsewhere(VALUE module);

// Looks up the operators of a function, and the names of its parameters. Raises LoadError for an operator that does not
// exist.
void prepare_function(Function& function);

// Prepares a function, and defines it, its methods and its operators.
void define_function(VALUE module, Function& function, const EntryPoints& entry_points);

// Returns the number that a WeakNumber holds.
VALUE weak_number_value(VALUE self);

// The C functions of entry `i` of `table`.
template <auto& table, size_t i>
struct Entry {
  static VALUE function(int count, VALUE* values, VALUE) { return call_function(table[i], count, values, Qundef); }

  static VALUE method(int count, VALUE* values, VALUE self) { return call_function(table[i], count, values, self); }

  // Calls Enumerable's method if a block is given: x.sum { |row| ... }.
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

// Defines all entries of `table`.
template <auto& table, size_t... i>
void define_table(VALUE module, std::index_sequence<i...>) {
  (define_function(module, table[i], Entry<table, i>::points), ...);
}

}  // namespace oneflow::ruby
