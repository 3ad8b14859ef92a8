// What values of Ruby are, for the shared binder, and results as values of Ruby.
#pragma once

#include <oneflow/objects.h>
#include <ruby.h>

namespace oneflow::ruby {

// What must live until a call is bound. It is on the stack, where the garbage collector finds the Array.
struct CallContext {
  VALUE kept;     // an Array of the objects that were made for the binder
  VALUE entries;  // of Hashes: the keys and the values, in a Hash by identity; or nil
  int raised;     // the state of rb_protect() after an exception, which is then to be raised
  VALUE names;    // an Array of the names of the arguments by name, as Ruby passes them
};

// Returns a context for a new call.
CallContext new_context();

// The language, whose calls have a CallContext. Its functions do not raise.
extern const of_language ruby_language;

// Returns an Array of the keys of a Hash, and one of its values, whatever methods its class overrides.
VALUE entries_of(VALUE hash);
// Returns the name that a key of keywords is, for the shared binder; NULL for one that is no text without zero bytes.
const char* name_text(VALUE key);

// Keeps what ended a function that the library has called, for raise_pending(); `state` is that of rb_protect().
void keep_exception(int state);
// Raises the exception of a function of the language that has ended a call; does nothing without one.
void raise_pending();

// Returns the value of a result. May raise.
VALUE to_ruby(const of_type& type, const of_data& data);

}  // namespace oneflow::ruby
