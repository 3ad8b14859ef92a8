// Binds the arguments of a Ruby call: selects the overload that accepts them and converts them.
#pragma once

#include "convert.h"
#include "function.h"

namespace oneflow::ruby {

// A call with the arguments that Ruby passed.
struct CallSite {
  const Function* function;
  int count;  // number of positional arguments
  const VALUE* values;
  VALUE keywords;  // a Hash, or nil
  VALUE receiver;  // the object of a method call, or Qundef
  bool in_place;   // the result is written to the receiver
  VALUE kept;      // keeps `values` alive where they are not the caller's: the Array that holds them, or Qundef
};

// Returns the name of the called function, in the form that the call has, for error texts.
inline const char* name_of_call(const CallSite& site) {
  return site.in_place ? site.function->full_in_place : site.function->full_name;
}

// The overload that a call resolved to, with its arguments converted.
struct BoundCall {
  explicit BoundCall(const char* function) : converter(function) {}

  const Overload* overload = nullptr;
  VALUE out = Qundef;  // the value of `out:`, or Qundef
  bool requires_grad = false;
  Converter converter;
  VALUE given[kMaxArguments];  // the objects that the arguments were converted from, or Qundef
  of_value arguments[kMaxArguments];
};

// Raises TypeMismatch for more positional arguments than the `most` that a function takes. `named` is an Array of the
// names of the other arguments.
[[noreturn]] void raise_too_many(const char* function, int most, int given, VALUE named);

// Binds the call to the first overload that accepts the arguments: first as they are, so that tensors, numbers and
// Arrays tell the overloads apart, then with Arrays and numbers in place of tensors. If none does, raises the error of
// the overload whose binding progressed furthest.
void bind(const CallSite& site, BoundCall* call);

}  // namespace oneflow::ruby
