// A call of a public function: bind, run, return.
#pragma once

#include "binding.h"

namespace oneflow::ruby {

// What a method was called with; a Hash is taken for keywords only where the caller wrote keywords. Operands that come
// with their labels are in it behind the equation that the labels mean.
CallSite site_of(const Function& function, int count, VALUE* values, VALUE receiver);

// Whether the work may take so long that other Ruby threads should run meanwhile.
bool is_long(const Overload& overload, const of_value* arguments);

// A tensor as the target of a call. Raises FrozenError for a frozen one, which is not written to, whichever way.
of_value written_to(VALUE tensor);

// OneFlow.add(...) without a receiver (Qundef), tensor.add(...) with one.
VALUE call_function(const Function& function, int count, VALUE* values, VALUE receiver);

// tensor.add!(...): the result takes the place of the receiver.
VALUE call_in_place(const Function& function, int count, VALUE* values, VALUE receiver);

// OneFlow::Comm.all_reduce!(tensors): the results take the place of the tensors, which it returns.
VALUE call_on_list(const Function& function, int count, VALUE* values);

}  // namespace oneflow::ruby
