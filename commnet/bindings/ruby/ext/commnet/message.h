// Commnet::Message: a message that has arrived.
#pragma once

#include <commnet/commnet.h>
#include <ruby.h>

namespace commnet::ruby {

// Creates the object of a message, which releases it.
VALUE new_message(VALUE endpoint, cn_message* message);

// Defines the class.
void define_message(VALUE module);

}  // namespace commnet::ruby
