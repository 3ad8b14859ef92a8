// Calls whose arguments the shared binder binds: all that the short path of lib/calls/shortCall.js does not take.
#pragma once

#include <oneflow/objects.h>

#include <memory>
#include <vector>

#include "classes/language.h"
#include "functions.h"

namespace oneflow::node {

// Returns the operator of an overload. Throws InternalError if the runtime has none of this name.
of_op operator_of(Environment& environment, const of_overload& overload);

// Returns what lib/calls/shortCall.js has to know of a function: its first overload in a form, and where the separate
// items of a list begin in the calls of all overloads.
Napi::Value describe_function(Environment& environment, const of_public_function& function, bool is_in_place);

// The bound arguments of a call.
class BoundArguments {
 public:
  // Binds what JavaScript passes from position `first` on: an array of the positional arguments, an array of the names
  // of the others, an array of their values, and the position of the options if separate items of a list follow them,
  // else -1. The frame has the slots of the tensors among the arguments, after its header. Throws the exception of a
  // failure.
  BoundArguments(const Call& call, size_t first, const of_public_function& function, of_manner manner);
  BoundArguments(const BoundArguments&) = delete;
  BoundArguments& operator=(const BoundArguments&) = delete;

  const of_arguments* operator->() const { return arguments_.get(); }
  // Returns the name of the function in the form of the call, for error texts.
  const char* name() const { return name_; }
  // Throws the exception of a failure of the call itself.
  void check(of_status status) const;

  using Owner = std::unique_ptr<of_arguments, decltype(&of_arguments_release)>;
  // Gives the arguments away. What they were converted from is valid until the call returns to JavaScript.
  Owner release() { return std::move(arguments_); }

 private:
  Environment& environment_;
  const char* const name_;
  std::vector<of_native> values_;  // those given
  std::vector<of_overload> possible_;
  Owner arguments_;
};

// Returns what a successful call returns to JavaScript: the tensors that its results were written to; the number of the
// slot of a single tensor, which `owner` owns from now on unless it is undefined; else the results.
Napi::Value finish(const BoundArguments& bound, of_manner manner, const Napi::Value& owner, Environment& environment);

}  // namespace oneflow::node
