// Calls public functions: binds the arguments, runs the operator, and returns the results.
#pragma once

#include "calls/binding.h"

namespace oneflow::ruby {

// Returns the call site for the arguments of a method. A trailing Hash holds keywords only if the caller passed
// keywords. For a function that takes an equation, operands with labels are replaced by the equivalent equation and the
// operands.
CallSite site_of(const Function& function, int count, VALUE* values, VALUE receiver);

// Returns a tensor as the result argument of of_call(), which the operator then writes to. Raises FrozenError for a
// frozen tensor.
of_value target_value(VALUE tensor);

// Calls OneFlow.add(...) if `receiver` is Qundef, else receiver.add(...).
VALUE call_function(const Function& function, int count, VALUE* values, VALUE receiver);

// Calls receiver.add!(...), which writes the result to the receiver and returns the receiver.
VALUE call_in_place(const Function& function, int count, VALUE* values, VALUE receiver);

// Calls OneFlow::Comm::Local.all_reduce!(tensors), which writes the results to the tensors and returns an Array of
// them.
VALUE call_on_list(const Function& function, int count, VALUE* values);

}  // namespace oneflow::ruby
