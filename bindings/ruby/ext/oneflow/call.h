// A call of a public function: bind, run, return.
#pragma once

#include "binding.h"

namespace oneflow::ruby {

// OneFlow.add(...) without a receiver (Qundef), tensor.add(...) with one.
VALUE call_function(const Function& function, int count, VALUE* values, VALUE receiver);

// tensor.add!(...): the result takes the place of the receiver.
VALUE call_in_place(const Function& function, int count, VALUE* values, VALUE receiver);

// OneFlow::Comm.all_reduce!(tensors): the results take the place of the tensors, which it returns.
VALUE call_on_list(const Function& function, int count, VALUE* values);

}  // namespace oneflow::ruby
