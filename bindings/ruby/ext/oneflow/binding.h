// From the arguments of a Ruby call to the overload that takes them.
#pragma once

#include "convert.h"
#include "function.h"

namespace oneflow::ruby {

// A call as Ruby makes it.
struct CallSite {
  const Function* function;
  int count;  // positional arguments
  const VALUE* values;
  VALUE keywords;  // a Hash, or nil
  VALUE receiver;  // the object of a method call, or Qundef
  bool in_place;   // the result takes the place of the receiver
  VALUE kept;      // the Array that the values are in, where they are not the caller's, or Qundef
};

// The overload that a call resolved to, with its arguments converted.
struct BoundCall {
  explicit BoundCall(const char* function) : converter(function) {}

  const Overload* overload = nullptr;
  VALUE out = Qundef;  // what `out:` gave
  Converter converter;
  VALUE given[kMaxArguments];  // the objects that the arguments came from, or Qundef
  of_value arguments[kMaxArguments];
};

// Finds the first overload that the arguments fit. Raises the error of the one that got furthest when none does.
void bind(const CallSite& site, BoundCall* call);

}  // namespace oneflow::ruby
