// Commnet::Queue: operations that complete in the order in which they began.
#pragma once

#include <commnet/commnet.h>
#include <ruby.h>

namespace commnet::ruby {

// Returns the handle of a Queue. Raises WrongType.
cn_queue* queue_handle(VALUE value);

// Creates a queue of an endpoint.
VALUE new_queue(VALUE endpoint);

// Defines the class.
void define_queue(VALUE module);

}  // namespace commnet::ruby
